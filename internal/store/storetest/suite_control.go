package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// outage is what a provider that does not answer looks like.
var outage = patra.Fault{Level: patra.LevelRetry, Code: patra.CodeHTTP, Status: 503, Text: "out of order"}

var breakerRule = patra.BreakerRule{Failures: 3, Shortest: time.Minute, Longest: 2 * time.Minute}

func target(t *testing.T, text string) patra.Target {
	t.Helper()
	found, err := patra.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (w *World) place() patra.WorkScope {
	return patra.WorkScope{Source: "demo", Endpoint: "works", Operation: patra.Harvest}
}

// taken claims a task of a source, if one is handed out.
func (w *World) taken(source string) *patra.Claim {
	w.T.Helper()
	for turn := range uint64(8) {
		c := w.TryTake(patra.ClaimRequest{Turn: turn})
		if c == nil {
			continue
		}
		if c.Task.Source == source {
			return c
		}
		w.must(w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
	}
	return nil
}

func (w *World) hold(c *patra.Claim) patra.Admission {
	w.T.Helper()
	h, err := w.Admit(w.T.Context(), c.WorkScope())
	w.must(err)
	return h
}

func (w *World) healed(action string) int {
	w.T.Helper()
	all, err := w.Healings(w.T.Context(), "demo", 0, 100)
	w.must(err)
	n := 0
	for _, h := range all {
		if h.Action == action {
			n++
		}
	}
	return n
}

func pausedPlaces(t *testing.T, e Engine) {
	for _, at := range []string{"demo", "demo/works", "demo/works/HARVEST", "demo/*/HARVEST"} {
		t.Run(at, func(t *testing.T) {
			w := NewWorld(t, e, 3)
			w.AddPlan("other", "works", 1, 5)
			w.Clock.Move(time.Second)
			running := w.taken("demo")
			st, err := w.Pause(t.Context(), target(t, at), "a holiday", "me")
			w.must(err)
			if st.Queued != 2 || st.Running != 1 || len(st.Changed) != 1 {
				t.Errorf("paused %+v", st)
			}
			if h := w.hold(running); h.Code != patra.WaitPaused || h.Control.Actor != "me" || h.Control.Reason != "a holiday" || h.Control.Detail.Since == 0 {
				t.Errorf("a run is told %+v", h)
			}
			w.must(w.Finish(t.Context(), running, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitPaused}))
			if c := w.taken("demo"); c != nil {
				t.Errorf("task %d of a paused place was begun", c.TaskID)
			}
			if w.taken("other") == nil {
				t.Error("the others wait too")
			}
			if all, err := w.Controls(t.Context()); err != nil || len(all) != 1 || all[0].Target.String() != at {
				t.Errorf("in force: %+v, %v", all, err)
			}
			st, err = w.Resume(t.Context(), target(t, at), "", "me")
			w.must(err)
			if st.Queued != 3 || len(st.Changed) != 1 || st.Changed[0].State != patra.Paused {
				t.Errorf("resumed %+v", st)
			}
			if c := w.taken("demo"); c == nil || !w.hold(c).Allowed() {
				t.Error("it does not go on")
			}
			if all, err := w.Controls(t.Context()); err != nil || len(all) != 0 {
				t.Errorf("still in force: %+v, %v", all, err)
			}
		})
	}
}

func pausedWork(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	ctx := t.Context()
	first := w.Take()
	plan, task := patra.WorkTarget(patra.ScopePlan, w.Plan.ID), patra.WorkTarget(patra.ScopeTask, first.TaskID)
	w.must(second(w.Pause(ctx, task, "", "me")))
	if h := w.hold(first); h.Code != patra.WaitPaused {
		t.Errorf("a paused task goes on: %+v", h)
	}
	w.must(w.Finish(ctx, first, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true}))
	if c := w.Take(); c.TaskID == first.TaskID {
		t.Error("a paused task was begun")
	}
	w.must(second(w.Pause(ctx, plan, "", "me")))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d of a paused plan was begun", c.TaskID)
	}
	// Two pauses are two: the end of one does not end the other.
	w.must(second(w.Resume(ctx, plan, "", "me")))
	if c := w.Take(); c.TaskID == first.TaskID {
		t.Error("a task that is paused itself was begun")
	}
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was begun", c.TaskID)
	}
	if moving, held, err := w.ActiveTasks(ctx, plan); err != nil || moving != 2 || held != 1 {
		t.Errorf("%d tasks move, %v", moving, err)
	}
	w.must(second(w.Resume(ctx, patra.WorkTarget(patra.ScopeSlice, first.Slice.ID), "", "me"))) // nothing holds the slice
	if w.Task(first.TaskID).WaitCode != patra.WaitPaused {
		t.Error("the end of another pause let it go on")
	}
	w.must(second(w.Resume(ctx, task, "", "me")))
	if c := w.Take(); c.TaskID != first.TaskID {
		t.Error("another task than the one that was let go on")
	}
	for _, missing := range []string{"plan:999", "slice:999", "task:999", "cursor:999"} {
		for what, err := range map[string]error{
			"pause": second(w.Pause(ctx, target(t, missing), "", "me")), "resume": second(w.Resume(ctx, target(t, missing), "", "me")),
			"retry": second(w.RetryTarget(ctx, target(t, missing), "", "me")), "prioritise": second(w.Prioritise(ctx, target(t, missing), 1, "me")),
		} {
			if !errors.Is(err, patra.ErrNotFound) {
				t.Errorf("%s %s: %v", what, missing, err)
			}
		}
	}
}

