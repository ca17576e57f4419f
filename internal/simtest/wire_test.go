package simtest

import (
	"net/http"
	"sync"
	"time"
)

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
