package executor

import (
	"context"

	"patra"
	"patra/internal/expr"
)

// countWhole asks how much the whole window has, when the run has read a part of its ids. The parts must add up to it: an
// id outside the space that was cut is in none of them.
func (r *run) countWhole(ctx context.Context) error {
	spec := r.program.Spec
	if !r.claim.Slice.IsPart() || spec.Response.Total.Trust != patra.TrustExact || !spec.CanCount() {
		return nil
	}
	if r.draining() {
		return errDrained
	}
	query, err := expr.ParseJSON(r.claim.Query)
	if err != nil {
		return err
	}
	probe, err := r.prober().Probe(ctx, spec, query, r.claim.Slice.Fetch, r.claim.BaseURL)
	if err == nil {
		r.proof.WindowTotal = probe.Total
	}
	return err
}
