// Package gate decides when a request may be sent. Every request asks it first.
//
// A gate never sends anything and never gives a grant back: what was charged stays charged, because a provider
// counts a failed request too. Its words: a key names what shares a limit (usually a source); a grant is the moment
// from which one request may be sent; a cooldown is a stretch in which nobody may send.
package gate

import (
	"context"
	"math"
	"sync"
	"time"

	"patra"
)

// Local is a gate within one process.
type Local struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// bucket is the state of one key.
type bucket struct {
	arrival  patra.Instant // theoretical arrival time of the next request
	cooldown patra.Instant
}

// NewLocal makes a gate with no history.
func NewLocal() *Local { return &Local{buckets: map[string]*bucket{}} }

// Reserve charges one request to the key and tells how long to wait before it may be sent.
func (g *Local) Reserve(_ context.Context, key string, perSecond float64, burst int) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.bucket(key)
	now := patra.InstantOf(time.Now())
	var at patra.Instant
	// Behind a cooldown the grants are spread like any others: its end must not be a crowd's beginning.
	at, b.arrival = Grant(b.arrival, max(now, b.cooldown), perSecond, burst)
	return time.Duration(at-now) * time.Microsecond, nil
}

// Cooldown keeps everybody from sending for a while. It only ever extends.
func (g *Local) Cooldown(_ context.Context, key string, wait time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.bucket(key)
	b.cooldown = max(b.cooldown, patra.InstantOf(time.Now()).Add(wait))
	return nil
}

// Remaining tells how much of a cooldown is left, for one who had a grant before it began.
func (g *Local) Remaining(_ context.Context, key string) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	left := g.bucket(key).cooldown - patra.InstantOf(time.Now())
	return max(time.Duration(left)*time.Microsecond, 0), nil
}

func (g *Local) bucket(key string) *bucket {
	b, ok := g.buckets[key]
	if !ok {
		b = &bucket{}
		g.buckets[key] = b
	}
	return b
}

// maxInterval keeps the arithmetic far from overflow, whatever somebody writes as a rate.
const maxInterval = 365 * patra.Day

// Grant is the rate rule (the generic cell rate algorithm, which is a token bucket with one number of state). In
// any stretch of time T there are at most burst + perSecond*T grants.
func Grant(arrival, now patra.Instant, perSecond float64, burst int) (at, next patra.Instant) {
	interval := patra.Instant(min(math.Ceil(float64(patra.Second)/perSecond), float64(maxInterval)))
	next = max(arrival, now) + interval
	at = max(now, next-patra.Instant(burst)*interval)
	return at, next
}
