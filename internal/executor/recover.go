package executor

import (
	"cmp"
	"context"
	"errors"
	"time"

	"patra"
	"patra/internal/source"
)

// restart begins the walk again from the first page, under a new scan number. Upserts make it harmless.
func (r *run) restart(why *patra.Fault) {
	r.scan = r.newScan(r.scan.no + 1)
	r.restarts++
	r.log.Warn("scan restarts", "scan", r.scan.no, "code", why.Code, "reason", why.Text)
	r.tell(Event{Kind: EventRestart, Claim: r.claim, Fault: why})
}

// recover records a failed page and decides how to go on: the same page again, a new scan, or not at all.
func (r *run) recover(ctx context.Context, page patra.OpenPage, err error, attempt int) error {
	failed, ok := errors.AsType[*failedPage](err)
	if !ok {
		return err // the store or the gate failed, not the provider
	}
	fault := failed.fault
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// First of all the others are told to wait: they may be about to send, and this may have been the last attempt.
	wait, gateErr := r.rest(ctx, r.program.Spec, failed, attempt)
	_, err = r.Store.FailPage(ctx, r.claim, patra.InstantOf(time.Now()), page, patra.PageFailure{Exchange: failed.exchange, Fault: *fault, Response: failed.response}, nil)
	if err := cmp.Or(err, gateErr); err != nil {
		return err
	}
	if fault.Code == patra.CodeDeepPaging && page.Phase == patra.PhaseSearch && !r.whole() {
		return &endedEarly{patra.ResliceCap, fault.Text}
	}
	retry := r.program.Spec.Retry
	if fault.Level != patra.LevelRetry || attempt >= retry.MaxAttempts || r.restarts >= retry.MaxAttempts {
		return fault
	}
	if page.Phase == patra.PhaseSearch && mustRestart(r.program.Spec, fault) {
		r.restart(fault)
	} else {
		r.log.Info("page is asked for again", "ordinal", page.Ordinal, "code", fault.Code, "attempt", attempt)
		r.tell(Event{Kind: EventRetry, Claim: r.claim, Fault: fault})
	}
	return r.sleep(ctx, wait)
}

// mustRestart reports whether the page cannot be asked for again. A refusal for being too fast consumed nothing; any
// other failure of a stateful request may have.
func mustRestart(spec *source.Spec, f *patra.Fault) bool {
	if f.Code == patra.CodeTokenExpired {
		return true
	}
	return spec.Stateful() && f.Code != patra.CodeRateLimited
}
