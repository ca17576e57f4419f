package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// watcher takes the role of looking for alerts.
func (w *World) watcher() patra.LeaderLease {
	w.T.Helper()
	w.must(w.EnsureAlertRole(w.T.Context()))
	r, ok, err := w.AcquireLease(w.T.Context(), patra.AlertRole, store.NewOwner(), time.Minute)
	w.must(err)
	if !ok {
		w.T.Fatal("somebody else has the role")
	}
	return r
}

func (w *World) judge(r patra.LeaderLease, found []patra.Alert, receivers ...patra.Receiver) store.AlertEvaluation {
	w.T.Helper()
	v, err := w.JudgeAlerts(w.T.Context(), r, w.Clock.Instant(), found, receivers)
	w.must(err)
	w.Clock.Move(30 * time.Second)
	return v
}

// alertEvents are the events of alerts so far, oldest first.
func (w *World) alertEvents() (types []patra.EventType) {
	w.T.Helper()
	_, _, err := w.AssignSequence(w.T.Context())
	w.must(err)
	all, err := w.EventsAfter(w.T.Context(), 0, 1000, 1<<20)
	w.must(err)
	for _, e := range all {
		if e.Type == patra.EventAlertFired || e.Type == patra.EventAlertResolved {
			types = append(types, e.Type)
			var said struct {
				Source string `json:"source"`
				Kind   string `json:"kind"`
				Alert  int64  `json:"alert"`
			}
			w.must(json.Unmarshal(e.Data, &said))
			if e.Subject != "alert/1" && e.Subject != "alert/2" || said.Source != "demo" || e.Origin != "demo" || said.Kind == "" || said.Alert == 0 {
				w.T.Errorf("%s: %s", e.Subject, e.Data)
			}
		}
	}
	return types
}

var (
	halted  = patra.Alert{Kind: patra.AlertHalted, Severity: patra.SeverityCritical, Target: "demo/works", Said: "It is halted.", Next: "patra resume demo/works", Link: patra.AlertLink{Source: "demo"}}
	failing = patra.Alert{Kind: patra.AlertErrors, Severity: patra.SeverityWarning, Target: "demo", Said: "Many fail.", Next: "look", Link: patra.AlertLink{Source: "demo"}, For: time.Minute}
	ops     = patra.Receiver{Name: "ops"}
)

