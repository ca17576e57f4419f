package export

import (
	"bufio"
	"io"

	"patra"
)

// Sink is where records go. Seal makes everything durable and says under which hash; Publish gives it its final name.
// Between the two the caller can note that it is whole, so that a crash never leaves the question open.
type Sink interface {
	Write(r patra.Record) error
	Pause() error // stopped in the middle: keep what can be gone on from, and nothing else
	Seal() (sha256 string, err error)
	Publish() error
	Result() Result
}

// Result is what was written, with what an export that was gone on from had written before.
type Result struct {
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Files   []Part `json:"files"`
}

// Part is a file that is whole.
type Part struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// Job is what an export is about. Only the same one can be gone on with.
type Job struct {
	Form     Format              `json:"form"`
	Layout   string              `json:"layout,omitempty"`
	Question string              `json:"question"` // what was asked for, in words
	Cursor   string              `json:"cursor,omitempty"`
	Haul     *patra.ExportWindow `json:"haul,omitempty"`  // what is taken of it
	UpTo     int64               `json:"up_to,omitempty"` // or which row was the newest when it began
}

// identity is what must be the same for an export to be gone on with. Which row was the newest is taken over.
func (j Job) identity() string {
	j.UpTo = 0
	return patra.Hash(j)
}

// Journal is how far an export has come. In a folder it is the manifest.
type Journal struct {
	Version int                  `json:"version"`
	Job     Job                  `json:"job"`
	Mark    patra.ExportPosition `json:"mark"` // the last record that is safe
	Result
	Complete bool `json:"complete"`
}

const journalVersion = 1

// Stream writes to somebody who reads along. There is nothing to go on with.
type Stream struct {
	enc encoder
	buf *bufio.Writer
	n   counter
	res Result
}

// counter counts what goes through it.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// NewStream begins a stream.
func NewStream(w io.Writer, f Format) (s *Stream, err error) {
	s = &Stream{n: counter{w: w}}
	s.buf = bufio.NewWriterSize(&s.n, 256<<10)
	s.enc, err = f.encoder(s.buf, false)
	return s, err
}

// Write implements Sink.
func (s *Stream) Write(r patra.Record) error {
	s.res.Records++
	return s.enc.write(r)
}

// Pause implements Sink.
func (s *Stream) Pause() error { return nil }

// Seal implements Sink.
func (s *Stream) Seal() (string, error) {
	if err := s.enc.close(); err != nil {
		return "", err
	}
	return "", s.buf.Flush()
}

// Publish implements Sink.
func (s *Stream) Publish() error { return nil }

// Result implements Sink.
func (s *Stream) Result() Result {
	s.res.Bytes = s.n.n
	return s.res
}
