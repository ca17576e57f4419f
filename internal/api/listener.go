package api

import (
	"net"
	"sync"
)

// How many connections there may be at once, and how many of them from one address: whoever takes all that they may leaves
// most to the others.
const (
	mostConnections = 512
	mostOfAddress   = mostConnections / 4
)

// limited is a listener that takes no more than so many connections at once, and no more than each from one address; 0 is any
// number from one address, as a proxy that everybody comes through has.
func limited(l net.Listener, most, each int) net.Listener {
	return &limitedListener{Listener: l, free: make(chan struct{}, most), each: each, of: map[string]int{}}
}

type limitedListener struct {
	net.Listener
	free chan struct{}
	each int

	mu sync.Mutex
	of map[string]int // connections by address
}

// Accept waits until there is room. Whoever has enough connections gets no other, and keeps nobody waiting for it.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.free
			return nil, err
		}
		from := hostOf(c.RemoteAddr().String())
		if l.enter(from) {
			return &limitedConn{Conn: c, done: func() { l.leave(from); <-l.free }}, nil
		}
		_ = c.Close()
	}
}

func (l *limitedListener) enter(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each > 0 && l.of[from] >= l.each {
		return false
	}
	l.of[from]++
	return true
}

func (l *limitedListener) leave(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[from]--; l.of[from] == 0 {
		delete(l.of, from)
	}
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

// hostOf is an address without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address) // which knows that there are colons in some addresses
	if err != nil {
		return address
	}
	return host
}