func alertLife(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	role := w.watcher()
	ctx := t.Context()
	w.judge(role, []patra.Alert{halted, failing}, ops)
	live, err := w.LiveAlerts(ctx)
	w.must(err)
	if len(live) != 2 || live[0].State != patra.AlertFiring || live[1].State != patra.AlertPending || live[0].Said != halted.Said || live[0].Link != halted.Link || len(live[0].Notices) != 1 || len(live[1].Notices) != 0 {
		t.Fatalf("%+v", live)
	}
	// The same again, and what must last for a minute.
	w.judge(role, []patra.Alert{halted, failing}, ops)
	w.judge(role, []patra.Alert{halted, failing}, ops)
	if got := w.alertEvents(); !slices.Equal(got, []patra.EventType{patra.EventAlertFired, patra.EventAlertFired}) {
		t.Errorf("%v", got)
	}
	// One look without it is none.
	w.judge(role, []patra.Alert{failing}, ops)
	w.judge(role, []patra.Alert{halted, failing}, ops)
	w.judge(role, []patra.Alert{failing}, ops)
	if got := w.alertEvents(); len(got) != 2 {
		t.Errorf("it flaps, and is told as %v", got)
	}
	w.judge(role, []patra.Alert{failing}, ops)
	if got := w.alertEvents(); !slices.Equal(got, []patra.EventType{patra.EventAlertFired, patra.EventAlertFired, patra.EventAlertResolved}) {
		t.Errorf("%v", got)
	}
	past, err := w.AlertHistory(ctx, store.ListPage{Limit: 10})
	w.must(err)
	if len(past) != 1 || past[0].Kind != patra.AlertHalted || past[0].ResolvedAt == nil || past[0].FiredAt == nil {
		t.Errorf("%+v", past)
	}
	at, held, err := w.LastAlertEvaluation(ctx)
	w.must(err)
	if at != w.Clock.Instant().Add(-30*time.Second) || !held {
		t.Errorf("looked at %s, %v", at, held)
	}
	// What never fired leaves nothing.
	w.judge(role, []patra.Alert{failing, {Kind: patra.AlertThrottled, Severity: patra.SeverityWarning, Target: "demo", For: time.Hour}}, ops)
	w.judge(role, []patra.Alert{failing}, ops)
	if live, err = w.LiveAlerts(ctx); err != nil || len(live) != 1 {
		t.Errorf("%+v, %v", live, err)
	}
	// And what is old is forgotten, with all that was told of it.
	if n, err := w.DeleteOldAlerts(ctx, role, w.Clock.Instant()); err != nil || n != 1 {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if past, err = w.AlertHistory(ctx, store.ListPage{Limit: 10}); err != nil || len(past) != 0 {
		t.Errorf("%+v, %v", past, err)
	}
	sound(t, w)
}

func alertFence(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.must(w.EnsureAlertRole(t.Context()))
	// Of many who want the role one has it.
	var mu sync.Mutex
	var roles []patra.LeaderLease
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			r, ok, err := w.AcquireLease(t.Context(), patra.AlertRole, store.NewOwner(), time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				roles = append(roles, r)
			}
		})
	}
	group.Wait()
	if len(roles) != 1 {
		t.Fatalf("%d have the role", len(roles))
	}
	w.judge(roles[0], []patra.Alert{halted}, ops)
	w.Clock.Move(2 * time.Minute)
	next := w.watcher()
	// Whoever had it before writes nothing, whatever it found.
	if _, err := w.JudgeAlerts(t.Context(), roles[0], w.Clock.Instant(), []patra.Alert{failing}, nil); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("judged without the role: %v", err)
	}
	if _, err := w.ClaimNotifications(t.Context(), roles[0], "ops", 10, time.Minute); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("notices taken without the role: %v", err)
	}
	if err := w.SampleQueues(t.Context(), roles[0], w.Clock.Instant(), 0, nil); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("sampled without the role: %v", err)
	}
	if _, err := w.DeleteOldAlerts(t.Context(), roles[0], w.Clock.Instant()); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("forgot without the role: %v", err)
	}
	// And whoever has it goes on where the other was: it is the same alert.
	w.judge(next, []patra.Alert{halted}, ops)
	live, err := w.LiveAlerts(t.Context())
	w.must(err)
	if len(live) != 1 || live[0].ID != 1 || len(live[0].Notices) != 1 {
		t.Errorf("%+v", live)
	}
	sound(t, w)
}

