package executor

import (
	"context"
	"errors"
	"math/rand/v2"

	"patra"
)

// Controls say whether a request may be sent, and learn how it went. They are shared by all processes: what one of them
// learns holds for all. A run asks before every request and hears at once of a pause, a halt, an open breaker or that its
// task was called off. Hold may tell the caller to try an open breaker, Held never does. A report that fails is no reason
// to lose a page: it is logged.
type Controls interface {
	Hold(ctx context.Context, at patra.Place) (patra.Hold, error)
	Held(ctx context.Context, at patra.Place) (patra.Hold, error)
	Fail(ctx context.Context, at patra.Place, rule patra.BreakerRule, probe int64, fault patra.Fault, dice float64) (patra.ControlChange, error)
	Answered(ctx context.Context, at patra.Place, probe int64) (patra.ControlChange, error)
	Untried(ctx context.Context, at patra.Place, probe int64) (patra.ControlChange, error)
	Halt(ctx context.Context, at patra.Place, fault patra.Fault) (patra.ControlChange, error)
	Exhausted(ctx context.Context, at patra.Place, e patra.QuotaError) (patra.ControlChange, error)
	Limits
}

// leave is what a run knows of the controls.
type leave struct {
	hold   patra.Hold   // what the last request was told
	tried  bool         // this run tried a half-open breaker
	fault  *patra.Fault // the last failure that a breaker counted
	gentle bool         // the breaker still grows more patient: a try that failed is nobody's fault
}

// held is why a run stops before a request.
type held struct{ patra.Hold }

// Error implements error.
func (h *held) Error() string { return "held back: " + h.Code }

// mayAsk asks whether a request may be sent. It is asked last of all, after the gate: who waited there for long must hear
// of what happened meanwhile.
func (r *run) mayAsk(ctx context.Context) (hold patra.Hold, err error) {
	if r.Controls == nil {
		return hold, nil
	}
	at := r.claim.Place()
	if hold, err = r.Controls.Hold(ctx, at); err != nil {
		return hold, err
	}
	if !hold.Go() {
		return patra.Hold{}, &held{hold}
	}
	if hold.Probe != 0 {
		r.done(ctx, patra.ControlChange{Healing: &patra.Healing{TaskID: at.TaskID, Source: at.Source, Endpoint: at.Endpoint, Operation: at.Operation, Action: patra.HealHalfOpen, Reason: patra.WaitBreaker}}, nil)
	}
	if hold.Rise {
		change, err := r.Controls.Raise(ctx, at)
		r.done(ctx, change, err)
	}
	return hold, nil
}

// heard keeps what a request was told, when its answer is there: the one after it may be on its way already.
func (r *run) heard(hold patra.Hold) {
	r.hold = hold
	r.tried = r.tried || hold.Probe != 0
}

// untried gives a try of a breaker back that nobody heard of: the request was never sent, or its answer was lost with the
// run. Everybody else would wait for it for patra.ProbeTime.
func (x *Executor) untried(ctx context.Context, c *patra.Claim, r *run) {
	if x.Controls == nil || r.hold.Probe == 0 {
		return
	}
	change, err := x.Controls.Untried(ctx, c.Place(), r.hold.Probe)
	r.hold.Probe = 0
	x.done(ctx, c, change, err)
}

// mayCount asks whether a count may be asked for. It never tries an open breaker: nobody would hear how that went.
func (r *run) mayCount(ctx context.Context) error {
	if r.Controls == nil {
		return nil
	}
	hold, err := r.Controls.Held(ctx, r.claim.Place())
	if err == nil && !hold.Go() {
		err = &held{hold}
	}
	return err
}

// went tells the controls of a page that came: only those that have something to forget.
func (r *run) went(ctx context.Context, x patra.Exchange) {
	if r.Controls == nil {
		return
	}
	r.fault = nil
	r.answered(ctx)
	r.measure(ctx, x)
}

// answered tells a breaker that counts failures, or that this run tries, that the endpoint answers.
func (r *run) answered(ctx context.Context) {
	at := r.claim.Place()
	_, uneasy := r.uneasy.LoadAndDelete(at.EndpointTarget().Key)
	if probe := r.hold.Probe; probe != 0 || r.hold.Watch || uneasy {
		change, err := r.Controls.Answered(ctx, at, probe)
		r.done(ctx, change, err)
	}
	r.hold.Probe, r.hold.Watch = 0, false
}

