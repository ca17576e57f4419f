package gatetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"patra"
)

// provider notes what reaches it.
type provider struct {
	mu   sync.Mutex
	sent []patra.Instant
}

func (p *provider) note(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, patra.InstantOf(at))
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// process sends requests as every sender must: not before its grant, not later than the gate's patience after it, and not
// inside a cooldown.
type process struct {
	Gate
	limit
	to *provider
	// late is how much of the patience is used up before the request leaves: anything from nothing to all of it.
	late *rand.Rand

	cost, heaviest int // 0 is 1
	warmup         time.Duration
}

// pause waits in simulated time.
func pause(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// send sends one request and tells when it left.
func (p *process) send(key string) (time.Time, error) {
	ctx := context.Background()
	for {
		l := p.at(key)
		l.Heaviest, l.Warmup = p.heaviest, p.warmup
		wait, err := p.Reserve(ctx, l, p.cost)
		if later, ok := errors.AsType[*patra.ThrottledError](err); ok {
			pause(later.Wait)
			continue
		}
		if err != nil {
			return time.Time{}, err
		}
		at := time.Now().Add(wait)
		pause(wait)
		patience := p.MaxLateness(l)
		if patience <= 0 {
			return at, fmt.Errorf("a grant at %v a second may be late by %s: nobody can be as punctual as that", p.perSecond, patience)
		}
		if p.late != nil {
			pause(time.Duration(p.late.Int64N(int64(patience) + 1)))
		}
		if time.Since(at) > patience {
			continue
		}
		left, err := p.CooldownRemaining(ctx, key)
		if err != nil {
			return at, err
		}
		if left == 0 {
			now := time.Now()
			for range max(p.cost, 1) {
				p.to.note(now)
			}
			return now, nil
		}
	}
}
