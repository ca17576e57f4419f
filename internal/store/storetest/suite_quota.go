package storetest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
)

// used is what the ledger says of one window; -1 if it has no row.
func used(t *testing.T, s *store.Store, key, code string, from patra.Instant) int64 {
	t.Helper()
	all, err := s.QuotaOf(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		if u.Window == code && u.From == from {
			return u.Used
		}
	}
	return -1
}

// quotaBegins: eight come at the same moment when a window begins, again and again. Nobody is refused because somebody else
// made the row in between.
func quotaBegins(t *testing.T, e Engine) {
	url := e.URL(t)
	clock := NewClock()
	first := e.Connect(t, url, store.WithClock(clock.Now))
	if _, err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	processes := []*store.Store{first, e.Connect(t, url, store.WithClock(clock.Now)), e.Connect(t, url, store.WithClock(clock.Now)), e.Connect(t, url, store.WithClock(clock.Now))}
	const rounds = 25
	for range rounds {
		clock.Move(time.Hour)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				q := patra.QuotaLimit{Hourly: 1000, Reserve: 10}
				if err := processes[n%len(processes)].ChargeQuota(t.Context(), "a", q, patra.QuotaCharge{Cost: 1, Operation: patra.Harvest, Share: 1}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if uses, err := first.QuotaOf(t.Context(), "a"); err != nil || len(uses) != 1 || uses[0].Used != 8 {
			t.Fatalf("%+v, %v", uses, err)
		}
	}
}

// quotaAtOnce: from four connections eight charge requests of several costs, two minutes before midnight, so that each
// counts in two days and two hours. None is charged beyond what is usable, all of it is used, and what is charged is what
// was let through.
func quotaAtOnce(t *testing.T, e Engine) {
	url := e.URL(t)
	clock := &Clock{at: time.Date(2026, 6, 1, 23, 58, 0, 0, time.UTC)}
	first := e.Connect(t, url, store.WithClock(clock.Now))
	if _, err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := patra.QuotaLimit{Hourly: 1000, Daily: 100, Monthly: 10_000, Reserve: 10, Skew: 5 * time.Minute}
	var sent atomic.Int64
	var all sync.WaitGroup
	for n := range 8 {
		s := first
		if n%2 == 1 {
			s = e.Connect(t, url, store.WithClock(clock.Now))
		}
		all.Go(func() {
			for refused := 0; refused < 3; {
				cost := 1 + rand.Int64N(3)
				err := s.ChargeQuota(t.Context(), "a", q, patra.QuotaCharge{Cost: cost, Operation: patra.Harvest, Share: 1})
				full, ok := errors.AsType[*patra.QuotaError](err)
				switch {
				case err == nil:
					sent.Add(cost)
				case !ok:
					t.Error(err)
					return
				case !full.Hard || full.Window != patra.QuotaDay || full.Used+cost <= 90 || full.Limit != 100 || full.Usable != 90 || full.Again != full.Reset.Add(5*time.Minute):
					t.Errorf("%+v", full)
					return
				default:
					refused++
				}
			}
		})
	}
	all.Wait()
	if n := sent.Load(); n > 90 || n < 88 {
		t.Errorf("%d were let through of 90", n)
	}
	midnight := patra.Date(2026, 6, 2)
	for _, w := range []struct {
		code string
		from patra.Instant
	}{{patra.QuotaDay, midnight - patra.Day}, {patra.QuotaDay, midnight}, {patra.QuotaHour, midnight - patra.Hour}, {patra.QuotaHour, midnight}, {patra.QuotaMonth, patra.Date(2026, 6, 1)}} {
		if n := used(t, first, "a", w.code, w.from); n != sent.Load() {
			t.Errorf("%s from %s has %d, and %d were let through", w.code, w.from, n, sent.Load())
		}
	}
	// A process that comes later, by the day and by another connection, finds what was used.
	again := e.Connect(t, url, store.WithClock(clock.Now))
	clock.Move(8 * time.Minute)
	if err := again.ChargeQuota(t.Context(), "a", q, patra.QuotaCharge{Cost: 3, Operation: patra.Harvest, Share: 1}); err == nil {
		t.Error("what was charged to tomorrow is forgotten tomorrow")
	}
	clock.Move(24 * time.Hour)
	if err := again.ChargeQuota(t.Context(), "a", q, patra.QuotaCharge{Cost: 3, Operation: patra.Harvest, Share: 1}); err != nil {
		t.Errorf("the day after: %v", err)
	}
	if all, err := again.Quotas(t.Context()); err != nil || len(all) != 3 || all[0].Key != "a" || all[0].Usable > all[0].Limit {
		t.Errorf("%+v, %v", all, err)
	}
	CheckInvariants(t, Inspect(t, url))
}

// quotaWindows: one window that is full keeps the others as they are; of an operation only its share is used; what was sent
// before anybody counted counts; and a new zone begins with what was used.
func quotaWindows(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ctx := t.Context()
	day := patra.UnitDay.Floor(w.Clock.Instant())
	charge := func(q patra.QuotaLimit, op patra.Operation, cost int64) *patra.QuotaError {
		t.Helper()
		err := w.ChargeQuota(ctx, "b", q, patra.QuotaCharge{Cost: cost, Operation: op, Share: patra.QuotaShare(op, 0.5)})
		full, ok := errors.AsType[*patra.QuotaError](err)
		if err != nil && !ok {
			t.Fatal(err)
		}
		return full
	}
	q := patra.QuotaLimit{Hourly: 100, Daily: 20}
	if full := charge(q, patra.Backfill, 10); full != nil {
		t.Error(full)
	}
	if full := charge(q, patra.Backfill, 1); full == nil || full.Hard || full.Window != patra.QuotaDay || full.Operation != patra.Backfill {
		t.Errorf("half of it is for history: %v", full)
	}
	if full := charge(q, patra.Update, 5); full != nil {
		t.Error(full)
	}
	if full := charge(q, patra.Update, 1); full == nil || full.Hard {
		t.Errorf("three quarters are for updates: %v", full)
	}
	if full := charge(q, patra.Harvest, 5); full != nil {
		t.Error(full)
	}
	if full := charge(q, patra.Harvest, 1); full == nil || !full.Hard || full.Used != 20 {
		t.Errorf("there is no more: %v", full)
	}
	if hour, today := used(t, w.Store, "b", patra.QuotaHour, day+12*patra.Hour), used(t, w.Store, "b", patra.QuotaDay, day); hour != 20 || today != 20 {
		t.Errorf("%d in the hour, %d in the day", hour, today)
	}
	// Of two that are full, the one that is so for longer is told.
	w.Clock.Move(10 * time.Minute)
	if full := charge(patra.QuotaLimit{Hourly: 20, Daily: 20}, patra.Harvest, 1); full == nil || full.Window != patra.QuotaDay {
		t.Errorf("%+v", full)
	}
	// A quota that is raised lets more through at once.
	if full := charge(patra.QuotaLimit{Hourly: 100, Daily: 21}, patra.Harvest, 1); full != nil {
		t.Error(full)
	}
	// The days of another zone lie across ours.
	if full := charge(patra.QuotaLimit{Daily: 21, Zone: "America/New_York"}, patra.Harvest, 1); full == nil || full.Used != 21 {
		t.Errorf("a new zone begins at %+v", full)
	}
	// A share that is smaller than one request is as large as one: otherwise history would never be read.
	heavy := patra.QuotaCharge{Cost: 6, Operation: patra.Backfill, Share: 0.5}
	w.must(w.ChargeQuota(ctx, "heavy", patra.QuotaLimit{Daily: 8}, heavy))
	if full, ok := errors.AsType[*patra.QuotaError](w.ChargeQuota(ctx, "heavy", patra.QuotaLimit{Daily: 8}, heavy)); !ok || full.Used != 6 {
		t.Errorf("%+v", full)
	}
	// What was sent before the source had a quota.
	for range 3 {
		id, err := w.OpenRequest(ctx, w.Clock.Instant(), patra.RequestOpen{RequestID: store.NewOwner(), Kind: patra.RequestProbe, GateKey: "c", Cost: 2, AcquiredAt: w.Clock.Instant()})
		w.must(err)
		w.must(w.CloseRequest(ctx, id, patra.Exchange{SentAt: w.Clock.Instant(), FinishedAt: w.Clock.Instant(), Status: 200, Outcome: patra.OutcomeOK}))
	}
	w.must(w.ChargeQuota(ctx, "c", patra.QuotaLimit{Daily: 20}, patra.QuotaCharge{Cost: 1, Share: 1}))
	if n := used(t, w.Store, "c", patra.QuotaDay, day); n != 7 {
		t.Errorf("%d are used, and 6 were sent before", n)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// quotaTold: what the provider counts is believed if it is more than we counted, and never lowers anything.
func quotaTold(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ctx := t.Context()
	day := patra.UnitDay.Floor(w.Clock.Instant())
	q := patra.QuotaLimit{Daily: 100, Reserve: 10, Skew: 5 * time.Minute}
	one := patra.QuotaCharge{Cost: 1, Operation: patra.Harvest, Share: 1}
	w.must(w.ReportQuota(ctx, "d", q, patra.AdvertisedQuota{Left: 60, ResetIn: 12 * time.Hour})) // before we have asked for anything
	for _, step := range []struct {
		told patra.AdvertisedQuota
		want int64
	}{
		{patra.AdvertisedQuota{Left: 80, ResetIn: 12 * time.Hour}, 40},
		{patra.AdvertisedQuota{Left: 30, ResetIn: 12*time.Hour + 4*time.Minute}, 70},
		{patra.AdvertisedQuota{Left: 101, ResetIn: 12 * time.Hour}, 70},
		{patra.AdvertisedQuota{Left: -1, ResetIn: 12 * time.Hour}, 70},
		{patra.AdvertisedQuota{Left: 0, ResetIn: 3 * time.Hour}, 70},
		{patra.AdvertisedQuota{Left: 0, ResetIn: 12 * time.Hour}, 100},
	} {
		w.must(w.ReportQuota(ctx, "d", q, step.told))
		if n := used(t, w.Store, "d", patra.QuotaDay, day); n != step.want {
			t.Errorf("after %+v %d are used, want %d", step.told, n, step.want)
		}
	}
	if full, ok := errors.AsType[*patra.QuotaError](w.ChargeQuota(ctx, "d", q, one)); !ok || !full.Hard || full.Reset != day+patra.Day {
		t.Errorf("nothing is left: %v", full)
	}
	w.Clock.Move(12*time.Hour + 5*time.Minute)
	w.must(w.ChargeQuota(ctx, "d", q, one))
	CheckInvariants(t, Inspect(t, w.URL))
}

// quotaHolds: what is queued is not handed out while a quota is used up; if only a share is, others are; it ends by itself, or
// by hand; and it is told once.
func quotaHolds(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	ctx := t.Context()
	q := patra.QuotaLimit{Daily: 10, Skew: 5 * time.Minute}
	day := q.At(w.Clock.Instant())[0]
	at := w.place()
	hard := q.Refusal("demo", day, 10, patra.QuotaCharge{Cost: 1, Operation: at.Operation, Share: 1}, w.Clock.Instant())
	c := w.Take()
	other := at
	other.Operation = patra.Backfill
	soft := q.Refusal("demo", day, 5, patra.QuotaCharge{Cost: 1, Operation: patra.Backfill, Share: 0.5}, w.Clock.Instant())
	if ch, err := w.QuotaExhausted(ctx, other, *soft); err != nil || ch.Is.Target.String() != "demo/*/BACKFILL" || ch.Healing == nil || !w.hold(c).Allowed() {
		t.Errorf("a share that is used up: %+v, %v", ch, err)
	}
	for n := range 3 {
		ch, err := w.QuotaExhausted(ctx, c.WorkScope(), *hard)
		if err != nil || ch.Is.State != patra.UsedUp || (ch.Healing != nil) != (n == 0) {
			t.Errorf("told for the %d. time: %+v, %v", n+1, ch, err)
		}
	}
	if h := w.hold(c); h.Code != patra.WaitQuota || h.Wait != 12*time.Hour+5*time.Minute || h.Control.Detail.Quota.Used != 10 {
		t.Errorf("%+v", h)
	}
	w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitQuota, RetryIn: hard.Defer(0)}))
	if task := w.Task(c.TaskID); task.Attempts != 0 || task.WaitCode != patra.WaitQuota {
		t.Errorf("%+v", task)
	}
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was handed out", c.TaskID)
	}
	if all, err := w.Controls(ctx); err != nil || len(all) != 2 || all[1].Kind != patra.KindQuota || all[1].Reason != hard.Error() {
		t.Errorf("%+v, %v", all, err)
	}
	// By hand: the quota was raised, or somebody believes so.
	if st, err := w.Resume(ctx, target(t, "demo"), "", "me"); err != nil || len(st.Changed) != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	c = w.Take()
	w.must(second(w.QuotaExhausted(ctx, c.WorkScope(), *hard)))
	w.must(w.Finish(ctx, c, w.Clock.Instant(), patra.RunResult{Status: patra.Queued, GiveBack: true, WaitCode: patra.WaitQuota, RetryIn: hard.Defer(0)}))
	w.Clock.Move(12*time.Hour + 5*time.Minute - time.Second)
	if c := w.TryTake(patra.ClaimRequest{}); c != nil {
		t.Errorf("task %d was handed out before the time", c.TaskID)
	}
	w.Clock.Move(time.Second)
	if all, err := w.Controls(ctx); err != nil || len(all) != 0 {
		t.Errorf("after the reset: %+v, %v", all, err)
	}
	if !w.hold(w.Take()).Allowed() {
		t.Error("it does not end by itself")
	}
	if n := w.healed(patra.HealQuota); n != 3 {
		t.Errorf("%d rows tell of it", n)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
