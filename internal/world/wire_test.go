package world

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// wire is the network: connections in memory, so that simulated time can pass.
type wire struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// listen serves a handler on a wire until it is closed.
func listen(h http.Handler) (*wire, *http.Server) {
	l := &wire{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go server.Serve(l)
	return l, server
}

func (l *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener, as does all that follows.
func (l *wire) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *wire) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *wire) Addr() net.Addr { return &net.TCPAddr{} }

// line is the way out of one process.
type line struct {
	p    *process
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. A process that is stopped on the way out sends when it goes on, however late:
// nobody could keep it from that.
func (l line) RoundTrip(req *http.Request) (*http.Response, error) {
	began := time.Now()
	if !l.p.alive(false) {
		return nil, errDead
	}
	if l.p.slept(began) {
		l.p.w.sleepers.add(req.Header.Get("X-Ingest-Correlation-Id"))
	}
	resp, err := l.p.w.wrong.send(l.p.w, req, l.next)
	if !l.p.alive(true) {
		if err == nil {
			resp.Body.Close()
		}
		return nil, errDead
	}
	return resp, err
}

// CloseIdleConnections lets a client be closed.
func (l line) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// names is a set that many add to.
type names struct {
	mu  sync.Mutex
	set map[string]bool
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.set == nil {
		n.set = map[string]bool{}
	}
	n.set[name] = true
}

func (n *names) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.set[name]
}
