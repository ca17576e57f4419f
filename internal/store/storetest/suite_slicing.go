package storetest

import (
	"errors"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// slicing: a plan gets its slices in several calls and ends READY or PARTIAL; PARTIAL ones are gone on with.
func slicing(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ctx, now := t.Context(), w.Clock.Instant()
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Origin + 9*patra.Day})
	add := func(from, n int) {
		t.Helper()
		c, _, _, err := w.Need(ctx, w.Cursor.ID)
		w.must(err)
		w.must(w.AddSlices(ctx, now, plan.ID, c.PlanVersion, Days(Origin+patra.Instant(from)*patra.Day, n), patra.TriggerManual, 5))
	}
	status := func(want patra.Status, slices, records int64) {
		t.Helper()
		p, err := w.Store.Plan(ctx, plan.ID)
		if err != nil || p.Status != want || p.SliceCount != slices || p.Records != records {
			t.Errorf("plan is %s with %d slices and %d records, want %s, %d, %d; %v", p.Status, p.SliceCount, p.Records, want, slices, records, err)
		}
	}
	add(1, 2)
	status(patra.Slicing, 2, 0)
	add(3, 1)
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Partial, Reason: patra.ReasonInventory, Records: 30, Warnings: patra.Problems{{Code: "A"}}}))
	status(patra.Partial, 3, 30)
	if ids, err := w.Unfinished(ctx, now-patra.Hour); err != nil || len(ids) != 1 || ids[0] != plan.ID {
		t.Errorf("unfinished: %v, %v", ids, err)
	}
	if got, err := w.Sliced(ctx, plan.ID); err != nil || len(got) != 1 || got[0] != (patra.Window{From: Origin + patra.Day, To: Origin + 4*patra.Day}) {
		t.Errorf("sliced: %v, %v", got, err)
	}
	add(4, 5)
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready, Records: 50, Warnings: patra.Problems{{Code: "B"}}}))
	status(patra.Ready, 8, 80)
	p, err := w.Store.Plan(ctx, plan.ID)
	if err != nil || string(p.Warnings) == "[]" || p.Reason != "" {
		t.Errorf("warnings %s, reason %q, %v", p.Warnings, p.Reason, err)
	}
	if err := w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("a plan that is READY ended again: %v", err)
	}
	if err := w.AddSlices(ctx, now, plan.ID, 99, Days(Origin, 1), patra.TriggerManual, 5); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("a plan that is READY got slices: %v", err)
	}
	if _, err := w.Store.Plan(ctx, 999); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("an unknown plan: %v", err)
	}
}

// pausing: what is queued waits, what comes into the queue later waits too, and resuming lets all of it go on.
func pausing(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	ctx, now := t.Context(), w.Clock.Instant()
	running := w.Take()
	w.must(second(w.Pause(ctx, patra.WorkTarget(patra.ScopeCursor, w.Cursor.ID), "a holiday", "me")))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d of a paused cursor was begun", c.TaskID)
	}
	if p, err := w.Paused(ctx, w.Cursor.ID); err != nil || !p {
		t.Errorf("paused: %v, %v", p, err)
	}
	// One that gives its task back does not sneak past the pause.
	w.must(w.Finish(ctx, running, now, patra.RunResult{Status: patra.Queued, GiveBack: true}))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d came back into the queue and was begun", c.TaskID)
	}
	// Neither do new ones.
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin + 3*patra.Day, To: Origin + 4*patra.Day})
	c, _, _, err := w.Need(ctx, w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(ctx, now, plan.ID, c.PlanVersion, Days(Origin+3*patra.Day, 1), patra.TriggerManual, 5))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d is new and was begun", c.TaskID)
	}
	// Neither do those that are queued again, and children.
	w.pausedBeyond()
	other, _ := w.AddPlan("other", "works", 1, 5)
	if c := w.TryTake(patra.ClaimRequest{}); c == nil || c.Task.CursorID != other.ID {
		t.Error("the others wait too")
	}
	w.must(second(w.Resume(ctx, patra.WorkTarget(patra.ScopeCursor, w.Cursor.ID), "", "me")))
	w.must(second(w.Resume(ctx, patra.WorkTarget(patra.ScopeCursor, w.Cursor.ID), "", "me")))
	for range 5 {
		c := w.Take()
		page, err := w.OpenAt(c, 1, c.Task.ScanNo, 1)
		w.must(err)
		_, err = w.Commit(c, page, false)
		w.must(err)
		w.must(w.Succeed(c, patra.StateSealed))
	}
	if got := w.Watermark(); got.Value != Origin+4*patra.Day {
		t.Errorf("watermark %s", got.Value)
	}
	if _, err := w.Pause(ctx, patra.WorkTarget(patra.ScopeCursor, 999), "", "me"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("an unknown cursor: %v", err)
	}
}

