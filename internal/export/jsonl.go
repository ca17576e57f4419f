package export

import (
	"encoding/json"
	"io"

	"patra"
)

// jsonlWriter writes one JSON object a line.
type jsonlWriter struct {
	enc  *json.Encoder
	form Format
}

func newLines(w io.Writer, f Format) *jsonlWriter {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &jsonlWriter{enc, f}
}

// rawlessRecord is a record without what the provider sent.
type rawlessRecord struct {
	patra.Record
	Raw *struct{} `json:"raw,omitempty"` // hides the one inside
}

func (l *jsonlWriter) write(r patra.Record) error {
	r, err := Narrow(r, l.form.Fields)
	if err != nil {
		return err
	}
	if !l.form.Raw {
		return l.enc.Encode(rawlessRecord{Record: r})
	}
	return l.enc.Encode(r)
}

func (l *jsonlWriter) pending() int64 { return 0 }
func (l *jsonlWriter) flush() error   { return nil }
func (l *jsonlWriter) close() error   { return nil }
