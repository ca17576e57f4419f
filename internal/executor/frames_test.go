package executor_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The frames of HTTP/2 that are meddled with, and the codes of its errors.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7

	internalError, refusedStream, enhanceYourCalm = 2, 7, 11

	preface = 24 // bytes that a client says first
)

// meddler stands between a client and a server that speak HTTP/2, under real TLS, and says things that a server says when it
// goes away or does not like somebody.
type meddler struct {
	backend  string
	request  func(c *meddled, nth int, stream uint32) bool      // whether it answers a request itself
	body     func(c *meddled, nth int, half func() uint32) bool // the same of the body of an answer; half sends half of it and names its stream
	mu       sync.Mutex
	requests int
	bodies   int
}

// meddled is one connection.
type meddled struct {
	client, server net.Conn
	mu             sync.Mutex
	dropped        map[uint32]bool
}

// newMeddler puts a meddler before a handler, and gives its address.
func newMeddler(t *testing.T, handler http.Handler, certificate tls.Certificate, m *meddler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	m.backend = strings.TrimPrefix(server.URL, "http://")
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return "https://" + l.Addr().String()
}

func (m *meddler) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", m.backend)
	if err != nil {
		return
	}
	defer server.Close()
	c := &meddled{client: client, server: server, dropped: map[uint32]bool{}}
	if _, err := io.CopyN(server, client, preface); err != nil {
		return
	}
	go func() {
		defer client.Close()
		c.pass(server, func(kind byte, stream uint32, payload []byte) error { return c.say(kind, 0, stream, payload) }, func(kind byte, flags byte, stream uint32, payload []byte) bool {
			return kind == frameData && c.first(stream) && m.count(&m.bodies, m.half(payload), c, stream)
		})
	}()
	c.pass(client, nil, func(kind byte, flags byte, stream uint32, payload []byte) bool {
		return kind == frameHeaders && m.count(&m.requests, m.request, c, stream)
	})
}

// half hands on half of a body before it meddles.
func (m *meddler) half(body []byte) func(*meddled, int, uint32) bool {
	if m.body == nil {
		return nil
	}
	return func(c *meddled, nth int, stream uint32) bool {
		return m.body(c, nth, func() uint32 {
			_ = c.say(frameData, 0, stream, body[:len(body)/2])
			return stream
		})
	}
}

func (m *meddler) count(n *int, meddle func(*meddled, int, uint32) bool, c *meddled, stream uint32) bool {
	m.mu.Lock()
	*n++
	nth := *n
	m.mu.Unlock()
	if meddle == nil || !meddle(c, nth, stream) {
		return false
	}
	c.mu.Lock()
	c.dropped[stream] = true
	c.mu.Unlock()
	return true
}

// first reports whether nothing of a stream's body has come; what comes of it later is not asked for again.
func (c *meddled) first(stream uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.dropped[stream]
	if !known {
		c.dropped[stream] = false
	}
	return !known
}

// pass hands frames on, but for those of streams that are dropped.
func (c *meddled) pass(from net.Conn, back func(byte, uint32, []byte) error, meddle func(kind, flags byte, stream uint32, payload []byte) bool) {
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(from, payload); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		if kind == frameSettings && back != nil {
			noTable(payload)
		}
		c.mu.Lock()
		dropped := c.dropped[stream]
		c.mu.Unlock()
		if dropped || meddle(kind, flags, stream, payload) {
			continue
		}
		var err error
		if back != nil {
			err = c.say(kind, flags, stream, payload)
		} else {
			_, err = c.server.Write(append(head[:9:9], payload...))
		}
		if err != nil {
			return
		}
	}
}

// noTable makes clients pack each header alone, so that one that is not handed on is not missed by the next.
func noTable(settings []byte) {
	for ; len(settings) >= 6; settings = settings[6:] {
		if binary.BigEndian.Uint16(settings) == 1 {
			binary.BigEndian.PutUint32(settings[2:], 0)
		}
	}
}

// say writes a frame to the client.
func (c *meddled) say(kind, flags byte, stream uint32, payload []byte) error {
	n := len(payload)
	frame := append([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, binary.BigEndian.AppendUint32(nil, stream)...)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.client.Write(append(frame, payload...))
	return err
}

// reset ends one stream.
func (c *meddled) reset(stream, code uint32) {
	_ = c.say(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

// goAway says which stream was the last that is answered.
func (c *meddled) goAway(last, code uint32) {
	_ = c.say(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
}