func breaking(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	ctx, at := t.Context(), w.place()
	c := w.Take()
	fail := func(probe int64) patra.ControlChange {
		ch, err := w.RecordFailure(ctx, at, breakerRule, patra.EndpointFailure{Probe: probe}, outage)
		w.must(err)
		return ch
	}
	fail(0)
	if h := w.hold(c); !h.Allowed() || !h.Watch {
		t.Errorf("after one failure: %+v", h)
	}
	w.must(second(w.RecordSuccess(ctx, at, 0)))
	if h := w.hold(c); !h.Allowed() || h.Watch {
		t.Errorf("after an answer: %+v", h)
	}
	fail(0)
	fail(0)
	if ch := fail(0); ch.Is.State != patra.Open || ch.Healing == nil || ch.Hold.Wait != time.Minute {
		t.Errorf("after three in a row: %+v", ch)
	}
	if h := w.hold(c); h.Code != patra.WaitBreaker || h.Wait != time.Minute || h.Control.Detail.Fault.Status != 503 {
		t.Errorf("while it is open: %+v", h)
	}
	w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitBreaker, RetryIn: time.Hour}))
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was handed out", c.TaskID)
	}
	w.Clock.Move(time.Minute)
	try := w.Take()
	probe := w.hold(try)
	if !probe.Allowed() || probe.Probe == 0 {
		t.Errorf("nobody may try: %+v", probe)
	}
	if h := w.hold(try); h.Allowed() || h.Wait > patra.HalfOpenRest {
		t.Errorf("a second one may try: %+v", h)
	}
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was handed out while one tries", c.TaskID)
	}
	if ch := fail(0); ch.Is.State != patra.HalfOpen {
		t.Error("one that was sent before decides")
	}
	if ch := fail(probe.Probe); ch.Is.State != patra.Open || ch.Hold.Wait != 2*time.Minute {
		t.Errorf("a try that failed: %+v", ch)
	}
	w.Clock.Move(2 * time.Minute)
	probe = w.hold(try)
	w.Clock.Move(patra.ProbeTime) // whoever tried is gone
	again := w.hold(try)
	if again.Probe == 0 || again.Probe == probe.Probe {
		t.Errorf("a lost try is not made again: %+v", again)
	}
	if ch := second2(w.RecordSuccess(ctx, at, probe.Probe)); ch.Is.State != patra.HalfOpen {
		t.Error("one that was given up decides")
	}
	if ch := second2(w.AbandonProbe(ctx, at, probe.Probe)); ch.Is.State != patra.HalfOpen {
		t.Errorf("a try that was given up for lost was given back: %+v", ch.Is)
	}
	if ch := second2(w.AbandonProbe(ctx, at, again.Probe)); ch.Is.State != patra.Open {
		t.Errorf("after a try that was given back: %+v", ch.Is)
	}
	if again = w.hold(c); !again.Allowed() || again.Probe == 0 {
		t.Errorf("nobody may try after one who did not: %+v", again)
	}
	if ch := second2(w.RecordSuccess(ctx, at, again.Probe)); ch.Is.State != patra.Closed || ch.Healing == nil {
		t.Errorf("a try that was answered: %+v", ch)
	}
	if task := w.Task(c.TaskID); task.WaitCode != "" || task.ScheduledAt > w.Clock.Instant() {
		t.Errorf("what waited for it is still held back: %+v", task)
	}
	for action, n := range map[string]int{patra.HealOpen: 2, patra.HealHalfOpen: 4, patra.HealClose: 1} {
		if got := w.healed(action); got != n {
			t.Errorf("%d rows of %s, want %d", got, action, n)
		}
	}
	// A person can close it too.
	fail(0)
	fail(0)
	fail(0)
	st, err := w.Resume(ctx, target(t, "demo"), "", "me")
	if err != nil || len(st.Changed) != 1 || st.Changed[0].Kind != patra.KindBreaker || !w.hold(try).Allowed() {
		t.Errorf("resumed: %+v, %v", st, err)
	}
}

