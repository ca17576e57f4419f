package api

import (
	"sync"
	"time"
)

// What one caller may ask for: this many requests at once, and after that this many a second.
const (
	atOnce      = 200.0
	perSecond   = 50.0
	mostCallers = 10_000
)

// rateLimiter counts what somebody does, by name: so much at once, and after that so much a second. It protects the store from one of
// many; it is not the gate of providers.
type rateLimiter struct {
	atOnce, perSecond float64

	mu   sync.Mutex
	left map[string]*tokenBucket
}

type tokenBucket struct {
	requests float64
	at       time.Time
}

func newGuard(atOnce, perSecond float64) *rateLimiter {
	return &rateLimiter{atOnce: atOnce, perSecond: perSecond, left: map[string]*tokenBucket{}}
}

// allow reports whether somebody may do it now, and counts that.
func (g *rateLimiter) allow(name string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, ok := g.left[name]
	if !ok {
		if len(g.left) >= mostCallers {
			clear(g.left) // everybody begins anew: that is kinder than to shut everybody out
		}
		a = &tokenBucket{requests: g.atOnce, at: now}
		g.left[name] = a
	}
	g.rest(a, now)
	if a.requests < 1 {
		return false
	}
	a.requests--
	return true
}

// has is let without counting.
func (g *rateLimiter) has(name string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, ok := g.left[name]
	if !ok {
		return true
	}
	g.rest(a, now)
	return a.requests >= 1
}

func (g *rateLimiter) rest(a *tokenBucket, now time.Time) {
	a.requests = min(g.atOnce, a.requests+g.perSecond*now.Sub(a.at).Seconds())
	a.at = now
}
