package executor_test

import (
	"context"
	"testing"

	"patra/internal/sim"
)

// Whoever asks whether all is done hears that the context has ended, like everybody else. That is no failure.
func TestAnEndWhileIdleIsNoFailure(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 30}, nil, fast(t))
	ctx, cancel := context.WithCancel(t.Context())
	x := h.executor(1)
	x.Done = func(ctx context.Context) (bool, error) {
		cancel()
		return true, ctx.Err()
	}
	if err := x.Run(ctx); err != nil {
		t.Error(err)
	}
}
