package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"patra"
	"patra/internal/egress"
)

// Controls say whether a request may be sent, and learn how it went. They are shared by all processes: what one of them
// learns holds for all. A run asks before every request and hears at once of a pause, a halt, an open breaker or that its
// task was called off. Hold may tell the caller to try an open breaker, Held never does. A report that fails is no reason
// to lose a page: it is logged.
type Controls interface {
	Admit(ctx context.Context, at patra.WorkScope) (patra.Admission, error)
	PeekAdmission(ctx context.Context, at patra.WorkScope) (patra.Admission, error)
	RecordFailure(ctx context.Context, at patra.WorkScope, rule patra.BreakerRule, f patra.EndpointFailure, fault patra.Fault) (patra.ControlChange, error)
	RecordSuccess(ctx context.Context, at patra.WorkScope, probe int64) (patra.ControlChange, error)
	AbandonProbe(ctx context.Context, at patra.WorkScope, probe int64) (patra.ControlChange, error)
	Halt(ctx context.Context, at patra.WorkScope, fault patra.Fault) (patra.ControlChange, error)
	RecordSliceFailure(ctx context.Context, at patra.WorkScope, window string, fault patra.Fault) (patra.ControlChange, error)
	RecordSliceSuccess(ctx context.Context, at patra.WorkScope) (patra.ControlChange, error)
	QuotaExhausted(ctx context.Context, at patra.WorkScope, e patra.QuotaError) (patra.ControlChange, error)
	Limits
}

// admissionState is what a run knows of the controls.
type admissionState struct {
	hold   patra.Admission // what the last request was told
	tried  bool            // this run tried a half-open breaker
	fault  *patra.Fault    // the last failure that a breaker counted
	doubt  bool            // slices of the endpoint that failed are counted
	gentle bool            // the breaker still grows more patient: a try that failed is nobody's fault
}

// heldError is why a run stops before a request.
type heldError struct{ patra.Admission }

// Error implements error.
func (h *heldError) Error() string { return "held back: " + h.Code }

// admitRequest asks whether a request may be sent. It is asked last of all, after the gate: who waited there for long must hear
// of what happened meanwhile.
func (r *run) admitRequest(ctx context.Context) (hold patra.Admission, err error) {
	if r.Controls == nil {
		return hold, nil
	}
	at := r.claim.WorkScope()
	if hold, err = r.Controls.Admit(ctx, at); err != nil {
		return hold, err
	}
	if !hold.Allowed() {
		return patra.Admission{}, &heldError{hold}
	}
	if hold.Probe != 0 {
		r.logControlChange(ctx, patra.ControlChange{Healing: &patra.Healing{TaskID: at.TaskID, Source: at.Source, Endpoint: at.Endpoint, Operation: at.Operation, Action: patra.HealHalfOpen, Reason: patra.WaitBreaker}}, nil)
	}
	if hold.Rise {
		change, err := r.Controls.RaiseConcurrency(ctx, at)
		r.logControlChange(ctx, change, err)
	}
	return hold, nil
}

// noteAdmission keeps what a request was told, when its answer is there: the one after it may be on its way already.
func (r *run) noteAdmission(hold patra.Admission) {
	r.hold, r.doubt = hold, hold.Doubt
	r.tried = r.tried || hold.Probe != 0
}

// abandonProbe gives a try of a breaker back that nobody heard of: the request was never sent, or its answer was lost with the
// run. Everybody else would wait for it for patra.ProbeTime.
func (x *Executor) abandonProbe(ctx context.Context, c *patra.Claim, r *run) {
	if x.Controls == nil || r.hold.Probe == 0 {
		return
	}
	change, err := x.Controls.AbandonProbe(ctx, c.WorkScope(), r.hold.Probe)
	r.hold.Probe = 0
	x.done(ctx, c, change, err)
}

