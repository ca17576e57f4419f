package executor

import (
	"context"

	"patra"
	"patra/internal/query"
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
	query, err := query.ParseJSON(r.claim.Query)
	if err != nil {
		return err
	}
	probe, err := r.prober().Probe(ctx, spec, query, r.claim.Slice.Fetch, r.claim.BaseURL)
	if err == nil {
		r.proof.WindowTotal = probe.Total
	}
	return err
}

// addUp compares the whole window with its parts, when this run has read the last of them. A first disagreement asks for one
// more scan and one more count; a second one is kept as a dispute. What has changed in another part is not read again here:
// then the dispute stays, until the window is filled.
func (r *run) addUp(ctx context.Context) error {
	if r.proof.WindowTotal == nil {
		return nil
	}
	ids, last, err := r.Store.OtherParts(ctx, r.claim)
	if err != nil || !last {
		return err
	}
	r.proof.LookedTwice = r.looks > 0
	if r.looks == 0 && patra.AssessCompleteness(r.proof.Trust, r.proof.WindowTotal, ids+r.proof.IDsSeen) == patra.StateDisputed {
		r.looks++
		return disputed
	}
	return nil
}
