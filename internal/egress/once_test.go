package egress_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"patra/internal/egress"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// serve hands every connection, with its number, to handle and closes it afterwards.
func serve(l net.Listener, handle func(c net.Conn, number int)) {
	for number := 1; ; number++ {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			handle(c, number)
		}()
	}
}

func readRequest(c net.Conn) (*http.Request, bool) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	return req, err == nil
}

// fickle answers the first request of every connection and keeps it open; it reads the second one and hangs up. So a
// page of a scroll is gone although nobody has it.
type fickle struct {
	net.Listener
	mu   sync.Mutex
	seen []*http.Request
}

func newFickle(t *testing.T) *fickle {
	f := &fickle{Listener: listen(t)}
	go serve(f, func(c net.Conn, _ int) {
		r := bufio.NewReader(c)
		for n := 1; ; n++ {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			f.mu.Lock()
			f.seen = append(f.seen, req)
			f.mu.Unlock()
			if n > 1 {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	return f
}

func (f *fickle) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// ask sends one request, marked or not.
func (f *fickle) ask(t *testing.T, c *http.Client, once bool) (string, error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+f.Addr().String()+"/works?cursor=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if once {
		egress.Once(req)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// The reason for Once: the standard transport repeats a GET by itself when a reused connection breaks, and tells nobody.
func TestWithoutOnceTheTransportSilentlySendsTwice(t *testing.T) {
	f := newFickle(t)
	c := newClient(t, f.Addr().String(), true)
	if body, err := f.ask(t, c, false); err != nil || body != "ok" {
		t.Fatalf("first: %q, %v", body, err)
	}
	body, err := f.ask(t, c, false)
	if err != nil || body != "ok" {
		t.Fatalf("second: %q, %v", body, err)
	}
	if n := len(f.requests()); n != 3 {
		t.Errorf("two calls made %d requests; if the transport no longer repeats by itself, Once is no longer needed", n)
	}
}

func TestOnceARequestIsSentAtMostOnceAndItsLossIsTold(t *testing.T) {
	f := newFickle(t)
	c := newClient(t, f.Addr().String(), true)
	for n := 1; n <= 6; n++ {
		body, err := f.ask(t, c, true)
		if lost := n%2 == 0; (err != nil) != lost || (!lost && body != "ok") { // every second one meets a connection that breaks
			t.Errorf("call %d: %q, %v", n, body, err)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("call %d: the loss is told as %v", n, err)
		}
		if got := len(f.requests()); got != n {
			t.Fatalf("%d calls made %d requests", n, got)
		}
	}
}

func TestOnceARequestStillHasNoBody(t *testing.T) {
	f := newFickle(t)
	if _, err := f.ask(t, newClient(t, f.Addr().String(), true), true); err != nil {
		t.Fatal(err)
	}
	for _, req := range f.requests() {
		if req.ContentLength != 0 || len(req.TransferEncoding) != 0 || req.Method != http.MethodGet || req.URL.RawQuery != "cursor=x" {
			t.Errorf("%s %s has the length %d and the encoding %v", req.Method, req.URL, req.ContentLength, req.TransferEncoding)
		}
	}
}