func alertNotices(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	role := w.watcher()
	ctx := t.Context()
	often := patra.Receiver{Name: "ops", Repeat: time.Hour}
	take := func(want int) []store.PendingNotification {
		t.Helper()
		got, err := w.ClaimNotifications(ctx, role, "ops", 100, 2*time.Minute)
		w.must(err)
		if len(got) != want {
			t.Fatalf("%d notices are due, want %d: %+v", len(got), want, got)
		}
		return got
	}
	w.judge(role, []patra.Alert{halted}, often)
	first := take(1)[0]
	if first.Kind != patra.NoticeFired || first.Alert.Said != halted.Said || first.Tries != 1 {
		t.Errorf("%+v", first)
	}
	take(0) // it is in somebody's hands
	w.Clock.Move(2 * time.Minute)
	w.must(w.RenewLease(ctx, role))
	if again := take(1)[0]; again.ID != first.ID || again.Tries != 2 { // whoever had it was killed
		t.Errorf("%+v", again)
	}
	if _, err := w.NotificationsFailed(ctx, []int64{first.ID}, time.Minute, time.Hour, "refused"); err != nil {
		t.Fatal(err)
	}
	take(0)
	states, err := w.ReceiverStates(ctx)
	w.must(err)
	if len(states) != 1 || states[0].Name != "ops" || states[0].Waiting != 1 || states[0].Failures != 2 || states[0].Error != "refused" || states[0].SentAt != nil {
		t.Errorf("%+v", states)
	}
	w.Clock.Move(time.Minute)
	w.must(w.NotificationsSent(ctx, []int64{take(1)[0].ID}))
	take(0)
	// Said again after an hour, and not before.
	w.judge(role, []patra.Alert{halted}, often)
	take(0)
	w.Clock.Move(time.Hour)
	role = w.watcher()
	w.judge(role, []patra.Alert{halted}, often)
	w.judge(role, []patra.Alert{halted}, often)
	if n := take(1)[0]; n.Kind != patra.NoticeRepeat {
		t.Errorf("%+v", n)
	} else {
		w.must(w.NotificationsSent(ctx, []int64{n.ID}))
	}
	w.judge(role, nil, often)
	w.judge(role, nil, often)
	if n := take(1)[0]; n.Kind != patra.NoticeResolved || n.Alert.ResolvedAt == nil {
		t.Errorf("%+v", n)
	} else if dropped, err := w.NotificationsFailed(ctx, []int64{n.ID}, time.Minute, 0, "refused"); err != nil || dropped != 1 {
		t.Errorf("%d given up, %v", dropped, err)
	}
	// What is dropped was still tried in vain: the receiver is no better for it. After an hour nobody knows.
	in := func() int64 {
		t.Helper()
		states, err := w.ReceiverStates(ctx)
		w.must(err)
		if len(states) != 1 || states[0].Waiting != 0 || states[0].SentAt == nil || (states[0].Failures > 0) != (states[0].Error == "refused" && states[0].FailedAt != nil) {
			t.Fatalf("%+v", states)
		}
		return states[0].Failures
	}
	if in() != 1 {
		t.Errorf("%d attempts in vain, want 1", in())
	}
	w.Clock.Move(time.Hour + 2*time.Minute)
	if in() != 0 {
		t.Errorf("%d attempts in vain, and nobody tried for an hour", in())
	}
	role = w.watcher()
	take(0)
	w.judge(role, []patra.Alert{halted}, often)
	w.must(w.NotificationsSent(ctx, []int64{take(1)[0].ID}))
	sound(t, w)
}

func alertAck(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	role := w.watcher()
	ctx := t.Context()
	due := func() int {
		t.Helper()
		got, err := w.ClaimNotifications(ctx, role, "ops", 100, time.Minute)
		w.must(err)
		return len(got)
	}
	if _, err := w.AckAlert(ctx, 1, 0, "ada", "x"); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("nothing is acknowledged: %v", err)
	}
	w.judge(role, []patra.Alert{halted}, ops)
	h, err := w.AckAlert(ctx, 1, time.Hour, "ada", "on it")
	w.must(err)
	if !h.Silenced || h.Ack.By != "ada" || h.Ack.Until == nil {
		t.Errorf("%+v", h)
	}
	log, err := w.AuditLog(ctx, store.AuditFilter{Action: patra.AuditAck, Limit: 5})
	w.must(err)
	if len(log) != 1 || log[0].Actor != "ada" || log[0].Target != "alert:1" || log[0].Reason != "on it" {
		t.Errorf("%+v", log)
	}
	w.judge(role, []patra.Alert{halted}, ops)
	if n := due(); n != 0 {
		t.Errorf("%d notices of what was acknowledged before they were sent", n)
	}
	// It ends and comes back within the hour: nobody is told, and it is shown as seen.
	w.judge(role, nil, ops)
	w.judge(role, nil, ops)
	if _, err := w.AckAlert(ctx, 1, 0, "ada", "x"); !errors.Is(err, patra.ErrIllegalMove) {
		t.Errorf("what is over is acknowledged: %v", err)
	}
	w.judge(role, []patra.Alert{halted}, ops)
	live, err := w.LiveAlerts(ctx)
	w.must(err)
	if len(live) != 1 || live[0].ID != 2 || !live[0].Silenced || due() != 0 {
		t.Errorf("%+v", live)
	}
	w.Clock.Move(time.Hour)
	role = w.watcher()
	w.judge(role, []patra.Alert{halted}, ops)
	if live, err = w.LiveAlerts(ctx); err != nil || live[0].Silenced || due() != 1 {
		t.Errorf("after its time: %+v, %v", live, err)
	}
	sound(t, w)
}