// breakerHeir: whoever takes over the task of a process that was lost while it tried a breaker tries in its place. Everybody else
// waits for the two of them.
func breakerHeir(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	first, other := w.Take(), w.Take()
	for range 3 {
		w.must(second(w.RecordFailure(t.Context(), w.place(), breakerRule, patra.EndpointFailure{}, outage)))
	}
	w.Clock.Move(time.Minute)
	lost := w.hold(first)
	if lost.Probe == 0 {
		t.Fatalf("nobody may try: %+v", lost)
	}
	if h := w.hold(first); h.Allowed() {
		t.Errorf("the same run may try twice: %+v", h)
	}
	w.must(w.Heartbeat(t.Context(), other.Lease))
	w.Clock.Move(Lease - time.Second) // since it was taken, the first has said nothing
	heir := w.Take()
	if heir.TaskID != first.TaskID {
		t.Fatalf("task %d was taken over, want %d", heir.TaskID, first.TaskID)
	}
	if h := w.hold(other); h.Allowed() {
		t.Errorf("somebody else may try: %+v", h)
	}
	tries := w.hold(heir)
	if tries.Probe == 0 || tries.Probe == lost.Probe {
		t.Fatalf("whoever took the task over waits for one who is lost: %+v", tries)
	}
	if h := w.hold(first); h.Allowed() {
		t.Errorf("one who was lost may try again: %+v", h)
	}
	if ch := second2(w.RecordSuccess(t.Context(), w.place(), lost.Probe)); ch.Is.State != patra.HalfOpen {
		t.Errorf("one who was lost decides: %+v", ch.Is)
	}
	if ch := second2(w.RecordSuccess(t.Context(), w.place(), tries.Probe)); ch.Is.State != patra.Closed || ch.Is.Detail.Prober != (patra.BreakerProbe{}) {
		t.Errorf("after an answer: %+v", ch.Is)
	}
}

func second2[T any](v T, _ error) T { return v }

// oneTries: of all who ask at the same moment, from several connections, one may try.
func oneTries(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	other := e.Connect(t, w.URL, store.WithClock(w.Clock.Now))
	at := w.place()
	for range 3 {
		w.must(second(w.RecordFailure(t.Context(), at, breakerRule, patra.EndpointFailure{}, outage)))
	}
	w.Clock.Move(3 * time.Minute)
	var may atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			s := w.Store
			if i%2 == 0 {
				s = other
			}
			h, err := s.Admit(t.Context(), at)
			if err != nil {
				t.Error(err)
			}
			if h.Allowed() {
				may.Add(1)
			}
		})
	}
	wg.Wait()
	if n := may.Load(); n != 1 {
		t.Errorf("%d may try", n)
	}
	if n := w.healed(patra.HealHalfOpen); n != 1 {
		t.Errorf("%d rows", n)
	}
}

