package executor

import (
	"context"

	"patra"
	"patra/internal/query"
)

// countRest asks how many records of the window no part has asked for, when the run has read the last part: those whose ids lie
// outside of the space that was cut. A record has one id for ever, so parts that were proved at different times prove the window
// together, if there are none.
func (r *run) countRest(ctx context.Context) error {
	spec := r.program.Spec
	if !r.claim.Slice.IsPart() || r.proof.State != patra.StateSealed {
		return nil
	}
	last, err := r.Store.IsLastPart(ctx, r.claim)
	if err != nil || !last {
		return err
	}
	if r.proof.Last = true; r.draining() {
		return errDrained
	}
	if !spec.CanCount() || spec.Response.Total.Trust != patra.TrustExact {
		return nil
	}
	all, err := query.ParseJSON(r.claim.Query)
	if err != nil {
		return err
	}
	ids := r.claim.Slice.Spec.Range
	outside := query.ExcludeRange(all, ids.Key, ids.Of)
	if spec.CheckQuery(outside) != nil {
		return nil // the provider cannot be asked for that
	}
	probe, err := r.prober().Probe(ctx, spec, outside, r.claim.Slice.Fetch, r.claim.BaseURL)
	if err == nil {
		r.proof.Rest = probe.Total
	}
	return err
}
