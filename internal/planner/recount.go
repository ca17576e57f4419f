package planner

import (
	"context"

	"patra"
)

// Recount asks a provider how much there is in windows that were asked for before, one after the other, with the question
// of a plan. Each gets what it says; an error of it ends the count.
func (p *Planner) Recount(ctx context.Context, plan patra.Plan, windows []patra.Window, each func(i int, total int64) error) error {
	d, err := p.restore(ctx, plan)
	if err != nil {
		return err
	}
	if p.Prober == nil || !d.Spec.CanCount() || d.Spec.Response.Total.Trust != patra.TrustExact {
		return patra.Problems{{Code: "NOT_COUNTED", Path: "response.total", Text: d.Spec.Source + " does not count exactly, so there is nothing to compare with", Hint: "Read a stretch again with patra harvest " + d.Spec.Source + " --from DAY --to DAY --force"}}
	}
	for i, w := range windows {
		probe, err := p.Prober.Probe(ctx, d.Spec, d.Expr, w, plan.BaseURL)
		if err == nil && probe.Total != nil {
			err = each(i, *probe.Total)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
