package executor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
)

// full is a store whose disk is full for a while when pages are to be written.
type full struct {
	executor.Store
	times atomic.Int64
}

func (f *full) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	if f.times.Add(-1) >= 0 {
		return patra.Counts{}, nil, fmt.Errorf("commit page: disk is full: %w", patra.ErrUnavailable)
	}
	return f.Store.CommitPage(ctx, c, now, recordType, page, res, next)
}

func TestAFullDiskUsesUpNoAttempt(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(1)
	f := &full{Store: h.store}
	f.times.Store(4) // one more than a task may be tried
	x.Store = f
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	for _, task := range tasks {
		if err != nil || task.Status != patra.Succeeded || task.Attempts != 1 {
			t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
		}
	}
}
