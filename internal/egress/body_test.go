package egress_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra/internal/egress"
)

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body)
	z.Close()
	return b.Bytes()
}

func response(encoding string, body io.Reader) *http.Response {
	h := http.Header{}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	return &http.Response{Header: h, Body: io.NopCloser(body)}
}

func TestABodyIsReadWholePackedOrNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body"), rapid.IntRange(1, 500).Draw(t, "times"))
		limit := int64(len(body) + rapid.IntRange(0, 10).Draw(t, "room"))
		for encoding, wire := range map[string][]byte{"": body, "identity": body, "gzip": zipped(body)} {
			got, err := egress.ReadBody(response(encoding, bytes.NewReader(wire)), limit)
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%q: %d of %d bytes, %v", encoding, len(got), len(body), err)
			}
			if len(body) == 0 {
				continue
			}
			if got, err := egress.ReadBody(response(encoding, bytes.NewReader(wire)), int64(len(body)-1)); !errors.Is(err, egress.ErrTooLarge) || got != nil {
				t.Fatalf("%q: one byte over the limit gives %d bytes, %v", encoding, len(got), err)
			}
		}
	})
}

func TestAPackedBodyThatIsCutOrAlteredIsRefused(t *testing.T) {
	body := []byte(strings.Repeat(`{"DOI":"10.1/x"}`, 50))
	good := zipped(body)
	for cut := range len(good) {
		if got, err := egress.ReadBody(response("gzip", bytes.NewReader(good[:cut])), 1<<20); err == nil {
			t.Errorf("%d of %d bytes gave a body of %d", cut, len(good), len(got))
		}
	}
	for name, at := range map[string]int{"magic": 0, "CRC": len(good) - 8, "length": len(good) - 1} {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		if got, err := egress.ReadBody(response("gzip", bytes.NewReader(bad)), 1<<20); err == nil {
			t.Errorf("a wrong %s gave a body of %d bytes", name, len(got))
		}
	}
	if _, err := egress.ReadBody(response("gzip", bytes.NewReader(append(bytes.Clone(good), "rest"...))), 1<<20); err == nil {
		t.Error("rubbish after the packed body was not noticed")
	}
	if _, err := egress.ReadBody(response("gzip", strings.NewReader(`{"plain":true}`)), 1<<20); err == nil {
		t.Error("a body that only says that it is packed was taken")
	}
}

func TestABodyThatSwellsWithoutMeasureIsRefused(t *testing.T) {
	bomb := zipped(make([]byte, 8<<20))
	if ratio := 8 << 20 / len(bomb); ratio < 500 {
		t.Fatalf("it swells only %d times", ratio)
	}
	wire := &counted{r: bytes.NewReader(bomb)}
	got, err := egress.ReadBody(response("gzip", wire), 1<<30)
	if !errors.Is(err, egress.ErrTooLarge) || got != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if wire.n > len(bomb)*3/4 {
		t.Errorf("%d of %d bytes were read before it was noticed", wire.n, len(bomb))
	}
}

func TestABodyWithoutEndIsRefusedSoonAfterTheLimit(t *testing.T) {
	wire := &counted{r: endless{}}
	if _, err := egress.ReadBody(response("", wire), 100_000); !errors.Is(err, egress.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if wire.n > 300_000 {
		t.Errorf("%d bytes were read for a limit of 100000", wire.n)
	}
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnEncodingThatWasNotAskedForIsRefused(t *testing.T) {
	for _, encoding := range []string{"br", "deflate", "zstd", "compress", "gzip, gzip", "gzip,br", "unheard-of"} {
		got, err := egress.ReadBody(response(encoding, bytes.NewReader(zipped([]byte("{}")))), 1<<20)
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(encoding)) {
			t.Errorf("%s: got %q, %v", encoding, got, err)
		}
	}
}

func TestAnErrorOfTheWireIsHandedOn(t *testing.T) {
	broken := errors.New("the cable is cut")
	for _, encoding := range []string{"", "gzip"} {
		wire := io.MultiReader(bytes.NewReader(zipped([]byte("hello"))[:12]), failing{broken})
		if got, err := egress.ReadBody(response(encoding, wire), 1<<20); !errors.Is(err, broken) || got != nil {
			t.Errorf("%q: got %q, %v", encoding, got, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// rawServer answers every connection with the same bytes and closes it.
func rawServer(t *testing.T, answer string) string {
	t.Helper()
	l := listen(t)
	go serve(l, func(c net.Conn, _ int) {
		if _, ok := readRequest(c); ok {
			io.WriteString(c, answer)
		}
	})
	return l.Addr().String()
}

func TestAnAnswerShorterThanItSaysIsRefused(t *testing.T) {
	packed := string(zipped([]byte(strings.Repeat("x", 1000))))
	for name, answer := range map[string]string{
		"length":          "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
		"length of zip":   fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(packed), packed[:len(packed)-3]),
		"chunk":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello",
		"no last chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"nothing at all":  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
		"zip till closed": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed[:len(packed)-3],
	} {
		host := rawServer(t, answer)
		if status, body, err := get(newClient(t, host, true), "http://"+host); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: status %d, body %q, %v", name, status, body, err)
		}
	}
	host := rawServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	if _, body, err := get(newClient(t, host, true), "http://"+host); err != nil || body != "hello" {
		t.Errorf("a whole answer gives %q, %v", body, err)
	}
}

func TestHeadersWithoutEndAreRefused(t *testing.T) {
	host := rawServer(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
	if status, _, err := get(newClient(t, host, true), "http://"+host); err == nil {
		t.Errorf("a megabyte of headers gives status %d", status)
	}
}
