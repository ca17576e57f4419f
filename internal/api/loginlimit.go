package api

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Wrong secrets of one address: this many at once, and after that one a second. Nobody finds one of 2^128 by trying, but each
// try is a look at the store.
const (
	guessesAtOnce    = 30.0
	guessesPerSecond = 1.0
)

// loginLimiter counts the wrong secrets of addresses. An address that has tried too many is asked to wait, without a look at the
// store; but not whoever shows a secret that we have seen before: many people share an address, and one of them who guesses must
// not put the others out.
type loginLimiter struct {
	wrong *rateLimiter

	mu     sync.Mutex
	proven map[string]bool // hashes of secrets that there are, or were
}

func newGuesses() *loginLimiter {
	return &loginLimiter{wrong: newGuard(guessesAtOnce, guessesPerSecond), proven: map[string]bool{}}
}

// may reports whether the store may be asked about a secret.
func (g *loginLimiter) may(address, hash string, now time.Time) bool {
	if g.wrong.has(address, now) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.proven[hash]
}

// record notes what came of it: whether there is, or ever was, such a secret.
func (g *loginLimiter) record(address, hash string, real bool, now time.Time) {
	if !real {
		g.wrong.allow(address, now)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.proven) >= mostCallers {
		clear(g.proven)
	}
	g.proven[hash] = true
}

// tooManyGuesses is what an address is told that has tried too many secrets.
func tooManyGuesses() *Problem {
	p := retryLater(http.StatusTooManyRequests, "too many secrets that are not in force came from your address")
	p.Next = "wait a second; sessions and tokens that are in use go on"
	return p
}

// address is where a request comes from. Behind a proxy of ours it is what the proxy says: the last of its list, as whatever
// stands before that was said by somebody else.
func (s *Server) address(r *http.Request) string {
	if said := r.Header.Values("X-Forwarded-For"); s.Proxied && len(said) > 0 {
		hops := strings.Split(said[len(said)-1], ",")
		if last := strings.TrimSpace(hops[len(hops)-1]); last != "" {
			return last
		}
	}
	return hostOf(r.RemoteAddr)
}
