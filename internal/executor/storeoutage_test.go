package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
)

// gone is a store that is away for a while: from a page on, nothing can be asked of it.
type gone struct {
	executor.Store
	pages  atomic.Int64 // that are still written
	times  atomic.Int64 // that it does not answer then
	denied map[string]*atomic.Int64
}

func (g *gone) answer(what string) error {
	if g.pages.Load() > 0 || g.times.Add(-1) < 0 {
		return nil
	}
	g.denied[what].Add(1)
	return fmt.Errorf("%s: connection refused: %w", what, patra.ErrUnavailable)
}

func (g *gone) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	if err := g.answer("claim"); err != nil {
		return nil, err
	}
	return g.Store.Claim(ctx, req)
}

func (g *gone) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	g.pages.Add(-1)
	if err := g.answer("page"); err != nil {
		return patra.Counts{}, nil, err
	}
	return g.Store.CommitPage(ctx, c, now, recordType, page, res, next)
}

func (g *gone) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
	if err := g.answer("finish"); err != nil {
		return err
	}
	return g.Store.Finish(ctx, c, now, end)
}

// An executor that is to outlast its store waits until it is back, and goes on: no task has lost an attempt. One in the
// foreground ends and says why.
func TestAStoreThatIsAwayIsOutlasted(t *testing.T) {
	for _, outlast := range []bool{true, false} {
		t.Run(fmt.Sprint(outlast), func(t *testing.T) {
			h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
			x := h.executor(2)
			x.Config.Outlast = outlast
			g := &gone{Store: h.store, denied: map[string]*atomic.Int64{"claim": {}, "page": {}, "finish": {}}}
			g.pages.Store(5)
			g.times.Store(6)
			x.Store = g
			err := x.Run(t.Context())
			if !outlast {
				if !errors.Is(err, patra.ErrUnavailable) {
					t.Errorf("it ended with %v", err)
				}
				return
			}
			if err != nil || g.denied["page"].Load() == 0 || g.denied["finish"].Load() == 0 {
				t.Fatalf("%v, %d pages and %d ends were not heard", err, g.denied["page"].Load(), g.denied["finish"].Load())
			}
			h.exact()
			tasks, err := h.store.Tasks(t.Context(), store.Filter{})
			for _, task := range tasks {
				if err != nil || task.Status != patra.Succeeded || task.Attempts != 1 {
					t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
				}
			}
		})
	}
}

// Told to stop, an executor whose store is away stops.
func TestAnExecutorWithoutAStoreCanBeStopped(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(2)
	x.Config.Outlast = true
	g := &gone{Store: h.store, denied: map[string]*atomic.Int64{"claim": {}, "page": {}, "finish": {}}}
	g.times.Store(1 << 40)
	x.Store = g
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- x.Run(ctx) }()
	for g.denied["claim"].Load() < 2 {
		<-time.After(time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