func halting(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	w.AddPlan("demo", "members", 1, 5)
	ctx := t.Context()
	fatal := patra.Fault{Level: patra.LevelFatal, Code: patra.CodeHTTP, Status: 401, Text: "who are you?"}
	c := w.taken("demo")
	for c.Task.Endpoint != "works" {
		c = w.taken("demo")
	}
	ch, err := w.Halt(ctx, c.WorkScope(), fatal)
	if err != nil || ch.Healing == nil {
		t.Fatalf("%+v, %v", ch, err)
	}
	later := fatal
	later.Text = "another"
	if ch, err := w.Halt(ctx, c.WorkScope(), later); err != nil || ch.Healing != nil || ch.Is.Detail.Fault.Text != fatal.Text {
		t.Errorf("the first fault is not kept: %+v, %v", ch, err)
	}
	w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &fatal}))
	w.Clock.Move(24 * time.Hour) // it does not end by itself
	for range 4 {
		if c := w.TryTake(patra.ClaimRequest{}); c != nil && c.Task.Endpoint == "works" {
			t.Errorf("task %d of a halted endpoint was begun", c.TaskID)
		}
	}
	h, err := w.PeekAdmission(ctx, w.place())
	if err != nil || h.Code != patra.WaitHalted {
		t.Errorf("held: %+v, %v", h, err)
	}
	st, err := w.Resume(ctx, target(t, "demo/works"), "a new key", "me")
	if err != nil || st.Revived != 1 || len(st.Changed) != 1 || st.Changed[0].Kind != patra.KindHalt {
		t.Errorf("resumed: %+v, %v", st, err)
	}
	for range 3 {
		if c := w.taken("demo"); c == nil || !w.hold(c).Allowed() {
			t.Fatal("it does not go on")
		}
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// Slices that fail by strange answers halt their endpoint together, and are queued again together when a person ends that.
func haltedByWindows(t *testing.T, e Engine) {
	w := NewWorld(t, e, 4)
	ctx := t.Context()
	elsewhere := patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 302, Text: "elsewhere"}
	fail := func() (patra.ControlChange, error) {
		c := w.taken("demo")
		ch, err := w.RecordSliceFailure(ctx, c.WorkScope(), c.Slice.Spec.Signature(), elsewhere)
		w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &elsewhere}))
		return ch, err
	}
	for n := range int64(2) {
		if ch, err := fail(); err != nil || ch.Healing != nil || ch.Is.State != patra.Running || ch.Is.Failures != n+1 {
			t.Fatalf("%+v, %v", ch, err)
		}
	}
	if h, err := w.PeekAdmission(ctx, w.place()); err != nil || !h.Allowed() || !h.Doubt {
		t.Errorf("held: %+v, %v", h, err)
	}
	if in, err := w.Controls(ctx); err != nil || len(in) > 0 {
		t.Errorf("what is only counted holds something back: %+v, %v", in, err)
	}
	w.Clock.Move(24 * time.Hour) // however long ago they failed
	ch, err := fail()
	if err != nil || ch.Healing == nil || ch.Healing.Action != patra.HealHalt || ch.Is.State != patra.Halted || len(ch.Is.Detail.Failed) != patra.HaltAfter {
		t.Fatalf("%+v, %v", ch, err)
	}
	if h, err := w.PeekAdmission(ctx, w.place()); err != nil || h.Code != patra.WaitHalted {
		t.Errorf("held: %+v, %v", h, err)
	}
	if failed, err := w.FailedBeside(ctx, "demo"); err != nil || failed.Count > 0 {
		t.Errorf("they are told twice: %+v, %v", failed, err)
	}
	if ch, err := w.RecordSliceSuccess(ctx, w.place()); err != nil || ch.Is.State != patra.Halted {
		t.Errorf("a success ends a halt: %+v, %v", ch, err)
	}
	if st, err := w.Resume(ctx, target(t, "demo/works"), "moved", "me"); err != nil || st.Revived != patra.HaltAfter || len(st.Changed) != 1 {
		t.Errorf("resumed: %+v, %v", st, err)
	}
	if ch, err := fail(); err != nil || ch.Is.Failures != 1 {
		t.Errorf("what was before the halt counts after it: %+v, %v", ch, err)
	}
	if ch, err := w.RecordSliceSuccess(ctx, w.place()); err != nil || ch.Is.Failures != 0 || len(ch.Is.Detail.Failed) > 0 || ch.Is.Detail.Fault != nil {
		t.Errorf("%+v, %v", ch, err)
	}
	if h, err := w.PeekAdmission(ctx, w.place()); err != nil || h.Doubt {
		t.Errorf("held: %+v, %v", h, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// What somebody called off stays called off, also if it had failed because of a halt; and a pause that is said twice keeps its
// reason.
func calledOffForGood(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	ctx := t.Context()
	fatal := patra.Fault{Level: patra.LevelFatal, Code: patra.CodeAuth, Status: 401, Text: "who are you?"}
	c := w.Take()
	w.must(second(w.Halt(ctx, c.WorkScope(), fatal)))
	w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &fatal}))
	w.must(second(w.Cancel(ctx, patra.WorkTarget(patra.ScopePlan, w.Plan.ID), "", "me")))
	if st, err := w.Resume(ctx, target(t, "demo/works"), "", "me"); err != nil || st.Revived != 0 || st.Queued != 0 {
		t.Errorf("resumed: %+v, %v", st, err)
	}
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d of a cancelled plan was begun", c.TaskID)
	}
	w.must(second(w.Pause(ctx, target(t, "demo"), "a holiday", "me")))
	w.must(second(w.Pause(ctx, target(t, "demo"), "", "you")))
	all, err := w.Controls(ctx)
	if err != nil || len(all) != 1 || all[0].Reason != "a holiday" || all[0].Actor != "me" {
		t.Errorf("%+v, %v", all, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func limits(t *testing.T, e Engine) {
	w := NewWorld(t, e, 8)
	w.Clock.Move(time.Second)
	ctx, at := t.Context(), w.place()
	for range patra.RefusalsEnough - 1 {
		if ch, err := w.RecordThrottle(ctx, at, 4); err != nil || ch.Is.State != patra.Free {
			t.Fatalf("%+v, %v", ch, err)
		}
		w.Clock.Move(time.Minute)
	}
	ch, err := w.RecordThrottle(ctx, at, 4)
	if err != nil || ch.Is.Detail.Limit != 3 || ch.Healing == nil || ch.Healing.Action != patra.HealDownshift {
		t.Fatalf("%+v, %v", ch, err)
	}
	if ch, err = w.LowerConcurrency(ctx, at, 4, patra.DownSlow); err != nil || ch.Is.Detail.Limit != 2 {
		t.Fatalf("%+v, %v", ch, err)
	}
	count := func() (n int) {
		for turn := range uint64(16) {
			if w.TryTake(patra.ClaimRequest{Turn: turn, PerPartition: 4}) != nil {
				n++
			}
		}
		return n
	}
	if n := count(); n != 2 {
		t.Errorf("%d tasks run, and 2 may", n)
	}
	w.Clock.Move(patra.LimitQuiet)
	if h, err := w.PeekAdmission(ctx, at); err != nil || !h.Rise {
		t.Errorf("nobody is told that it may rise: %+v, %v", h, err)
	}
	exec(t, Inspect(t, w.URL), `UPDATE ing_task SET leased_until = leased_until + 100000000000 WHERE status_code = 'RUNNING'`)
	if n := count(); n != 1 { // also when nobody writes it down
		t.Errorf("%d more may run after a quiet time", n)
	}
	if ch, err = w.RaiseConcurrency(ctx, at); err != nil || ch.Is.Detail.Limit != 3 || ch.Healing.Action != patra.HealUpshift {
		t.Errorf("%+v, %v", ch, err)
	}
	w.Clock.Move(10 * patra.LimitQuiet)
	if ch, err = w.RaiseConcurrency(ctx, at); err != nil || ch.Is.State != patra.Free || ch.Healing.Action != patra.HealUpshift {
		t.Errorf("%+v, %v", ch, err)
	}
}

// hardLimit: claims at the same moment never find the last place twice.
func hardLimit(t *testing.T, e Engine) {
	w := NewWorld(t, e, 40)
	w.Clock.Move(time.Second)
	other := e.Connect(t, w.URL, store.WithClock(w.Clock.Now))
	var claimed atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := w.Store
			if i%2 == 0 {
				s = other
			}
			for turn := range uint64(6) {
				c, err := s.Claim(t.Context(), patra.ClaimRequest{Owner: store.NewOwner(), Lease: Lease, Turn: turn, PerPartition: 3})
				if err != nil {
					t.Error(err)
				}
				if c != nil {
					claimed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := claimed.Load(); n != 3 {
		t.Errorf("%d tasks run, and 3 may", n)
	}
}

func cancelling(t *testing.T, e Engine) {
	w := NewWorld(t, e, 5)
	ctx := t.Context()
	run := func(end patra.RunResult) *patra.Claim {
		c := w.Take()
		st, err := w.Cancel(ctx, patra.WorkTarget(patra.ScopeTask, c.TaskID), "a mistake", "me")
		if err != nil || st.Running != 1 || st.Ended != 0 {
			t.Errorf("cancelled %+v, %v", st, err)
		}
		if h := w.hold(c); h.Code != patra.HoldCancelled {
			t.Errorf("a run is told %+v", h)
		}
		if end.Status == patra.Succeeded {
			w.Work(c)
		} else {
			w.must(w.Finish(ctx, c, w.Clock.Instant(), end))
		}
		return c
	}
	for name, c := range map[string]struct {
		end  patra.RunResult
		want patra.Status
	}{
		"obeyed":      {patra.RunResult{Status: patra.Cancelled}, patra.Cancelled},
		"given back":  {patra.RunResult{Status: patra.Queued, GiveBack: true}, patra.Cancelled},
		"failed":      {patra.RunResult{Status: patra.Failed, Fault: &outage}, patra.Failed},
		"was at last": {patra.RunResult{Status: patra.Succeeded}, patra.Succeeded},
	} {
		claim := run(c.end)
		if got := w.Task(claim.TaskID); got.Status != c.want {
			t.Errorf("%s: the task is %s", name, got.Status)
		}
		runs, err := w.Runs(ctx, store.Filter{Task: claim.TaskID})
		if want := c.want; err != nil || runs[0].Status != want {
			t.Errorf("%s: the run is %s, %v", name, runs[0].Status, err)
		}
	}
	states, err := w.PlanStates(ctx, w.Plan.ID)
	if err != nil || states[patra.Cancelled] != 2 {
		t.Errorf("slices %v, %v", states, err)
	}
	db := Inspect(t, w.URL)
	CheckInvariants(t, db)
	// The last one waits: it ends at once, with its plan.
	plan := patra.WorkTarget(patra.ScopePlan, w.Plan.ID)
	st, err := w.Cancel(ctx, plan, "", "me")
	if err != nil || st.Ended != 1 || st.Running != 0 {
		t.Errorf("cancelled %+v, %v", st, err)
	}
	if p, err := w.Store.Plan(ctx, w.Plan.ID); err != nil || p.Status != patra.Cancelled {
		t.Errorf("plan %s, %v", p.Status, err)
	}
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was begun", c.TaskID)
	}
	if err := w.AddSlices(ctx, w.Clock.Instant(), w.Plan.ID, w.Watermark().PlanVersion, Days(Origin+5*patra.Day, 1), patra.TriggerManual, 5); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("a plan that was called off grows: %v", err)
	}
	for _, wide := range []string{"demo", "demo/works", "cursor:1"} {
		if _, err := w.Cancel(ctx, target(t, wide), "", "me"); !errors.Is(err, patra.ErrIllegalMove) {
			t.Errorf("%s was called off: %v", wide, err)
		}
	}
	CheckInvariants(t, db)
	// All of it comes back, and only once.
	if st, err = w.RetryTarget(ctx, plan, "", "me"); err != nil || st.Revived != 4 {
		t.Errorf("retried %+v, %v", st, err)
	}
	if p, err := w.Store.Plan(ctx, w.Plan.ID); err != nil || p.Status != patra.Partial {
		t.Errorf("plan %s, %v", p.Status, err)
	}
	if st, err = w.RetryTarget(ctx, plan, "", "me"); err != nil || st.Revived != 0 {
		t.Errorf("retried %+v, %v", st, err)
	}
	for range 4 {
		c := w.Take()
		if !w.hold(c).Allowed() {
			t.Error("one that was called off before is held back")
		}
		page, err := w.OpenAt(c, 1, c.Task.ScanNo, 1)
		w.must(err)
		w.must(second(w.Commit(c, page, false)))
		w.must(w.Succeed(c, patra.StateSealed))
	}
	if got := w.Watermark(); got.Value != Origin+5*patra.Day {
		t.Errorf("watermark %s", got.Value)
	}
	CheckInvariants(t, db)
}

// cancelledPartial: what waits to be cut can be called off too, and waits for that again when it is retried.
func cancelledPartial(t *testing.T, e Engine) {
	w, parent := partial(t, e)
	ctx, db := t.Context(), Inspect(t, w.URL)
	slice := patra.WorkTarget(patra.ScopeSlice, parent.ID)
	st, err := w.Cancel(ctx, slice, "", "me")
	if err != nil || st.Ended != 1 {
		t.Fatalf("cancelled %+v, %v", st, err)
	}
	CheckInvariants(t, db)
	if left, err := w.PartialSlices(ctx, 0, 10); err != nil || len(left) != 0 {
		t.Errorf("%d slices wait to be cut, %v", len(left), err)
	}
	if st, err = w.RetryTarget(ctx, slice, "", "me"); err != nil || st.Revived != 1 {
		t.Errorf("retried %+v, %v", st, err)
	}
	CheckInvariants(t, db)
	left, err := w.PartialSlices(ctx, 0, 10)
	if err != nil || len(left) != 1 || left[0].Confirmed == nil {
		t.Fatalf("%+v, %v", left, err)
	}
	// One that could not be cut stays as it is.
	w.must(w.FailSlice(ctx, w.Clock.Instant(), left[0], patra.Fault{Level: patra.LevelRequest, Code: "PARTITION_LAW", Text: "no"}))
	CheckInvariants(t, db)
	if st, err = w.RetryTarget(ctx, target(t, "demo"), "", "me"); err != nil || st.Uncut != 1 || st.Revived != 0 {
		t.Errorf("retried %+v, %v", st, err)
	}
}

// cancelledChildren: of a slice that was cut only the children can be called off.
func cancelledChildren(t *testing.T, e Engine) {
	w, parent := partial(t, e)
	ctx, db := t.Context(), Inspect(t, w.URL)
	rest := Stretch(patra.Window{From: Day(4).From, To: parent.Window.To})
	w.must(w.SplitInto(parent, Stretch(Day(2)), Stretch(Day(3)), rest))
	if st, err := w.Cancel(ctx, patra.WorkTarget(patra.ScopeSlice, parent.ID), "", "me"); err != nil || st.Ended+st.Running != 0 {
		t.Errorf("cancelled %+v, %v", st, err)
	}
	states, err := w.PlanStates(ctx, parent.PlanID)
	w.must(err)
	st, err := w.Cancel(ctx, patra.WorkTarget(patra.ScopePlan, parent.PlanID), "", "me")
	if err != nil || st.Ended != int64(states[patra.Ready]) || st.Ended < 3 {
		t.Errorf("cancelled %+v of %v, %v", st, states, err)
	}
	CheckInvariants(t, db)
	if st, err = w.RetryTarget(ctx, patra.WorkTarget(patra.ScopePlan, parent.PlanID), "", "me"); err != nil || st.Revived != int64(states[patra.Ready]) {
		t.Errorf("retried %+v, %v", st, err)
	}
	CheckInvariants(t, db)
}

func retryTargets(t *testing.T, e Engine) {
	for _, by := range []string{"task", "slice", "source"} {
		t.Run(by, func(t *testing.T) {
			w := NewWorld(t, e, 3)
			ctx := t.Context()
			first, other := w.Take(), w.Take()
			for _, c := range []*patra.Claim{first, other} {
				w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &outage}))
			}
			at, want := target(t, "demo"), int64(2)
			switch by {
			case "task":
				at, want = patra.WorkTarget(patra.ScopeTask, first.TaskID), 1
			case "slice":
				at, want = patra.WorkTarget(patra.ScopeSlice, first.Slice.ID), 1
			}
			if st, err := w.RetryTarget(ctx, at, "", "me"); err != nil || st.Revived != want {
				t.Errorf("retried %+v, %v", st, err)
			}
			if task := w.Task(first.TaskID); task.Status != patra.Queued || task.Attempts != 0 {
				t.Errorf("%+v", task)
			}
			CheckInvariants(t, Inspect(t, w.URL))
		})
	}
}

func priorities(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	w.AddPlan("other", "works", 2, 5)
	w.Clock.Move(time.Second)
	ctx := t.Context()
	if st, err := w.Prioritise(ctx, target(t, "other"), 1, "me"); err != nil || st.Queued != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	for turn := range uint64(2) {
		if c := w.TryTake(patra.ClaimRequest{Turn: turn}); c.Task.Source != "other" || c.Task.SliceID == 0 {
			t.Errorf("%s goes first", c.Task.Source)
		}
	}
	if _, err := w.Prioritise(ctx, patra.WorkTarget(patra.ScopePlan, w.Plan.ID), 9, "me"); err != nil {
		t.Error(err)
	}
	if p, err := w.Store.Plan(ctx, w.Plan.ID); err != nil || p.Priority != 9 {
		t.Errorf("what is still to be planned has priority %d, %v", p.Priority, err)
	}
	for _, bad := range []int{0, 10, -1} {
		if _, err := w.Prioritise(ctx, target(t, "demo"), bad, "me"); !errors.Is(err, patra.ErrIllegalMove) {
			t.Errorf("priority %d: %v", bad, err)
		}
	}
}
