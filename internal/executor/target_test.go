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

func (a *absent) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
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

// ofTomorrow is a store whose tasks were planned by a program that knows a setting more.
type ofTomorrow struct {
	executor.Store
	body   json.RawMessage
	gone   atomic.Int64
	claims atomic.Int64
}

func (o *ofTomorrow) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	c, err := o.Store.Claim(ctx, req)
	if c == nil || err != nil {
		return c, err
	}
	o.claims.Add(1)
	body, err := o.Store.Snapshot(ctx, c.Spec)
	o.body = append(body[:len(body)-1:len(body)-1], `,"zz_new":{"only":"half of the records"}}`...)
	c.Spec = patra.HashBytes(o.body)
	return c, err
}

func (o *ofTomorrow) Snapshot(context.Context, string) (json.RawMessage, error) { return o.body, nil }

func (o *ofTomorrow) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
	o.gone.Add(1)
	end.RetryIn = 0 // nobody waits here
	return o.Store.Finish(ctx, c, now, end)
}

// A task that says what this program does not understand is not done by halves: it is left to the other version, with all its
// attempts, and whoever waits is told. The other version does it.
func TestATaskOfAnotherVersionIsLeftToIt(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 30}, nil, fast(t))
	x := h.executor(1)
	x.Store = &ofTomorrow{Store: h.store}
	err := x.Run(t.Context())
	problems, ok := errors.AsType[patra.Problems](err)
	if !ok || problems[0].Code != patra.CodeNewer || problems[0].Hint == "" {
		t.Fatalf("whoever waits is told: %v", err)
	}
	// One that works for ever waits for the other, and goes on with what it understands.
	ctx, stop := context.WithCancel(t.Context())
	patient := h.executor(1)
	tomorrow := &ofTomorrow{Store: h.store}
	patient.Store, patient.Config.Outlast = tomorrow, true
	patient.Observe = func(executor.Event) {
		if tomorrow.claims.Load() > 6 {
			stop()
		}
	}
	if err := patient.Run(ctx); err != nil || tomorrow.gone.Load() < 6 {
		t.Errorf("%d tasks were left, %v", tomorrow.gone.Load(), err)
	}
	stop()
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	if err != nil || len(tasks) != 4 || h.sim.Stats().Requests != 0 {
		t.Fatalf("%d tasks after %d requests, %v", len(tasks), h.sim.Stats().Requests, err)
	}
	for _, k := range tasks {
		if k.Status != patra.Queued || k.Attempts != 0 {
			t.Errorf("task %d is %s after %d attempts", k.ID, k.Status, k.Attempts)
		}
	}
	if err := h.executor(2).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}
