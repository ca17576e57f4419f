package executor

import (
	"context"
	"errors"
	"time"

	"patra"
	"patra/internal/source"
)

// askStore is how long to wait before a store that is away is asked again. Nobody is told each time: the store says when it
// goes away, and when it is back.
var askStore = source.Backoff{Initial: source.Duration(250 * time.Millisecond), Max: source.Duration(5 * time.Second), Factor: 2, Jitter: 0.2}

// isStoreOutage reports whether an error is one that is waited out.
func (x *Executor) isStoreOutage(err error) bool {
	return x.Config.Outlast && err != nil && errors.Is(err, patra.ErrUnavailable)
}

func (x *Executor) waitForStore(ctx context.Context, absence int) {
	select {
	case <-ctx.Done():
	case <-time.After(backoff(askStore, absence)):
	}
}

// finish writes the end of a run, as soon as the store can be written. Until then the task is ours, unless its lease runs
// out and somebody is there before us; and given back late it is given back all the same, with its attempts. When working
// ends we are told to stop, and do not wait any longer.
func (x *Executor) finish(ctx, working context.Context, c *patra.Claim, end patra.RunResult) error {
	for absence := 1; ; absence++ {
		err := x.Store.Finish(ctx, c, patra.InstantOf(time.Now()), end)
		if !x.isStoreOutage(err) || working.Err() != nil {
			return err
		}
		x.waitForStore(working, absence)
	}
}