// troubled tells the controls of a request that gave no page. If that opened a breaker, or it was open already, the run
// ends here instead of asking again.
func (r *run) troubled(ctx context.Context, failed *failedPage) error {
	if r.Controls == nil {
		return nil
	}
	at, fault := r.claim.Place(), failed.fault
	if fault.Code == patra.CodeRateLimited {
		r.slowedDown(ctx, at, failed)
	}
	if !fault.Counts() {
		r.answered(ctx)
		return nil
	}
	rule := r.program.Spec.Breaker.Rule()
	change, err := r.Controls.Fail(ctx, at, rule, r.hold.Probe, *fault, rand.Float64())
	r.uneasy.Store(at.EndpointTarget().Key, true)
	r.hold.Probe, r.fault, r.gentle = 0, fault, change.Was.Breaker().Patient(rule)
	r.done(ctx, change, err)
	if err == nil && !change.Hold.Go() {
		return &held{change.Hold}
	}
	return nil
}

// slowedDown keeps that the provider asked us to slow down, and lets fewer tasks run when it does so again and again.
func (r *run) slowedDown(ctx context.Context, at patra.Place, failed *failedPage) {
	r.heal(ctx, patra.HealCooldown, failed.fault.Code, map[string]any{"retry_after_seconds": failed.retryAfter.Seconds(), "text": failed.fault.Text})
	if of := r.most(); of > 1 {
		change, err := r.Controls.Refuse(ctx, at, of)
		r.done(ctx, change, err)
	}
}

// done says what a control did, if it did anything.
func (r *run) done(ctx context.Context, change patra.ControlChange, err error) {
	r.Executor.done(ctx, r.claim, change, err)
}

func (x *Executor) done(ctx context.Context, c *patra.Claim, change patra.ControlChange, err error) {
	if err != nil {
		x.of(c).WarnContext(ctx, "a control could not be reached", "reason", err.Error())
		return
	}
	if change.Healing != nil {
		x.healed(ctx, c, change.Healing)
	}
}

// halt stops an endpoint whose answers only a person can mend. A defect of ours is not the endpoint's.
func (x *Executor) halt(ctx context.Context, c *patra.Claim, end patra.Closing) {
	f := end.Fault
	if x.Controls == nil || end.Status != patra.Failed || f == nil || f.Level != patra.LevelFatal || f.Code == patra.CodeInternal {
		return
	}
	change, err := x.Controls.Halt(ctx, c.Place(), *f)
	x.done(ctx, c, change, err)
}

// exhausted makes everybody wait for a quota that a run has found used up: else each task would be taken only to find
// the same.
func (x *Executor) exhausted(ctx context.Context, c *patra.Claim, walked error) {
	e, ok := errors.AsType[*patra.QuotaError](walked)
	if !ok || x.Controls == nil {
		return
	}
	change, err := x.Controls.Exhausted(ctx, c.Place(), *e)
	x.done(ctx, c, change, err)
}

// deferred is the end of a run that met a quota that is used up: the task is given back, nobody is to blame, and it is due
// when the quota begins anew.
func (x *Executor) deferred(ctx context.Context, c *patra.Claim, e *patra.QuotaError) (patra.Closing, Event) {
	end := patra.Closing{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitQuota, RetryIn: e.Defer(rand.Float64())}
	x.of(c).InfoContext(ctx, "the quota is used up, the task waits", "reason", e.Error(), "seconds", end.RetryIn.Seconds())
	return end, Event{Kind: EventHeld, Claim: c, Hold: &patra.Hold{Code: patra.WaitQuota, Wait: end.RetryIn}}
}

// heldBack is the end of a run that something holds back: the task is given back at once, and nobody is to blame. Only the
// run that met the failures has used up an attempt; and one that tried an open breaker, once that has become as patient as
// it can. Without the last, a lone task that cannot succeed would be tried for ever.
func (x *Executor) heldBack(ctx context.Context, c *patra.Claim, r *run, h *held) (patra.Closing, Event) {
	if h.Code == patra.HoldCancelled {
		x.of(c).InfoContext(ctx, "task was called off")
		return patra.Closing{Status: patra.Cancelled}, Event{Kind: EventCancelled, Claim: c}
	}
	end := patra.Closing{Status: patra.Queued, GiveBack: true, WaitCode: h.Code, RetryIn: max(h.Wait, 0)}
	if h.Code == patra.WaitBreaker && r.fault != nil && !(r.tried && r.gentle) {
		end.GiveBack, end.Fault = false, r.fault
		if c.Task.Attempts >= c.Task.MaxAttempts {
			x.of(c).ErrorContext(ctx, "task failed", "error_level", string(r.fault.Level), "code", r.fault.Code, "path", r.fault.Path, "reason", r.fault.Text)
			return patra.Closing{Status: patra.Failed, Fault: r.fault}, Event{Kind: EventFailed, Claim: c, Fault: r.fault}
		}
	}
	x.of(c).InfoContext(ctx, "run is held back, the task waits", "code", h.Code, "seconds", end.RetryIn.Seconds())
	return end, Event{Kind: EventHeld, Claim: c, Hold: &h.Hold, Fault: end.Fault}
}
