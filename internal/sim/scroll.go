package sim

import (
	"encoding/base64"
	"strings"
	"sync"
	"time"
)

// scroll is the server's memory of one walk. Everything but the place is fixed when it is opened: what a later
// request says about filter, order or rows changes nothing, exactly as in the search engine behind the real provider.
type scroll struct {
	token string
	terms string
	rows  int
	total int
	used  time.Time // guarded by scrolls.mu

	mu   sync.Mutex // two requests with one cursor get two pages, never the same
	walk walk
}

// scrolls are the open ones. Safe for concurrent use.
type scrolls struct {
	seed uint64
	ttl  time.Duration

	mu     sync.Mutex
	opened uint64
	open   map[string]*scroll
}

func newScrolls(seed uint64, ttl time.Duration) *scrolls {
	return &scrolls{seed: seed, ttl: ttl, open: map[string]*scroll{}}
}

// start remembers a new walk, forgetting the one used longest ago if there are too many.
func (t *scrolls) start(p params, k walk, now time.Time) *scroll {
	s := &scroll{terms: p.terms, rows: p.rows, total: k.total(), used: now, walk: k}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makeRoom(now)
	t.opened++
	s.token = newToken(t.seed, t.opened, now)
	t.open[s.token] = s
	return s
}

func (t *scrolls) makeRoom(now time.Time) {
	var oldest *scroll
	for token, s := range t.open {
		if t.expired(s, now) {
			delete(t.open, token)
		} else if oldest == nil || s.used.Before(oldest.used) {
			oldest = s
		}
	}
	if len(t.open) >= maxScrolls {
		delete(t.open, oldest.token)
	}
}

// find gives the scroll of a token and starts its idle time anew; nil if it is unknown or was idle for too long.
func (t *scrolls) find(token string, now time.Time) *scroll {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open[token]
	if s == nil || t.expired(s, now) {
		delete(t.open, token)
		return nil
	}
	s.used = now
	return s
}

// drop forgets a scroll and tells whether it was known.
func (t *scrolls) drop(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.open[token]
	delete(t.open, token)
	return known
}

func (t *scrolls) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

func (t *scrolls) expired(s *scroll, now time.Time) bool { return now.Sub(s.used) > t.ttl }

// newToken makes a text like the real one's: a readable beginning, several hundred characters, and +, / and = in it,
// which a client that does not encode its parameters will break. The time is part of it, because a token from before
// a restart must not fit a scroll opened after it.
func newToken(seed, serial uint64, now time.Time) string {
	d := newDice(seed^uint64(now.UnixNano()), serial)
	raw := append([]byte("\x0equeryThenFetch\x0c"), make([]byte, 384)...)
	for {
		for i := 16; i < len(raw); i++ {
			raw[i] = byte(d.n(256))
		}
		token := base64.StdEncoding.EncodeToString(raw)
		if strings.Contains(token, "+") && strings.Contains(token, "/") && strings.HasSuffix(token, "=") {
			return token
		}
	}
}
