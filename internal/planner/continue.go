package planner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"patra"
)

// deadAfter is how long a planner may take to cut a plan before another goes on with it. If the first is still alive,
// nothing is cut twice all the same.
const deadAfter = 30 * time.Minute

// ContinueAll looks after what is stored: slices that ended early are cut again, and plans that did not fit into the queue, or
// whose planner died, are gone on with. One that fails keeps no other from its turn.
func (p *Planner) ContinueAll(ctx context.Context, now patra.Instant) error {
	_, err := p.Reslice(ctx, now, 0)
	errs := []error{err}
	ids, err := p.Store.Unfinished(ctx, now.Add(-deadAfter))
	errs = append(errs, err)
	for _, id := range ids {
		plan, err := p.Store.Plan(ctx, id)
		if err == nil {
			_, err = p.Continue(ctx, now, plan)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// RecordRejected keeps a trigger that could not even become a request, with the reason.
func (p *Planner) RecordRejected(ctx context.Context, now patra.Instant, source, endpoint string, op patra.Operation, by Trigger, why error) error {
	id, err := p.Store.AcceptTrigger(ctx, now, patra.Trigger{Scheduler: by.Scheduler, JobID: by.Job, LogID: by.Log, Trigger: by.Type, TriggeredAt: now,
		Params: json.RawMessage(`{}`), Source: source, Endpoint: endpoint, Operation: op})
	if err != nil {
		return err
	}
	return p.reject(ctx, id, why)
}