// admitProbe asks whether a count may be asked for. It never tries an open breaker: nobody would hear how that went.
func (r *run) admitProbe(ctx context.Context) error {
	if r.Controls == nil {
		return nil
	}
	hold, err := r.Controls.PeekAdmission(ctx, r.claim.WorkScope())
	if err == nil && !hold.Allowed() {
		err = &heldError{hold}
	}
	return err
}

// reportSuccess tells the controls of a page that came: only those that have something to forget.
func (r *run) reportSuccess(ctx context.Context, x patra.Exchange) {
	if r.Controls == nil {
		return
	}
	r.fault = nil
	r.reportAnswered(ctx)
	r.measure(ctx, x)
}

// reportAnswered tells a breaker that counts failures, or that this run tries, that the endpoint answers.
func (r *run) reportAnswered(ctx context.Context) {
	at := r.claim.WorkScope()
	r.answersAt(at).Add(1)
	_, uneasy := r.uneasy.LoadAndDelete(at.EndpointTarget().Key)
	if probe := r.hold.Probe; probe != 0 || r.hold.Watch || uneasy {
		change, err := r.Controls.RecordSuccess(ctx, at, probe)
		r.logControlChange(ctx, change, err)
	}
	r.hold.Probe, r.hold.Watch = 0, false
}

