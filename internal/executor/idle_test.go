package executor_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

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

// When one worker sees that everything is done, the others rest no longer: somebody may wait for the end.
func TestNobodyRestsWhenEverythingIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(time.Second) // so that those without a task rest by then
				next.ServeHTTP(w, r)
			})
		})
		x, began := b.executor(nil), time.Now()
		x.Config.Workers, x.Config.Poll = 8, time.Hour
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took >= time.Hour {
			t.Errorf("it took %s", took)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 120 {
			t.Errorf("%d records, %v", n, err)
		}
	})
}
