package executor_test

import (
	"context"
	"sync"
	"testing"

	"patra"
	"patra/internal/sim"
	"patra/internal/store"
)

// trier is controls that let the n-th request of all try a breaker, and keeps what is reported of that.
type trier struct {
	*store.Store
	n int

	mu    sync.Mutex
	asked int
	told  []string
}

const try = 77

func (c *trier) Admit(ctx context.Context, at patra.WorkScope) (patra.Admission, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked++; c.asked == c.n {
		return patra.Admission{Probe: try}, nil
	}
	return c.Store.Admit(ctx, at)
}

func (c *trier) say(what string, probe int64) (patra.ControlChange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if probe == try {
		c.told = append(c.told, what)
	}
	return patra.ControlChange{}, nil
}

func (c *trier) RecordSuccess(_ context.Context, _ patra.WorkScope, probe int64) (patra.ControlChange, error) {
	return c.say("answered", probe)
}

func (c *trier) RecordFailure(_ context.Context, _ patra.WorkScope, _ patra.BreakerRule, f patra.EndpointFailure, _ patra.Fault) (patra.ControlChange, error) {
	return c.say("failed", f.Probe)
}

func (c *trier) AbandonProbe(_ context.Context, _ patra.WorkScope, probe int64) (patra.ControlChange, error) {
	return c.say("untried", probe)
}

// Everybody waits for the one that tries a breaker. So the breaker hears of it once, whatever becomes of the run.
func TestABreakerHearsOnceOfEveryTry(t *testing.T) {
	for name, c := range map[string]struct {
		tries, unwritable int
		want              string
	}{
		"the page is written":                         {2, 0, "answered"},
		"the page before cannot be written":           {2, 1, "untried"}, // it is on its way already
		"it cannot be written itself":                 {2, 2, "untried"},
		"the first page of all, which is not written": {1, 1, "untried"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
			x := h.executor(1)
			controls := &trier{Store: h.store, n: c.tries}
			x.Controls, x.Store = controls, &unwritable{h.store, c.unwritable}
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(controls.told) != 1 || controls.told[0] != c.want {
				t.Errorf("told %q, want %q once", controls.told, c.want)
			}
			h.exact()
		})
	}
}
