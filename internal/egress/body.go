package egress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// ErrTooLarge means that a body is over the limit, or swells suspiciously when decompressed.
var ErrTooLarge = errors.New("the body is larger than allowed")

// ErrEncoding means that a body is compressed in a way that was not asked for.
var ErrEncoding = errors.New("the body is compressed in another way than was asked for")

// maxRatio is how much larger than its compressed form a body may be. Pages of metadata stay below 30.
const maxRatio = 200

// ReadBody reads a whole body, decompressed, up to limit bytes. An answer that ends too early is an error.
func ReadBody(resp *http.Response, limit int64) ([]byte, error) {
	wire := &counter{r: resp.Body}
	var r io.Reader = wire
	switch enc := strings.ToLower(resp.Header.Get("Content-Encoding")); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(wire)
		if err != nil {
			return nil, fmt.Errorf("open gzip: %w", err)
		}
		r = z
	default:
		return nil, fmt.Errorf("%w: %.40q in place of gzip", ErrEncoding, enc)
	}
	return readLimited(r, wire, limit)
}

// readLimited reads into pieces that are used again and again, and puts them together once: a body that grows under way is
// copied many times, and leaves twice its size behind.
func readLimited(r io.Reader, wire *counter, limit int64) ([]byte, error) {
	var full []*piece
	defer func() {
		for _, p := range full {
			pieces.Put(p)
		}
	}()
	var size int64
	for {
		p, _ := pieces.Get().(*piece)
		full = append(full, p)
		n, err := fill(r, p[:], func(n int) error {
			if now := size + int64(n); now > limit || (now > 1<<20 && now > wire.n*maxRatio) {
				return fmt.Errorf("%w: more than %d bytes from %d on the wire", ErrTooLarge, now, wire.n)
			}
			return nil
		})
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return together(full, size), nil
		case err != nil:
			return nil, err
		}
	}
}

// piece is a part of a body under way.
type piece [256 << 10]byte

var pieces = sync.Pool{New: func() any { return new(piece) }}

// fill reads until buf is full, and asks after each read whether it may go on.
func fill(r io.Reader, buf []byte, may func(n int) error) (n int, err error) {
	for n < len(buf) && err == nil {
		var some int
		some, err = r.Read(buf[n:])
		n += some
		if no := may(n); no != nil {
			return n, no
		}
	}
	return n, err
}

// together is the first bytes of the pieces.
func together(full []*piece, size int64) []byte {
	if size == 0 {
		return []byte{}
	}
	parts := make([][]byte, len(full))
	for i, p := range full {
		parts[i] = p[:min(int64(len(p)), size)]
		size -= int64(len(parts[i]))
	}
	return bytes.Join(parts, nil) // which does not fill with zeros first what it fills then
}

// counter counts what came over the wire.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
