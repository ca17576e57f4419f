package egress

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrTooLarge means that a body is over the limit, or swells suspiciously when decompressed.
var ErrTooLarge = errors.New("the body is larger than allowed")

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
		return nil, fmt.Errorf("content encoding %q was not asked for", enc)
	}
	return readLimited(r, wire, limit)
}

func readLimited(r io.Reader, wire *counter, limit int64) ([]byte, error) {
	var body []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		body = append(body, buf[:n]...)
		size := int64(len(body))
		if size > limit || (size > 1<<20 && size > wire.n*maxRatio) {
			return nil, fmt.Errorf("%w: more than %d bytes from %d on the wire", ErrTooLarge, size, wire.n)
		}
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
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
