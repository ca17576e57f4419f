package gatetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"patra"
)

// limit is what a provider permits.
type limit struct {
	perSecond float64
	burst     int
}

var limits = []limit{{1, 1}, {0.33, 1}, {0.1, 2}, {3, 3}, {10, 1}, {20, 5}, {50, 20}}

// at is the limit under a key.
func (l limit) at(key string) patra.RateLimit {
	return patra.RateLimit{Key: key, PerSecond: l.perSecond, Burst: l.burst}
}

// String says the limit in words.
func (l limit) String() string {
	return fmt.Sprintf("%v a second with a burst of %d", l.perSecond, l.burst)
}

// kept: processes come in crowds and make pauses, and use their grants as late as they may.
func (l limit) kept(t testing.TB, k Kind) error {
	enter, to := k.Fresh(t), &provider{}
	var all sync.WaitGroup
	var errs errorList
	for n := range 4 {
		g := enter()
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), uint64(l.burst)))
			p := &process{Gate: g, limit: l, to: to, late: dice}
			for to.count() < k.Sends {
				for range 1 + dice.IntN(2*l.burst) {
					if _, err := p.send("source"); err != nil {
						errs.add(err)
						return
					}
				}
				if dice.IntN(3) == 0 {
					pause(time.Duration(dice.Float64() * 4 * float64(l.burst) / l.perSecond * float64(time.Second)))
				}
			}
		})
	}
	all.Wait()
	errs.add(l.judge(to.sent))
	return errs.join()
}

// judge looks at every stretch of time, and at every half-open second.
func (l limit) judge(sent []patra.Instant) error {
	return errors.Join(Judge(sent, l.perSecond, l.burst), JudgeSeconds(sent, l.perSecond, 0))
}

// unused: with enough workers, at least 95 of 100 requests that a provider permits are sent.
func unused(t testing.TB, k Kind) error {
	enter, to, l := k.Fresh(t), &provider{}, limit{20, 5}
	var all sync.WaitGroup
	var errs errorList
	began := time.Now()
	for range 3 {
		g := enter()
		for n := range 4 {
			all.Go(func() {
				p := &process{Gate: g, limit: l, to: to}
				for to.count() < 400 {
					if _, err := p.send("source"); err != nil {
						errs.add(err)
						return
					}
					pause(time.Duration(50+20*n) * time.Millisecond) // the answer, and storing it
				}
			})
		}
	}
	all.Wait()
	if used := float64(len(to.sent)) / (l.perSecond * time.Since(began).Seconds()); used < 0.95 {
		errs.add(fmt.Errorf("%.1f %% of what is permitted was used", 100*used))
	}
	errs.add(l.judge(to.sent))
	return errs.join()
}

// errorList collects what goes wrong in several processes.
type errorList struct {
	mu  sync.Mutex
	all []error
}

func (e *errorList) add(err error) {
	if err == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, err)
}

func (e *errorList) join() error { return errors.Join(e.all...) }
