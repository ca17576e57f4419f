package executor

import (
	"context"
	"strconv"
	"time"

	"patra"
	"patra/internal/source"
)

// earlyEndError is why a slice is left before its end. What is left of it is cut into smaller ones by a planner.
type earlyEndError struct{ reason, text string }

// Error implements error.
func (e *earlyEndError) Error() string { return "ended early: " + e.reason + " " + e.text }

// isUnsplittable reports whether the slice cannot be cut any further: then it is read to its end, whatever it takes.
func (r *run) isUnsplittable() bool {
	hints := r.claim.Slice.Spec.Hints
	return hints != nil && hints.Whole
}

// enough says whether the slice should be left after a page that has a successor: because the provider will not answer
// as deep as that, or because the budget is used up.
func (r *run) enough(ctx context.Context, res patra.PageResult) error {
	if !res.HasNext {
		return nil
	}
	if err := r.heavy(ctx, res.Exchange.Bytes); err != nil || r.isUnsplittable() {
		return err
	}
	spec, seen := r.program.Spec, r.scan.seen()
	if why := r.strain.Exceeded(patra.InstantOf(time.Now())); why != "" {
		return &earlyEndError{reason: why}
	}
	if r.strain.Limits.Overran(r.claim.Slice.Estimate, seen) {
		return &earlyEndError{patra.ResliceEstimate, strconv.FormatInt(r.claim.Slice.Estimate.Records, 10) + " records were expected"}
	}
	if spec.Response.Total.Trust == patra.TrustExact && res.Total != nil && tooDeep(spec, *res.Total) {
		return &earlyEndError{patra.ResliceCap, "there are " + strconv.FormatInt(*res.Total, 10) + " records"}
	}
	budget := r.claim.Slice.Spec.Budget
	if budget == nil {
		return nil
	}
	over := func(n, most int64) bool { return most > 0 && n >= most }
	switch {
	case over(r.scan.walked.Requests, budget.MaxRequests):
		return &earlyEndError{reason: patra.ResliceRequests}
	case over(seen, budget.MaxRecords):
		return &earlyEndError{reason: patra.ResliceRecords}
	case over(int64(time.Since(r.began)/time.Second), budget.MaxSeconds):
		return &earlyEndError{reason: patra.ResliceSeconds}
	}
	return nil
}

// tooDeep reports whether so many records lie deeper than the provider answers. Only positions that are counted have a
// depth that can be told before.
func tooDeep(spec *source.Spec, total int64) bool {
	p := spec.Pagination
	first, err := strconv.ParseInt(spec.First(), 10, 64)
	if p.Cap == 0 || err != nil || p.Next != "" {
		return false
	}
	switch p.Type {
	case pageOffset:
		return first+total > p.Cap
	case pagePage:
		return total > (p.Cap-first+1)*int64(p.PageSize)
	}
	return false
}

// The kinds of paging that are treated in a way of their own. Where positions are numbers of our own: when what is there changes under such a walk, everything
// behind it moves.
const (
	pageOffset = "OFFSET"
	pagePage   = "PAGE"
	pageTime   = "TIME"
	pageToken  = "TOKEN"
)

// partial is the end of a run that left its slice early, with what it proved all the same.
func (r *run) partial(why *earlyEndError) patra.RunResult {
	walked, trust := r.scan.walked, r.program.Spec.Response.Total.Trust
	state, proof := r.confirms()
	early := &patra.EarlyEnd{
		Reslice: patra.Reslice{Reason: why.reason, Requests: walked.Requests, Records: r.scan.seen(), Total: r.scan.total, Text: why.text},
		ScanNo:  r.scan.no, Order: walked.Order, Trust: trust, Confirmed: r.confirmed(), Completeness: state, Proof: proof,
	}
	if !early.Confirmed.IsEmpty() {
		early.IDsSeen, early.Total = r.scan.seen()-r.scan.tied, r.counted
	}
	if early.Total != nil && *early.Total != early.IDsSeen { // something was missed on the way: all of it is read again
		early.Confirmed, early.IDsSeen, early.Total = patra.Window{From: early.Confirmed.From, To: early.Confirmed.From}, 0, nil
	}
	return patra.RunResult{Status: patra.Partial, Early: early}
}

// confirms is what the part of a walk is worth that was read before it ended early. Where a second scan would have to meet what the
// first has read, that is nothing.
func (r *run) confirms() (patra.Completeness, patra.WindowProof) {
	e := r.scan.evidence
	proof := patra.WindowProof{V: patra.ProofVersion, Witness: r.witness.Witness, Basis: r.witness.Basis, TaskID: r.claim.TaskID, Scans: []patra.ScanSummary{e.ScanSummary}}
	if e.Confirms(r.claim.Slice.Fetch.To) {
		return patra.StateSealed, proof
	}
	proof.Witness, proof.Why = patra.WitnessNone, "the walk was left before its end"
	return patra.StateRead, proof
}

// confirmed is the part of the window that a walk has read before it ended early.
func (r *run) confirmed() patra.Window {
	state, _ := r.confirms()
	w := r.claim.Slice.Provable(r.scan.walked, state)
	if state != patra.StateSealed && r.witness.Witness != patra.WitnessNone {
		w.To = w.From
	}
	return w
}

// countConfirmed asks how much there is in what a run that ends early has confirmed, where the provider counts exactly.
// Without an answer the part is known to be read, and not more.
func (r *run) countConfirmed(ctx context.Context) {
	spec := r.program.Spec
	confirmed := r.confirmed()
	if confirmed.IsEmpty() || spec.Response.Total.Trust != patra.TrustExact || !spec.CanCount() || r.scan.resumed || r.draining() {
		return
	}
	probe, err := r.prober().Probe(ctx, spec, r.query, confirmed.Widen(patra.Period{}, spec.Window.Precision), r.claim.BaseURL)
	if err == nil {
		r.counted = probe.Total
	}
}

// prober asks for counts on behalf of a run.
func (r *run) prober() *Prober {
	return &Prober{Store: r.Store, Gate: r.Gate, Client: r.Client, Vars: r.Config.Vars, Log: r.log, Credentials: r.Credentials, Allow: r.admitProbe}
}
