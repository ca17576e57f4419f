package sim

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Wire is a network in memory, so that simulated time can pass while somebody waits for an answer.
type Wire struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen serves a handler on a wire of its own until the server is closed.
func Listen(h http.Handler) (*Wire, *http.Server) {
	w := &Wire{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(w) }() // it always ends with an error: that it was closed
	return w, server
}

// Dial is for a client's transport; every address is the one that listens.
func (w *Wire) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-w.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (w *Wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (w *Wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// Addr implements net.Listener.
func (w *Wire) Addr() net.Addr { return &net.TCPAddr{} }
