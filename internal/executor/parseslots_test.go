package executor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Never more than so many read at the same time, everybody has his turn, and who is told to stop does not wait.
func TestReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 3} {
			r := newReaders(n)
			var inside, most, done atomic.Int64
			var all sync.WaitGroup
			for range 12 {
				all.Go(func() {
					if err := r.enter(t.Context()); err != nil {
						t.Error(err)
					}
					defer r.leave()
					if now := inside.Add(1); now > most.Load() {
						most.Store(now)
					}
					time.Sleep(time.Second)
					inside.Add(-1)
					done.Add(1)
				})
				synctest.Wait() // one after the other comes in, or waits
			}
			all.Wait()
			want := int64(n)
			if n == 0 {
				want = 12
			}
			if most.Load() != want || done.Load() != 12 {
				t.Errorf("room for %d: %d at the same time, %d in all", n, most.Load(), done.Load())
			}
		}
		r, stop := newReaders(1), errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stop)
		if err := errors.Join(r.enter(t.Context())); err != nil {
			t.Fatal(err)
		}
		if err := r.enter(ctx); !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
	})
}
