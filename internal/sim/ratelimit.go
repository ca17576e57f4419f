package sim

import (
	"math"
	"sync"
	"time"
)

// gate is the provider's rate limit. It admits at most burst + rate*T requests in any stretch of time T; refused
// requests cost nothing. Safe for concurrent use.
type gate struct {
	gap   time.Duration // between two requests at the permitted rate; 0 is no limit
	slack time.Duration // how far ahead of that pace a burst may run

	mu   sync.Mutex
	next time.Time // when the next request would be due at an even pace
}

// newGate rounds the gap up, so that rounding never admits more than was said.
func newGate(rate float64, burst int) *gate {
	if rate <= 0 {
		return &gate{}
	}
	gap := time.Duration(math.Ceil(float64(time.Second) / rate))
	return &gate{gap: gap, slack: time.Duration(burst-1) * gap}
}

func (g *gate) admit(now time.Time) bool {
	if g.gap == 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	due := g.next
	if due.Before(now) {
		due = now
	}
	if due.Sub(now) > g.slack {
		return false
	}
	g.next = due.Add(g.gap)
	return true
}
