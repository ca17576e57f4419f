package gatetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
)

// costs: requests of different cost share a limit, and together they cost no more than it permits.
func costs(t testing.TB, k Kind) error {
	enter, to, l := k.Fresh(t), &provider{}, limit{10, 12}
	var all sync.WaitGroup
	var errs errorList
	began := time.Now()
	for n := range 4 {
		g := enter()
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), 7))
			for to.count() < k.Sends {
				p := &process{Gate: g, limit: l, to: to, late: dice, cost: []int{1, 3, 10}[dice.IntN(3)], heaviest: 10}
				if _, err := p.send("source"); err != nil {
					errs.add(err)
					return
				}
			}
		})
	}
	all.Wait()
	errs.add(Judge(to.sent, l.perSecond, l.burst))
	errs.add(JudgeSeconds(slices.Compact(slices.Sorted(slices.Values(to.sent))), l.perSecond, 0)) // one moment, one request
	if used := float64(len(to.sent)) / (l.perSecond * time.Since(began).Seconds()); used < 0.8 {
		errs.add(fmt.Errorf("%.1f %% of what is permitted was used", 100*used))
	}
	return errs.join()
}

// slots: never more than three requests are on their way, some processes die with theirs, and the others go on.
func slots(t testing.TB, k Kind) error {
	ctx, enter := context.Background(), k.Fresh(t)
	l := patra.RateLimit{Key: "source", PerSecond: 1000, Burst: 1000, Concurrency: 3}
	var away, most, done atomic.Int64
	var all sync.WaitGroup
	var errs errorList
	const lasts = 10 * time.Second
	began := time.Now()
	for n := range 8 {
		g := enter()
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), 5))
			for i := range 12 {
				e := patra.InFlightRequest{ID: strconv.Itoa(n) + "-" + strconv.Itoa(i), Cost: 1, Lasts: lasts}
				for {
					wait, err := g.AcquireSlot(ctx, l, e)
					if err != nil {
						errs.add(err)
						return
					}
					if wait == 0 {
						break
					}
					pause(wait)
				}
				now := away.Add(1)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				if dies := n < 2 && i == 3; dies {
					pause(lasts) // that long nobody else may have its slot
					away.Add(-1)
					return
				}
				pause(time.Duration(100+dice.IntN(400)) * time.Millisecond)
				away.Add(-1)
				done.Add(1)
				errs.add(g.ReleaseSlot(ctx, l, e.ID))
			}
		})
	}
	all.Wait()
	if most.Load() != int64(l.Concurrency) {
		errs.add(fmt.Errorf("%d requests were on their way at the same time, and 3 may be", most.Load()))
	}
	if n := done.Load(); n != 6*12+2*3 {
		errs.add(fmt.Errorf("%d requests came back", n))
	}
	if took := time.Since(began); took > 40*time.Second { // 78 requests of 0.3 s by three, or one in three while two are dead
		errs.add(fmt.Errorf("it took %s", took))
	}
	return errs.join()
}

// shares: processes that ask as often as they can are granted the same number of requests. The burst of the beginning is
// his who comes first, so it is counted from when everybody waits.
func shares(t testing.TB, k Kind) error {
	enter, to, l := k.Fresh(t), &provider{}, limit{50, 20}
	const processes, workers, begins = 8, 3, 100
	var sent [processes * workers]atomic.Int64
	var all sync.WaitGroup
	var errs errorList
	for n := range processes {
		g := enter()
		for m := range workers {
			all.Go(func() {
				p := &process{Gate: g, limit: l, to: to}
				for to.count() < begins+2*k.Sends {
					if _, err := p.send("source"); err != nil {
						errs.add(err)
						return
					}
					if to.count() > begins {
						sent[n*workers+m].Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	for n := range processes {
		own := 0.0
		for m := range workers {
			own += float64(sent[n*workers+m].Load())
		}
		if fair := float64(to.count()-begins) / processes; own < 0.9*fair || own > 1.1*fair {
			errs.add(fmt.Errorf("process %d sent %.0f requests, and %.0f were its share", n, own, fair))
		}
	}
	return errs.join()
}
