package planner

import (
	"context"
	"fmt"

	"patra"
)

// RequestLike is a request for the same question as an earlier plan: the same endpoint, query, parameters and campaign. Whoever
// asks adds the source as it counts now, and the dates.
func (p *Planner) RequestLike(ctx context.Context, plan patra.Plan) (Request, error) {
	d, err := p.restore(ctx, plan)
	if err != nil {
		return Request{}, err
	}
	return Request{Endpoint: plan.Endpoint, Operation: plan.Operation, Campaign: plan.Campaign, Params: d.Spec.Parameters, BaseURL: plan.BaseURL, expr: plan.ExprProto}, nil
}

// fills makes sure that a request for gaps leads to the cursor whose gaps they are. A source that was changed since may
// have another date, and with it another watermark.
func (d *Draft) fills(f *Fill) error {
	if f == nil || (d.Cursor != nil && d.Cursor.ID == f.CursorID) {
		return nil
	}
	return patra.Problems{{Code: "OTHER_CURSOR", Path: "cursor", Text: fmt.Sprintf("%s as it counts now has another watermark than cursor %d: its date, its parameters or its endpoint have changed", d.Spec.Source, f.CursorID),
		Hint: "See patra source history for what changed; a gap that will never be read can be waived"}}
}

// doubted is what a plan is to read again although it was read: what is in dispute, or has no proof.
func (p *Planner) doubted(ctx context.Context, j *job, c *patra.Cursor) (patra.Coverage, error) {
	var states []patra.Completeness
	if j.Disputed {
		states = append(states, patra.StateDisputed)
	}
	if j.Read {
		states = append(states, patra.StateRead)
	}
	if len(states) == 0 {
		return nil, nil
	}
	return p.Store.CoverageIn(ctx, c.ID, states...)
}

// gapsToFill is what is missing, and what is doubted: exactly that. What somebody is at work on is left to them, and what
// the same plan has cut already is never cut twice.
func gapsToFill(w patra.Window, covered, live, doubted, sliced patra.Coverage) (parts []needPart) {
	whole := patra.NewCoverage(w)
	missing := whole.Minus(covered)
	for _, s := range missing.Union(doubted.Clip(w)).Minus(live).Minus(sliced) {
		parts = append(parts, needPart{s, patra.PurposeFill})
	}
	return parts
}
