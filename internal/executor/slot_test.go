package executor_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/store"
)

// narrowGate makes every limit one of so many requests on their way.
type narrowGate struct {
	executor.Gate
	slots int
}

func (g narrowGate) AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (time.Duration, error) {
	l.Concurrency = g.slots
	return g.Gate.AcquireSlot(ctx, l, e)
}

func (g narrowGate) ReleaseSlot(ctx context.Context, l patra.RateLimit, id string) error {
	l.Concurrency = g.slots
	return g.Gate.ReleaseSlot(ctx, l, id)
}

// A request that takes longer than its slot lasts keeps it: nobody else is let out meanwhile.
func TestALongRequestKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away, most atomic.Int64
		b := newBubble(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				most.Store(max(most.Load(), away.Add(1)))
				defer away.Add(-1)
				<-time.After(2 * time.Minute)
				next.ServeHTTP(w, r)
			})
		})
		x := b.executor(nil)
		x.Config.Workers, x.Config.Prefetch = 2, false
		x.Gate = narrowGate{gate.NewShared(b), 1}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most.Load() != 1 {
			t.Errorf("%d requests were on their way at once", most.Load())
		}
	})
}

// Four workers and a slow provider: no more requests are on their way than it permits, and no slot is kept when all is done.
func TestNoMoreRequestsAreOnTheirWayThanPermitted(t *testing.T) {
	for slots, want := range map[int]int64{0: 4, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			var away, most atomic.Int64
			b := newBubbleOf(t, 6, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					now := away.Add(1)
					defer away.Add(-1)
					for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
					}
					<-time.After(2 * time.Second)
					next.ServeHTTP(w, r)
				})
			})
			x := b.executor(nil)
			x.Config.Workers, x.Config.Prefetch = 4, false
			x.Gate = narrowGate{gate.NewShared(b), slots}
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			done, err := b.Tasks(t.Context(), store.Filter{Status: patra.Succeeded, Limit: 10})
			if err != nil || len(done) != 6 || most.Load() != want {
				t.Errorf("with %d slots %d requests were on their way at once, and %d tasks were done, %v", slots, most.Load(), len(done), err)
			}
			if is, _, err := b.GateState(t.Context(), "crossref"); err != nil || len(is.Slots) > 0 {
				t.Errorf("these keep a slot: %+v, %v", is.Slots, err)
			}
		})
	}
}
