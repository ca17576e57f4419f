package sim

import (
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// scroll is the server's memory of one walk. Everything but the place is fixed when it is opened: what a later
// request says about filter, order or rows changes nothing, exactly as in the search engine behind the real provider.
type scroll struct {
	token string
	terms string
	rows  int
	total int

	mu   sync.Mutex // two requests with one cursor get two pages, never the same
	walk walk
}

// scrolls are the open ones. Safe for concurrent use.
type scrolls struct {
	shelf[*scroll]
	seed   uint64
	opened atomic.Uint64
}

func newScrolls(seed uint64, ttl time.Duration) *scrolls {
	return &scrolls{seed: seed, shelf: newShelf[*scroll](ttl)}
}

// start remembers a new walk.
func (t *scrolls) start(p params, k walk, now time.Time) *scroll {
	s := &scroll{token: newToken(t.seed, t.opened.Add(1), now), terms: p.terms, rows: p.rows, total: k.total(), walk: k}
	t.put(s.token, s, now)
	return s
}

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
