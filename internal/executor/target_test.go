package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
)

// absent is a store that does not answer when it is first asked for a source.
type absent struct {
	executor.Store
	asked atomic.Int64
}

func (a *absent) Snapshot(ctx context.Context, fingerprint string) (json.RawMessage, error) {
	if a.asked.Add(1) == 1 {
		return nil, errors.New("the connection was lost")
	}
	return a.Store.Snapshot(ctx, fingerprint)
}

func (a *absent) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.Closing) error {
	end.RetryIn = 0 // nobody waits here
	return a.Store.Finish(ctx, c, now, end)
}

func TestAStoreThatDoesNotAnswerOnceFailsNoTask(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 30}, nil, fast(t))
	x := h.executor(1)
	x.Store = &absent{Store: h.store}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	tasks, err := h.store.Tasks(t.Context(), store.Filter{Status: patra.Failed})
	if err != nil || len(tasks) > 0 {
		t.Errorf("%d tasks failed for good, %v", len(tasks), err)
	}
	h.exact()
	h.complete()
}
