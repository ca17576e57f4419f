package executor

import (
	"context"
	"encoding/json"
	"time"

	"patra"
)

// heal keeps what is done so that the work goes on: a row, a line in the log, and an event that is counted. That it could
// not be kept stops nobody.
func (r *run) heal(ctx context.Context, action, reason string, detail map[string]any) {
	h := patra.Healing{TaskID: r.claim.TaskID, RunID: r.claim.RunID, Source: r.claim.Task.Source, Endpoint: r.claim.Task.Endpoint, Operation: r.claim.Task.Operation,
		Action: action, Reason: reason, At: patra.InstantOf(time.Now())}
	var err error
	if h.Detail, err = json.Marshal(detail); err == nil {
		err = r.Store.RecordHealing(ctx, h)
	}
	if err != nil {
		r.log.WarnContext(ctx, "a healing action could not be kept", "action", action, "reason", err.Error())
	}
	r.healed(ctx, r.claim, &h)
}

// healed tells of what was done, once it is kept. It is a warning: nobody asked for it, and what it was for was wrong.
func (x *Executor) healed(ctx context.Context, c *patra.Claim, h *patra.Healing) {
	x.runLogger(c).WarnContext(ctx, "healing", "action", h.Action, "reason", h.Reason, "detail", string(h.Detail))
	x.emit(Event{Kind: EventHeal, Claim: c, Healing: h})
}
