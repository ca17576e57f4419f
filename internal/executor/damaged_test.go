package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
)

// spoiled is a store that has a bad page among those of its records: work can be had from it, and nothing can be written.
type spoiled struct{ executor.Store }

func (spoiled) CommitPage(context.Context, *patra.Claim, patra.Instant, string, patra.OpenPage, patra.PageResult, *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	return patra.Counts{}, nil, fmt.Errorf("commit page: malformed: %w", errors.Join(patra.ErrUnavailable, patra.ErrDamaged))
}

// A store that is damaged does not heal. Whoever works in the foreground ends, with all attempts left; whoever outlasts a store that is
// away does not ask the provider for ever either.
func TestADamagedStoreIsNotAskedForEver(t *testing.T) {
	for _, outlast := range []bool{false, true} {
		t.Run(fmt.Sprint(outlast), func(t *testing.T) {
			h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
			x := h.executor(2)
			x.Config.Outlast = outlast
			x.Store = spoiled{h.store}
			err := x.Run(t.Context())
			tasks, failure := h.store.Tasks(t.Context(), store.Filter{})
			if failure != nil {
				t.Fatal(failure)
			}
			states := map[patra.Status]int{}
			for _, task := range tasks {
				states[task.Status]++
				if !outlast && task.Attempts > 0 {
					t.Errorf("a task has used %d attempts", task.Attempts)
				}
			}
			asked := h.sim.Stats().Requests
			// Each of three attempts asks for a page, and perhaps for the one behind it before it knows that the first cannot be written.
			if outlast && (err != nil || states[patra.Failed] != len(tasks) || asked > int64(2*3*len(tasks))) {
				t.Errorf("%v, %v, %d requests", err, states, asked)
			}
			if !outlast && (!errors.Is(err, patra.ErrDamaged) || states[patra.Queued] != len(tasks) || asked > 4) {
				t.Errorf("%v, %v, %d requests", err, states, asked)
			}
		})
	}
}