// answersAt counts what an endpoint has answered since its breaker last heard of a failure. Ordinary answers are not written down.
func (x *Executor) answersAt(at patra.WorkScope) *atomic.Int64 {
	n, _ := x.answered.LoadOrStore(at.EndpointTarget().Key, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// reportFailure tells the controls of a request that gave no page. If that opened a breaker, or it was open already, the run
// ends here instead of asking again.
func (r *run) reportFailure(ctx context.Context, failed *pageError) error {
	if r.Controls == nil {
		return nil
	}
	at, fault := r.claim.WorkScope(), failed.fault
	if fault.Code == patra.CodeRateLimited {
		r.slowedDown(ctx, at, failed)
	}
	if !fault.Counts() {
		r.reportAnswered(ctx)
		return nil
	}
	rule := r.program.Spec.Breaker.Rule()
	met := patra.EndpointFailure{Probe: r.hold.Probe, Answered: r.answersAt(at).Swap(0), Unreached: egress.Unreached(fault.Err), Dice: rand.Float64()}
	change, err := r.Controls.RecordFailure(ctx, at, rule, met, *fault)
	r.uneasy.Store(at.EndpointTarget().Key, true)
	r.hold.Probe, r.fault, r.gentle = 0, fault, change.Was.Breaker().WillBackOffLonger(rule)
	r.logControlChange(ctx, change, err)
	if err == nil && !change.Hold.Allowed() {
		return &heldError{change.Hold}
	}
	return nil
}

// slowedDown keeps that the provider asked us to slow down, and lets fewer tasks run when it does so again and again.
func (r *run) slowedDown(ctx context.Context, at patra.WorkScope, failed *pageError) {
	r.heal(ctx, patra.HealCooldown, failed.fault.Code, map[string]any{"retry_after_seconds": failed.retryAfter.Seconds(), "text": failed.fault.Text})
	if of := r.partitionLimit(); of > 1 {
		change, err := r.Controls.RecordThrottle(ctx, at, of)
		r.logControlChange(ctx, change, err)
	}
}

// logControlChange says what a control did, if it did anything.
func (r *run) logControlChange(ctx context.Context, change patra.ControlChange, err error) {
	r.Executor.done(ctx, r.claim, change, err)
}

func (x *Executor) done(ctx context.Context, c *patra.Claim, change patra.ControlChange, err error) {
	if err != nil {
		x.runLogger(c).WarnContext(ctx, "a control could not be reached", "reason", err.Error())
		return
	}
	if change.Healing != nil {
		x.healed(ctx, c, change.Healing)
	}
}

// judgeEndpoint lets the endpoint know how a slice ended: one that succeeds clears it of those that failed by strange answers before.
func (x *Executor) judgeEndpoint(ctx context.Context, c *patra.Claim, r *run, end patra.RunResult) {
	f := end.Fault
	switch {
	case x.Controls == nil:
	case end.Status == patra.Succeeded && r.doubt:
		change, err := x.Controls.RecordSliceSuccess(ctx, c.WorkScope())
		x.done(ctx, c, change, err)
	case end.Status == patra.Failed && f != nil && f.Level == patra.LevelRequest && f.IsStrange():
		change, err := x.Controls.RecordSliceFailure(ctx, c.WorkScope(), c.Slice.Spec.Signature(), *f)
		x.done(ctx, c, change, err)
	default:
		x.halt(ctx, c, end)
	}
}

// halt stops an endpoint whose answers only a person can mend. A defect of ours is not the endpoint's.
func (x *Executor) halt(ctx context.Context, c *patra.Claim, end patra.RunResult) {
	f := end.Fault
	if end.Status != patra.Failed || f == nil || f.Level != patra.LevelFatal || f.Code == patra.CodeInternal {
		return
	}
	change, err := x.Controls.Halt(ctx, c.WorkScope(), *f)
	x.done(ctx, c, change, err)
}

// exhausted makes everybody wait for a quota that a run has found used up: else each task would be taken only to find
// the same.
func (x *Executor) exhausted(ctx context.Context, c *patra.Claim, walked error) {
	e, ok := errors.AsType[*patra.QuotaError](walked)
	if !ok || x.Controls == nil {
		return
	}
	change, err := x.Controls.QuotaExhausted(ctx, c.WorkScope(), *e)
	x.done(ctx, c, change, err)
}

// deferred is the end of a run that met a quota that is used up: the task is given back, nobody is to blame, and it is due
// when the quota begins anew.
func (x *Executor) deferred(ctx context.Context, c *patra.Claim, e *patra.QuotaError) (patra.RunResult, Event) {
	end := patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitQuota, RetryIn: e.Defer(rand.Float64())}
	x.runLogger(c).InfoContext(ctx, "the quota is used up, the task waits", "reason", e.Error(), "seconds", end.RetryIn.Seconds())
	return end, Event{Kind: EventHeld, Claim: c, Hold: &patra.Admission{Code: patra.WaitQuota, Wait: end.RetryIn}}
}

// heldBack is the end of a run that something holds back: the task is given back at once, and nobody is to blame. Only the
// run that met the failures has used up an attempt; and one that tried an open breaker, once that has become as patient as
// it can. Without the last, a lone task that cannot succeed would be tried for ever.
func (x *Executor) heldBack(ctx context.Context, c *patra.Claim, r *run, h *heldError) (patra.RunResult, Event) {
	if h.Code == patra.HoldCancelled {
		x.runLogger(c).InfoContext(ctx, "task was called off")
		return patra.RunResult{Status: patra.Cancelled}, Event{Kind: EventCancelled, Claim: c}
	}
	end := patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: h.Code, RetryIn: max(h.Wait, 0)}
	if h.Code == patra.WaitBreaker && r.fault != nil && !(r.tried && r.gentle) {
		end.GiveBack, end.Progress, end.Fault = false, r.progress, r.fault
		if c.Task.Attempts >= c.Task.MaxAttempts && !r.progress {
			x.runLogger(c).ErrorContext(ctx, "task failed", "error_level", string(r.fault.Level), "code", r.fault.Code, "path", r.fault.Path, "reason", r.fault.Text)
			return patra.RunResult{Status: patra.Failed, Fault: r.fault}, Event{Kind: EventFailed, Claim: c, Fault: r.fault}
		}
	}
	x.runLogger(c).InfoContext(ctx, "run is held back, the task waits", "code", h.Code, "seconds", end.RetryIn.Seconds())
	return end, Event{Kind: EventHeld, Claim: c, Hold: &h.Admission, Fault: end.Fault}
}
