package executor

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/source"
)

// closeTime is how long a run that is told to stop may take to give its task back.
const closeTime = 10 * time.Second

// retryTask is how long a task rests after a run of it failed.
var retryTask = source.Backoff{Initial: source.Duration(2 * time.Second), Max: source.Duration(2 * time.Minute), Factor: 2, Jitter: 0.2}

// close ends the run as its walk ended: proved, lost to another worker, interrupted, or failed.
func (x *Executor) close(ctx context.Context, c *patra.Claim, r *run, walked error) error {
	working, interrupted := ctx, ctx.Err() != nil
	// The store is still there when we are told to stop: a task that is given back can be taken at once. Only then is
	// there a hurry; a process that was asleep for a minute must not wake up to a deadline that is long past.
	ctx = context.WithoutCancel(ctx)
	if interrupted {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, closeTime)
		defer cancel()
	}
	x.abandonProbe(ctx, c, r)
	if errors.Is(walked, patra.ErrLeaseLost) {
		x.lost(ctx, c)
		return nil
	}
	end, event := x.ending(ctx, c, r, walked, interrupted)
	endedSpan(ctx, end)
	x.judgeEndpoint(ctx, c, r, end)
	x.exhausted(ctx, c, walked)
	err := x.finish(ctx, working, c, end)
	if errors.Is(err, patra.ErrLookAgain) {
		// The last two parts of a window closed at the same moment, and neither run knew that it was the last. Whoever takes
		// this one next knows.
		x.runLogger(c).InfoContext(ctx, "the parts of a window do not add up to the whole, and the last is read again", "window", c.Slice.Window.String(), "reason", err.Error())
		end, event = patra.RunResult{Status: patra.Queued, GiveBack: true}, Event{Kind: EventReleased, Claim: c, Fault: disputed}
		err = x.finish(ctx, working, c, end)
	}
	if errors.Is(err, patra.ErrLeaseLost) {
		x.lost(ctx, c)
		return nil
	}
	if err == nil {
		x.logReleased(ctx, c, end)
		x.emit(event)
	}
	if lost, ok := errors.AsType[*evidenceError](walked); ok && err == nil && !interrupted {
		return lost
	}
	if errors.Is(walked, patra.ErrDamaged) && err == nil && !interrupted && !x.Config.Outlast { // the next page may meet the same
		return walked
	}
	if newer, ok := errors.AsType[*newerVersionError](walked); ok && err == nil && !interrupted && !x.Config.Outlast { // somebody waits, and in vain
		return newer
	}
	return err
}

func (x *Executor) lost(ctx context.Context, c *patra.Claim) {
	failedSpan(trace.SpanFromContext(ctx), patra.ErrLeaseLost)
	x.runLogger(c).WarnContext(ctx, "another worker has taken the task over; this run wrote nothing more", "lease_owner", c.Owner, "fence", c.Fence)
	x.emit(Event{Kind: EventLost, Claim: c})
}

// ending decides what becomes of the task.
func (x *Executor) ending(ctx context.Context, c *patra.Claim, r *run, walked error, interrupted bool) (patra.RunResult, Event) {
	if walked == nil {
		return patra.RunResult{Status: patra.Succeeded, Proof: r.proof}, Event{Kind: EventDone, Claim: c, State: r.proof.State}
	}
	if early, ok := errors.AsType[*earlyEndError](walked); ok {
		end := r.partial(early)
		x.runLogger(c).InfoContext(ctx, "slice was left before its end, and waits to be cut", "reason", early.reason, "window", c.Slice.Window.String(), "confirmed", end.Early.Confirmed.String())
		return end, Event{Kind: EventPartial, Claim: c, Reslice: &end.Early.Reslice}
	}
	if held, ok := errors.AsType[*heldError](walked); ok {
		return x.heldBack(ctx, c, r, held)
	}
	if quota, ok := errors.AsType[*patra.QuotaError](walked); ok {
		return x.deferred(ctx, c, quota)
	}
	if interrupted {
		return patra.RunResult{Status: patra.Queued, GiveBack: true}, Event{Kind: EventReleased, Claim: c}
	}
	fault := patra.AsFault(walked)
	if _, ok := errors.AsType[*evidenceError](walked); ok {
		fault = &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNotKept, Path: "evidence.url", Text: walked.Error(), Err: walked}
		return patra.RunResult{Status: patra.Queued, GiveBack: true, Fault: fault, WaitCode: "SCHEDULED"}, Event{Kind: EventReleased, Claim: c, Fault: fault}
	}
	if _, ok := errors.AsType[*newerVersionError](walked); ok {
		fault = &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeNewer, Path: "task", Text: walked.Error(), Err: walked}
		x.runLogger(c).WarnContext(ctx, "the task is left to another version of the program", "code", fault.Code, "reason", fault.Text, "next", "Stop the older one of the two programs")
		return patra.RunResult{Status: patra.Queued, GiveBack: true, Fault: fault, RetryIn: leaveFor, WaitCode: "SCHEDULED"}, Event{Kind: EventReleased, Claim: c, Fault: fault}
	}
	damaged := errors.Is(walked, patra.ErrDamaged)
	if damaged && x.Config.Outlast { // it does not heal by itself: whoever goes on asks the provider in vain, and not for ever
		fault.Level = patra.LevelRetry
	} else if damaged || errors.Is(walked, patra.ErrUnavailable) { // nobody's fault: the task keeps its attempts
		x.runLogger(c).WarnContext(ctx, "the store could not be used, the task is tried again later", "reason", fault.Text)
		return patra.RunResult{Status: patra.Queued, GiveBack: true, Fault: fault, RetryIn: backoff(retryTask, 1), WaitCode: "SCHEDULED"}, Event{Kind: EventReleased, Claim: c, Fault: fault}
	}
	if fault.Level == patra.LevelRetry && (c.Task.Attempts < c.Task.MaxAttempts || r.progress) {
		x.runLogger(c).WarnContext(ctx, "run failed, the task is tried again later", "error_level", string(fault.Level), "code", fault.Code, "reason", fault.Text)
		return patra.RunResult{Status: patra.Queued, Fault: fault, RetryIn: backoff(retryTask, int(c.Task.Attempts)), WaitCode: "SCHEDULED", Progress: r.progress},
			Event{Kind: EventReleased, Claim: c, Fault: fault}
	}
	x.runLogger(c).ErrorContext(ctx, "task failed", "error_level", string(fault.Level), "code", fault.Code, "path", fault.Path, "reason", fault.Text)
	return patra.RunResult{Status: patra.Failed, Fault: fault}, Event{Kind: EventFailed, Claim: c, Fault: fault}
}
