package cli

import (
	"io"
	"testing"

	"patra"
	"patra/internal/store/storetest"
)

// Between looking at what is left and asking whether somebody holds it back the last of it may end. Then nobody holds anything back:
// it is looked at once more, and what ended early is cut.
func TestWhatHasEndedIsNotHeldBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		w := storetest.NewWorld(t, e, 2)
		f := &foregroundRun{store: w.Store, plan: w.Plan, bar: &progress{out: io.Discard}}
		w.Work(w.Take(), w.Record("1", storetest.Origin, "x"))
		last := w.Take()
		if done, err := f.held(t.Context()); done || err != nil {
			t.Errorf("a task runs, and it is said that all are held back (%v)", err)
		}
		w.Work(last, w.Record("2", storetest.Origin, "x"))
		if done, err := f.held(t.Context()); done || f.left != "" || err != nil {
			t.Errorf("everything has ended, and %q is said (%v)", f.left, err)
		}
	})
}

// What a person holds back is waited for by nobody.
func TestWhatIsHeldBackIsNotWaitedFor(t *testing.T) {
	w := storetest.NewWorld(t, storetest.Engines()[0], 1)
	f := &foregroundRun{store: w.Store, plan: w.Plan, bar: &progress{out: io.Discard}}
	task := w.Take()
	if _, err := w.Pause(t.Context(), patra.WorkTarget(patra.ScopeTask, task.TaskID), "", "me"); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), task, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}); err != nil {
		t.Fatal(err)
	}
	if done, err := f.held(t.Context()); !done || f.left != patra.ReasonPaused || err != nil {
		t.Errorf("%v, %q, %v", done, f.left, err)
	}
}
