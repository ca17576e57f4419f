package executor

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"patra"
	"patra/internal/source"
)

// restart begins the walk again from the first page, under a new scan number. Upserts make it harmless.
func (r *run) restart(ctx context.Context, action string, why *patra.Fault) {
	read := r.scan.ordinal - 1
	r.scan = r.newScan(r.scan.no + 1)
	r.restarts++
	r.heal(ctx, action, why.Code, map[string]any{"scan": r.scan.no, "pages": read, "text": why.Text})
	r.emit(Event{Kind: EventRestart, Claim: r.claim, Fault: why})
}

// retryPage records a failed page and decides how to go on: the same page again, smaller pages, a new scan, smaller slices,
// or not at all.
func (r *run) retryPage(ctx context.Context, page patra.OpenPage, err error, attempt int) error {
	failed, ok := errors.AsType[*pageError](err)
	if !ok {
		return err // the store or the gate failed, not the provider
	}
	fault := failed.fault
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// First of all the others are told to wait: they may be about to send, and this may have been the last attempt.
	wait, gateErr := r.retryDelay(ctx, r.spec(page.Phase), failed, attempt)
	now := patra.InstantOf(time.Now())
	if err := r.failPage(ctx, now, page, failed); err != nil || gateErr != nil {
		return cmp.Or(err, gateErr)
	}
	if err := r.reportFailure(ctx, failed); err != nil {
		return err
	}
	r.strain.Failed(now, fault.Code == patra.CodeRateLimited && !failed.toldToWait())
	spec, search := r.program.Spec, page.Phase == patra.PhaseSearch
	if search && fault.Code == patra.CodeTooLarge {
		return r.tooLarge(ctx, fault, attempt, wait)
	}
	if why := r.cutShort(now, fault); search && why != nil {
		return why
	}
	exhausted := attempt >= failed.mostAttempts(spec) && !failed.renewed(attempt) || r.restarts >= spec.Retry.MaxAttempts
	if fault.Level != patra.LevelRetry || exhausted {
		if fault.Code == patra.CodeSchema {
			r.spoilage.forget()
		}
		return lasting(fault)
	}
	switch slow := fault.Code == patra.CodeTimeout && attempt > 1 && search; {
	case search && failed.sent() && mustRestart(spec, fault):
		if slow {
			r.shrink(ctx, fault.Code, true)
		}
		r.restart(ctx, patra.HealRestart, fault)
	default:
		if slow {
			r.shrink(ctx, fault.Code, false)
		}
		r.pageLogger(page).InfoContext(ctx, "page is asked for again", "page", page.Ordinal, "error_level", string(fault.Level), "code", fault.Code, "http_status", fault.Status, "attempt", attempt, "wait_seconds", wait.Seconds())
		r.emit(Event{Kind: EventRetry, Claim: r.claim, Fault: fault})
	}
	if attempt == 1 && failed.byChance() {
		return nil
	}
	return r.sleep(ctx, wait)
}

// byChance reports whether a request that failed for the first time is simply sent again: its next permit is wait enough. Only when
// it fails again is something wrong for longer.
func (f *pageError) byChance() bool {
	if f.retryAfter > 0 {
		return false
	}
	switch f.fault.Code {
	case patra.CodeNetwork, patra.CodeBadBody:
		return true
	}
	return f.fault.Code == patra.CodeHTTP && f.fault.Status >= http.StatusInternalServerError
}

// failPage keeps what became of a request that gave no page.
func (r *run) failPage(ctx context.Context, now patra.Instant, page patra.OpenPage, failed *pageError) error {
	r.logPageError(ctx, page, failed)
	_, err := r.Store.FailPage(ctx, r.claim, now, page, patra.PageFailure{Exchange: failed.exchange, Fault: *failed.fault, Response: failed.response, BodySHA256: failed.sum, Kept: failed.kept}, nil)
	if err == nil {
		r.numbers(Event{Kind: EventNoPage, Claim: r.claim, Fault: failed.fault, Exchange: failed.exchange})
	}
	return err
}

// cutShort says whether a walk that failed should rather be cut into shorter ones: because the provider answers no deeper,
// because too much goes wrong, or because no walk of this length comes to its end. Without a page that came, shorter ones
// would fare no better.
func (r *run) cutShort(now patra.Instant, fault *patra.Fault) error {
	if r.isUnsplittable() {
		return nil
	}
	if fault.Code == patra.CodeDeepPaging {
		return &earlyEndError{patra.ResliceCap, fault.Text}
	}
	// A strange answer is not due to the length of the walk; that a token is refused may be.
	if lasting(fault).Level != patra.LevelRetry && fault.Code != patra.CodeTokenExpired || !r.advanced {
		return nil
	}
	if why := r.strain.Exceeded(now); why != "" {
		return &earlyEndError{why, fault.Text}
	}
	if r.restarts >= r.program.Spec.Retry.MaxAttempts {
		return &earlyEndError{patra.ResliceErrors, "no walk came to its end: " + fault.Text}
	}
	return nil
}

// lasting is a fault that stayed. A web page or an error in place of data may be a gateway that is being restarted, and so may
// one that shows another's certificate; one that comes again and again is a door that a person must look at. What is strange and
// stays so fails the slice; whether the endpoint is halted is for several windows to say.
func lasting(f *patra.Fault) *patra.Fault {
	if f.IsStrange() && f.Level == patra.LevelRetry {
		last := *f
		last.Level = patra.LevelRequest
		return &last
	}
	if f.Code != patra.CodeWebPage && f.Code != patra.CodeSchema && f.Code != patra.CodeCertificate {
		return f
	}
	grave := *f
	grave.Level = patra.LevelFatal
	return &grave
}

const (
	// shortWait is how long a provider may ask us to wait so that we wait for it where we are.
	shortWait = time.Minute
	// patientTimes as often as otherwise a page is asked for where the provider says each time when to come back.
	patientTimes = 4
)

// toldToWait reports whether the provider refused us as too fast, and said that it will answer soon: waiting is all it wants.
func (f *pageError) toldToWait() bool {
	return f.fault.Code == patra.CodeRateLimited && f.retryAfter > 0 && f.retryAfter <= shortWait
}

// mostAttempts is how often a page is asked for.
func (f *pageError) mostAttempts(spec *source.Spec) int {
	if f.toldToWait() {
		return patientTimes * spec.Retry.MaxAttempts
	}
	return spec.Retry.MaxAttempts
}

// renewed reports whether a request failed for a token that is replaced now. That it is sent once more is not an attempt
// of its own.
func (f *pageError) renewed(attempt int) bool {
	return attempt == 1 && f.fault.Code == patra.CodeAuth && f.fault.Level == patra.LevelRetry
}

// mustRestart reports whether the page cannot be asked for again. A refusal for being too fast, or for who we are,
// consumed nothing; any other failure of a stateful request may have.
func mustRestart(spec *source.Spec, f *patra.Fault) bool {
	if f.Code == patra.CodeTokenExpired {
		return true
	}
	return spec.Stateful() && f.Code != patra.CodeRateLimited && f.Code != patra.CodeAuth
}
