package cli

import (
	"context"
	"errors"
	"time"

	"patra"
	"patra/internal/store"
)

// readRetryEvery is how often windows are looked for that are to be read again because they could not be proved.
const readRetryEvery = 10 * time.Minute

// retryRead plans windows again that were read without a proof, when they are due, until ctx ends.
func (d *plannerLoop) retryRead(ctx context.Context) error {
	tick := time.NewTicker(readRetryEvery)
	defer tick.Stop()
	for {
		if err := d.planReadRetries(ctx, now()); worthLogging(ctx, err) {
			d.log.Error("planning windows again that were read without a proof failed", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// planReadRetries plans all that is due at a moment. A cursor that cannot be planned keeps no other from its turn.
func (d *plannerLoop) planReadRetries(ctx context.Context, at patra.Instant) error {
	cursors, err := d.store.Cursors(ctx, store.Filter{})
	if err != nil {
		return err
	}
	var failed error
	for _, cur := range cursors {
		if cur.SealedThrough < cur.Value {
			failed = errors.Join(failed, d.planReadRetry(ctx, cur, at))
		}
	}
	return failed
}

func (d *plannerLoop) planReadRetry(ctx context.Context, cur patra.Cursor, at patra.Instant) error {
	known, err := d.store.OpenCoverage(ctx, cur, at)
	if err != nil || known.ReadAccepted != nil {
		return err
	}
	for _, w := range patra.ReadRetries(known.Answers, at).Minus(known.Live) {
		req, err := d.app.fillRequest(ctx, d.store, cur, fillFlags{timeRangeFlags: timeRangeFlags{from: w.From.String(), to: w.To.String()}, read: true})
		if err != nil || req == nil {
			return err
		}
		if _, err := d.planner.Plan(ctx, at, *req); err != nil {
			return err
		}
		d.log.Info("a window that was read without a proof is planned again", "source", cur.Source, "endpoint", cur.Endpoint, "window", w.String())
	}
	return nil
}
