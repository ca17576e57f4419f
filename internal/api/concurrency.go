package api

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// concurrencyLimiter counts who does something now, where no more than so many can: all together, and one caller.
type concurrencyLimiter struct {
	most, each int // 0: any number

	mu  sync.Mutex
	all int
	of  map[string]int
}

func newTurns(most, each int) *concurrencyLimiter {
	return &concurrencyLimiter{most: most, each: each, of: map[string]int{}}
}

// acquire lets somebody begin, or says why not. Whoever began calls leave once.
func (t *concurrencyLimiter) acquire(name string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.most > 0 && t.all >= t.most:
		return nil, retryLater(http.StatusTooManyRequests, "%d others read this now, which is as many as can", t.all)
	case t.each > 0 && t.of[name] >= t.each:
		return nil, retryLater(http.StatusTooManyRequests, "you read this %d times now, which is as often as one caller can", t.of[name])
	}
	t.all++
	t.of[name]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.all--
		if t.of[name]--; t.of[name] == 0 {
			delete(t.of, name)
		}
	}), nil
}

// shareOf is how many of most one caller may have.
func shareOf(most int) int { return (most + 3) / 4 }

// Answers that take many rows share the processors with the harvest: so many are made at once, so many wait for their turn, and
// none of these for longer than this. A page of the dashboard asks for several maps, and is not to be told off for it.
const (
	mostHeavy    = 4
	mostInLine   = 32
	waitForHeavy = 5 * time.Second
)

// heavyQueue is where those wait who want much.
type heavyQueue struct{ free, line chan struct{} }

func newBench() *heavyQueue {
	return &heavyQueue{free: make(chan struct{}, mostHeavy), line: make(chan struct{}, mostInLine)}
}

// acquire waits for a turn. Whoever got one calls leave.
func (b *heavyQueue) acquire(ctx context.Context) (leave func(), err error) {
	full := retryLater(http.StatusServiceUnavailable, "too many others ask for as much as this now")
	select {
	case b.line <- struct{}{}:
		defer func() { <-b.line }()
	default:
		return nil, full
	}
	patience := time.NewTimer(waitForHeavy)
	defer patience.Stop()
	select {
	case b.free <- struct{}{}:
		return func() { <-b.free }, nil
	case <-patience.C:
		return nil, full
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
