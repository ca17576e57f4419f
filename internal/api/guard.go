package api

import (
	"net"
	"sync"
	"time"
)

// What one caller may ask for: this many requests at once, and after that this many a second. Connections are counted
// together.
const (
	atOnce          = 200.0
	perSecond       = 50.0
	mostCallers     = 10_000
	mostConnections = 512
)

// guard counts requests of callers. It protects the store from one of them; it is not the gate of providers.
type guard struct {
	mu   sync.Mutex
	left map[string]*allowance
}

type allowance struct {
	requests float64
	at       time.Time
}

func newGuard() *guard { return &guard{left: map[string]*allowance{}} }

// let reports whether a caller may ask now.
func (g *guard) let(name string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, ok := g.left[name]
	if !ok {
		if len(g.left) >= mostCallers {
			clear(g.left) // everybody begins anew: that is kinder than to shut everybody out
		}
		a = &allowance{requests: atOnce, at: now}
		g.left[name] = a
	}
	a.requests = min(atOnce, a.requests+perSecond*now.Sub(a.at).Seconds())
	a.at = now
	if a.requests < 1 {
		return false
	}
	a.requests--
	return true
}

// limited is a listener that takes no more than so many connections at once.
func limited(l net.Listener, most int) net.Listener {
	return &limitedListener{Listener: l, free: make(chan struct{}, most)}
}

type limitedListener struct {
	net.Listener
	free chan struct{}
}

// Accept waits until there is room.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, done: func() { <-l.free }}, nil
}

type limitedConn struct {
	net.Conn
	once sync.Once
	done func()
}

// Close makes room.
func (c *limitedConn) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}