func alertFacts(t *testing.T, e Engine) {
	w := NewWorld(t, e, 40)
	ctx, now := t.Context(), w.Clock.Instant()
	// Two pages that were read, and one that failed.
	for range 2 {
		w.Work(w.Take(), w.Record("10.5555/1", Origin, "a"))
	}
	bad := w.Take()
	page, err := w.OpenAt(bad, 1, 1, 1)
	w.must(err)
	_, err = w.FailPage(ctx, bad, now, page, patra.PageFailure{Exchange: patra.Exchange{SentAt: now, FinishedAt: now, Status: 429, Outcome: patra.OutcomeHTTPError, Level: patra.LevelRetry}, Fault: patra.Fault{Level: patra.LevelRetry, Code: patra.CodeRateLimited, Status: 429}}, nil)
	w.must(err)
	shares, err := w.PageShares(ctx, []string{"demo", "other"}, now-patra.Minute)
	w.must(err)
	if len(shares) != 2 || shares[0] != (patra.PageShare{Source: "demo", Pages: 3, Errors: 1, Throttled: 1}) || shares[1] != (patra.PageShare{Source: "other"}) {
		t.Errorf("%+v", shares)
	}
	// A plan of which nobody took anything, and one of which somebody did.
	w.AddPlan("demo", "idle", 2, 5)
	w.Clock.Move(time.Hour)
	plans, err := w.UnstartedPlans(ctx, patra.Window{From: now - patra.Day, To: w.Clock.Instant() - 30*patra.Minute})
	w.must(err)
	if len(plans) != 1 || plans[0].Plan.ID != 2 || plans[0].Plan.Endpoint != "idle" {
		t.Errorf("%+v", plans)
	}
	if plans, err = w.UnstartedPlans(ctx, patra.Window{From: now - patra.Day, To: now - patra.Minute}); err != nil || len(plans) != 0 {
		t.Errorf("too early: %+v, %v", plans, err)
	}
	// Queues are noted, and what is usual follows from that: one that was empty half of the time has half the mean.
	role := w.watcher()
	queue := []patra.QueueState{{Key: "demo/works/HARVEST", Due: 4}}
	for i := range 4 {
		if i == 2 {
			queue = nil
		}
		w.must(w.SampleQueues(ctx, role, w.Clock.Instant(), 10*time.Minute, queue))
		w.must(w.SampleQueues(ctx, role, w.Clock.Instant(), 10*time.Minute, queue)) // too soon
		w.Clock.Move(10 * time.Minute)
		w.must(w.RenewLease(ctx, role))
	}
	crowds, err := w.QueueAverages(ctx, w.Clock.Instant())
	w.must(err)
	if len(crowds) != 1 || crowds[0] != (patra.QueueAverage{Key: "demo/works/HARVEST", Samples: 4, Mean: 2, Sigma: 2}) {
		t.Errorf("%+v", crowds)
	}
	w.Clock.Move(25 * time.Hour)
	role = w.watcher()
	w.must(w.SampleQueues(ctx, role, w.Clock.Instant(), 10*time.Minute, nil))
	if crowds, err = w.QueueAverages(ctx, w.Clock.Instant()); err != nil || len(crowds) != 0 {
		t.Errorf("a day later: %+v, %v", crowds, err)
	}
}

// sound looks whether a store keeps every promise.
func sound(t *testing.T, w *World) {
	t.Helper()
	if found, err := w.Verify(t.Context(), nil); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