// pausedBeyond lets a task fail, another end early, and both come back while the cursor is paused.
func (w *World) pausedBeyond() {
	w.T.Helper()
	ctx, now := w.T.Context(), w.Clock.Instant()
	w.must(second(w.Resume(ctx, patra.WorkTarget(patra.ScopeCursor, w.Cursor.ID), "", "me")))
	bad, early := w.Take(), w.Take()
	w.must(second(w.Pause(ctx, patra.WorkTarget(patra.ScopeCursor, w.Cursor.ID), "", "me")))
	w.must(w.Finish(ctx, bad, now, patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}}))
	w.Page(early, 1, true)
	w.must(w.Finish(ctx, early, now, patra.RunResult{Status: patra.Partial, Early: &patra.EarlyEnd{ScanNo: 1, Order: patra.OrderNone, Reslice: patra.Reslice{Reason: patra.ResliceRequests}}}))
	before, _, _, err := w.Need(ctx, w.Cursor.ID)
	w.must(err)
	n, err := w.Retry(ctx, bad.Task.PlanID)
	w.must(err)
	after, _, _, err := w.Need(ctx, w.Cursor.ID)
	w.must(err)
	if n != 1 || after.PlanVersion == before.PlanVersion {
		w.T.Errorf("%d tasks are queued again, and a planner that read before need not notice: version %d, %d", n, before.PlanVersion, after.PlanVersion)
	}
	half := early.Slice.Window
	half.To = half.From + patra.Day/2
	rest := patra.Window{From: half.To, To: early.Slice.Window.To}
	parent := early.Slice
	parent.PlanID = early.Task.PlanID
	w.must(w.Split(ctx, now, parent, []patra.Slice{Stretch(half), Stretch(rest)}, patra.TriggerReslice, 5))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		w.T.Errorf("task %d was begun although its cursor is paused", c.TaskID)
	}
}

// past: what was read tells what to expect.
func past(t *testing.T, e Engine) {
	w := NewWorld(t, e, 4)
	ctx := t.Context()
	if d, err := w.History(ctx, "demo", "demo", "works", w.Plan.ExprProtoHash, w.Plan.Window); err != nil || d.Span != 0 {
		t.Errorf("history of nothing: %+v, %v", d, err)
	}
	partition := patra.Partition("demo", "works", patra.Harvest)
	if n, err := w.QueuedTasks(ctx, partition); err != nil || n != 4 {
		t.Errorf("stock %d, %v", n, err)
	}
	for range 2 {
		c := w.Take()
		w.Page(c, 1, false, w.Record("a"+c.Slice.Window.String(), c.Slice.Window.From, "x"), w.Record("b"+c.Slice.Window.String(), c.Slice.Window.From, "x"))
		w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, Trust: patra.TrustExact, State: patra.StateSealed, IDsSeen: 2}}))
	}
	d, err := w.History(ctx, "demo", "demo", "works", w.Plan.ExprProtoHash, w.Plan.Window)
	if err != nil || d.Records != 4 || d.Span != 2*patra.Day || d.Expected(patra.Window{From: 0, To: 10 * patra.Day}) != 20 {
		t.Errorf("history %+v, %v", d, err)
	}
	if d, err := w.History(ctx, "demo", "demo", "works", patra.Hash("another question"), w.Plan.Window); err != nil || d.Span != 0 {
		t.Errorf("history of another question: %+v, %v", d, err)
	}
	if n, err := w.QueuedTasks(ctx, partition); err != nil || n != 2 {
		t.Errorf("stock %d, %v", n, err)
	}
	for endpoint, want := range map[string]int64{"": 2, "works": 2, "others": 0} {
		if spoken, err := w.ReservedQuota(ctx, "demo", endpoint); err != nil || spoken[patra.Harvest].Slices != want || len(spoken) > 1 {
			t.Errorf("committed at %q: %+v, %v", endpoint, spoken, err)
		}
	}
	if got, err := w.PlannedWindow(ctx, w.Cursor.ID); err != nil || got != w.Plan.Window {
		t.Errorf("extent %s, %v", got, err)
	}
}

// fires: the same fire of the same job is accepted once, whoever comes first.
func fires(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	fire := func(log string) error {
		_, err := w.AcceptTrigger(t.Context(), w.Clock.Instant(), patra.Trigger{Scheduler: patra.SchedulerCron, JobID: "nightly", LogID: log, Trigger: patra.TriggerScheduled,
			TriggeredAt: w.Clock.Instant(), Params: []byte(`{}`), Source: "demo", Endpoint: "works", Operation: patra.Harvest})
		return err
	}
	if at, err := w.LastFire(t.Context(), "nightly"); err != nil || at != nil {
		t.Errorf("last fire %v, %v", at, err)
	}
	w.must(fire("one"))
	if err := fire("one"); !errors.Is(err, patra.ErrFired) {
		t.Errorf("the second time: %v", err)
	}
	w.Clock.Move(time.Hour)
	w.must(fire("two"))
	if at, err := w.LastFire(t.Context(), "nightly"); err != nil || at == nil || *at != w.Clock.Instant() {
		t.Errorf("last fire %v, %v", at, err)
	}
	if all, err := w.Triggers(t.Context(), store.Filter{Job: "nightly"}); err != nil || len(all) != 2 || all[0].LogID != "two" {
		t.Errorf("%+v, %v", all, err)
	}
}
