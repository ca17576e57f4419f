package executor

import (
	"context"
	"errors"

	"patra"
)

// listIDs asks for the ids of the whole window in one answer. It reports false where they do not come in one.
func (r *run) listIDs(ctx context.Context) (rows patra.PageRows, whole bool, err error) {
	spec := r.program.Spec.CensusSpec()
	if r.census, err = spec.Compile(); err != nil {
		return nil, false, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	for attempt := 1; ; attempt++ {
		call, err := spec.Build(r.query, r.claim.Slice.Fetch, spec.First(), r.claim.BaseURL, r.Config.Vars)
		if err != nil {
			return nil, false, &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: err.Error(), Err: err}
		}
		next, err := r.newPageRequest(ctx, patra.PhaseCensus, r.claim.Fence, spec.First(), call) // a run lists the ids of a scan once
		if err != nil {
			return nil, false, err
		}
		coming, err := r.sendNow(ctx, next)
		if err != nil {
			return nil, false, err
		}
		rows, whole, err = r.takeIDs(ctx, coming)
		if err == nil {
			return rows, whole, nil
		}
		err = r.retryPage(ctx, coming.page, err, attempt)
		if fault, ok := errors.AsType[*patra.Fault](err); ok && fault.Code != patra.CodeAuth && ctx.Err() == nil {
			r.log.InfoContext(ctx, "the provider does not list the ids of the window, which stays without a proof", "window", r.claim.Slice.Window.String(), "code", fault.Code, "reason", fault.Text)
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// takeIDs waits for a list of ids and writes it into the ledger.
func (r *run) takeIDs(ctx context.Context, coming *inflightPage) (patra.PageRows, bool, error) {
	res, err := r.awaitPage(coming)
	defer coming.span.End()
	if err != nil {
		return nil, false, err
	}
	defer coming.held.release()
	rows := res.Rows
	res.Records, res.Quarantined, res.Outside, res.Raw = nil, nil, 0, patra.RawPage{}
	_, counts, err := r.commit(ctx, coming, res, nil)
	if err != nil {
		return nil, false, err
	}
	r.reportSuccess(ctx, res.Exchange)
	r.emit(Event{Kind: EventPage, Claim: r.claim, Counts: counts, Exchange: res.Exchange})
	return rows, !res.HasNext, nil
}

// judgeByCensus decides by a list of all ids, where a walk alone proves nothing.
func (r *run) judgeByCensus(ctx context.Context, v patra.WindowVerdict) (patra.WindowVerdict, error) {
	if r.draining() {
		return v, errDrained
	}
	rows, whole, err := r.listIDs(ctx)
	if err != nil || !whole {
		return v, err
	}
	v = patra.JudgeCensus(r.witness, rows, r.scan.evidence, len(r.earlier))
	v.Proof.TaskID, v.Proof.Planned = r.claim.TaskID, r.witness.Witness
	return v, nil
}
