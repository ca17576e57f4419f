package planner

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// yard is a planner over real tables, and a hand that works through the queue.
type yard struct {
	*storetest.World
	planner *Planner
	file    *source.File
	from    *provider
}

func newYard(t *testing.T, e storetest.Engine, code string) *yard {
	t.Helper()
	w := &storetest.World{T: t, Clock: storetest.NewClock(), URL: e.URL(t)}
	w.Store = e.Connect(t, w.URL, store.WithClock(w.Clock.Now))
	if _, err := w.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	y := &yard{World: w, file: loadFile(t, code), from: &provider{}}
	y.planner = &Planner{Store: w.Store, Config: settings, Prober: y.from}
	return y
}

// ask is a request for some days after start.
func (y *yard) ask(op patra.Operation, from, to int) Request {
	w := days(from, to)
	return Request{Source: y.file, Operation: op, Contact: "me@example.org", From: &w.From, To: &w.To}
}

func (y *yard) plan(req Request) *Result {
	y.T.Helper()
	res, err := y.planner.Plan(y.T.Context(), y.Clock.Instant(), req)
	if err != nil {
		y.T.Fatal(err)
	}
	return res
}

// work finishes up to n tasks of a cursor.
func (y *yard) work(cursorID int64, n int) int {
	y.T.Helper()
	for i := range n {
		c := y.TryTake(patra.ClaimRequest{CursorID: cursorID})
		if c == nil {
			return i
		}
		y.Work(c)
	}
	return n
}

func (y *yard) cursor(id int64) (patra.Cursor, patra.Coverage) {
	y.T.Helper()
	c, covered, _, err := y.Need(y.T.Context(), id)
	if err != nil {
		y.T.Fatal(err)
	}
	return c, covered
}

func TestABackfillNeverTouchesTheHarvest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		ahead := y.plan(y.ask(patra.Harvest, 10, 14))
		y.work(ahead.Plan.CursorID, 2)
		before, coveredBefore := y.cursor(ahead.Plan.CursorID)

		req := y.ask(patra.Backfill, 0, 0)
		req.To = nil
		past := y.plan(req)
		if past.Plan.Window != days(0, 10) || past.Plan.CursorID == ahead.Plan.CursorID || past.Plan.Campaign != patra.DefaultCampaign || past.Plan.Priority != 8 {
			t.Fatalf("the plan is %+v", past.Plan)
		}
		if y.work(past.Plan.CursorID, 100) != 10 {
			t.Error("ten days of history are not ten tasks")
		}
		after, coveredAfter := y.cursor(ahead.Plan.CursorID)
		if !reflect.DeepEqual(before, after) || !reflect.DeepEqual(coveredBefore, coveredAfter) {
			t.Errorf("the harvest was %+v and is %+v", before, after)
		}
		if c, _ := y.cursor(past.Plan.CursorID); c.Value != days(0, 10).To || c.Direction() != patra.Backward {
			t.Errorf("the campaign is at %s", c.Value)
		}
	})
}

func TestACampaignIsGoneOnWithByALaterPlan(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.Inventory = 4
	req := y.ask(patra.Backfill, 0, 10)
	req.Newest = true
	first := y.plan(req)
	if first.Plan.Status != patra.Partial || first.Plan.Reason != patra.ReasonInventory || first.Added != 4 {
		t.Fatalf("%s %s with %d slices", first.Plan.Status, first.Plan.Reason, first.Added)
	}
	y.work(first.Plan.CursorID, 3)
	if _, covered := y.cursor(first.Plan.CursorID); len(covered.Minus(patra.NewCoverage(days(6, 10)))) != 0 {
		t.Errorf("newest first covered %v", covered)
	}
	rounds := 0
	for status := first.Plan.Status; status == patra.Partial; rounds++ {
		plan, err := y.Store.Plan(t.Context(), first.Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		res, err := y.planner.Continue(t.Context(), y.Clock.Instant(), plan)
		if err != nil || rounds > 10 {
			t.Fatal(rounds, err)
		}
		status = res.Plan.Status
		y.work(first.Plan.CursorID, 3)
	}
	y.work(first.Plan.CursorID, 100)
	c, covered := y.cursor(first.Plan.CursorID)
	if !reflect.DeepEqual(covered, patra.NewCoverage(days(0, 10))) || c.Value != days(0, 10).To {
		t.Errorf("covered %v, watermark %s after %d rounds", covered, c.Value, rounds)
	}
	rows, err := y.Slices(t.Context(), store.Filter{Limit: 100})
	if err != nil || len(rows) != 10 {
		t.Errorf("%d slices for ten days, %v", len(rows), err)
	}
	// More history, under the same name: only what is new is read.
	more := y.plan(y.ask(patra.Backfill, -3, 10))
	if more.Added != 3 || more.Plan.CursorID != first.Plan.CursorID {
		t.Errorf("three more days are %d slices", more.Added)
	}
}

func TestAPausedCampaignIsNeitherPlannedNorBegun(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		first := y.plan(y.ask(patra.Backfill, 0, 3))
		id := first.Plan.CursorID
		if _, err := y.Pause(t.Context(), patra.WorkTarget(patra.ScopeCursor, id), "too hot", "me"); err != nil {
			t.Fatal(err)
		}
		if n := y.work(id, 9); n != 0 {
			t.Errorf("%d tasks of a paused campaign were begun", n)
		}
		second := y.plan(y.ask(patra.Backfill, 0, 6))
		if second.Added != 0 || second.Plan.Status != patra.Partial || second.Plan.Reason != patra.ReasonPaused {
			t.Errorf("%d slices were planned, %s %s", second.Added, second.Plan.Status, second.Plan.Reason)
		}
		if _, err := y.Resume(t.Context(), patra.WorkTarget(patra.ScopeCursor, id), "", "me"); err != nil {
			t.Fatal(err)
		}
		if err := y.planner.ContinueAll(t.Context(), y.Clock.Instant()); err != nil {
			t.Fatal(err)
		}
		if n := y.work(id, 9); n != 6 {
			t.Errorf("%d of 6 days were worked on", n)
		}
	})
}

// Eight planners make the same plan, and eight others overlapping ones: no day has two slices, and none is left out.
func TestManyPlannersAtOnceNeverDoubleASlice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "crossref")
		y.planner.Prober = nil
		y.plan(y.ask(patra.Backfill, 0, 1))
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for _, req := range []Request{y.ask(patra.Backfill, 0, 40), y.ask(patra.Backfill, i, 30+i)} {
					if _, err := y.planner.Plan(t.Context(), y.Clock.Instant(), req); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		rows, err := y.Slices(t.Context(), store.Filter{Limit: 1000})
		if err != nil || len(rows) != 40 {
			t.Errorf("%d slices for 40 days, %v", len(rows), err)
		}
	})
}

func TestAHarvestReadsAgainForLateArrivalsAndTheSamePlanOnlyOnce(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	first := y.plan(y.ask(patra.Harvest, 0, 3))
	y.work(first.Plan.CursorID, 9)
	to := days(0, 5).To
	req := Request{Source: y.file, Contact: "me@example.org", To: &to}
	next := y.plan(req)
	again := y.plan(req)
	if next.Added != 3 || again.Added != 0 || again.Plan.ID != next.Plan.ID { // one day again, two new
		t.Errorf("added %d, then %d", next.Added, again.Added)
	}
}

func TestATriggerThatCannotBecomeAPlanIsKeptWithItsReason(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	req := y.ask(patra.Harvest, 0, 3)
	req.Query = "titel:heart"
	req.By = Trigger{Scheduler: patra.SchedulerCron, Type: patra.TriggerScheduled, Job: "nightly", Log: "2026-11-15T02:15:00Z"}
	if _, err := y.planner.Plan(t.Context(), y.Clock.Instant(), req); err == nil {
		t.Fatal("planned")
	}
	kept, err := y.Triggers(t.Context(), store.Filter{})
	if err != nil || len(kept) != 1 || kept[0].Status != patra.Rejected || !strings.Contains(string(kept[0].Error), "no field titel") || kept[0].JobID != "nightly" {
		t.Fatalf("%+v, %v", kept, err)
	}
	if _, err := y.planner.Plan(t.Context(), y.Clock.Instant(), req); !errors.Is(err, patra.ErrFired) {
		t.Errorf("the same fire was accepted twice: %v", err)
	}
	at, err := y.LastFire(t.Context(), "nightly")
	if err != nil || at == nil || *at != y.Clock.Instant() {
		t.Errorf("last fire %v, %v", at, err)
	}
}

func TestAPlanKeepsThatCountsDoNotAddUp(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "pubmed")
	for i := range 40_000 {
		y.from.papers = append(y.from.papers, paper{start + patra.Instant(i)*patra.Minute/4, int64(i + 1)})
	}
	y.from.extra = func(w patra.Window, n int64) int64 {
		if w.To-w.From < 8*patra.Day {
			return n * 2
		}
		return n
	}
	if res := y.plan(y.ask(patra.Harvest, 0, 8)); res.Added != 8 {
		t.Errorf("%d slices for 8 days", res.Added)
	}
	plans, err := y.Plans(t.Context(), store.Filter{})
	if err != nil || plans[0].Status != patra.Ready || !strings.Contains(string(plans[0].Warnings), CountsDisagree) {
		t.Errorf("%+v, %v", plans, err)
	}
}

func TestAQuotaIsPlannedWithAndNeverOverdrawn(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.BackfillShare = 0.5
	y.file.Defaults.Rate.Quota.Daily = 100 // 90 may be planned with; a day is about 2 requests
	past := y.plan(y.ask(patra.Backfill, 0, 60))
	if past.Plan.Status != patra.Partial || past.Plan.Reason != patra.ReasonQuota || past.Plan.Requests > 45 || past.Plan.Requests == 0 && past.SlicingStats.Price.Requests > 50 {
		t.Errorf("history: %s %s, %d slices, %+v", past.Plan.Status, past.Plan.Reason, past.Added, past.SlicingStats.Price)
	}
	ahead := y.plan(y.ask(patra.Harvest, 0, 60))
	if ahead.Plan.Status != patra.Partial || ahead.Added == 0 {
		t.Errorf("the harvest: %s %s, %d slices", ahead.Plan.Status, ahead.Plan.Reason, ahead.Added)
	}
	if more := y.plan(y.ask(patra.Backfill, 0, 60)); more.Added != 0 {
		t.Errorf("%d more slices of history were planned although the quota is spoken for", more.Added)
	}
}

func TestAFileIsAppliedExactlyOrNotAtAll(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	for i := range 30 {
		y.from.papers = append(y.from.papers, paper{start + patra.Instant(i)*patra.Hour*8, int64(i + 1)})
	}
	ctx := t.Context()
	req := y.ask(patra.Backfill, 0, 10)
	req.Query = "type:book"
	d, err := y.planner.Draft(ctx, y.Clock.Instant(), req)
	if err != nil {
		t.Fatal(err)
	}
	seq, tally, err := y.planner.Slices(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	var all []patra.Slice
	for sl, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sl)
	}
	f := NewFile(y.Clock.Instant(), d, tally.Settled(y.Clock.Instant()), all)
	again := f.Request(y.file, "me@example.org")

	other := *y.file
	other.Defaults.Rate.PerSecond++
	if _, err := y.planner.Apply(ctx, y.Clock.Instant(), f, f.Request(&other, "me@example.org")); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("another source: %v", err)
	}
	// Somebody else reads a day of it.
	day := y.ask(patra.Backfill, 4, 5)
	day.Query = "type:book"
	y.plan(day)
	if _, err := y.planner.Apply(ctx, y.Clock.Instant(), f, again); err == nil || !strings.Contains(err.Error(), "there is one now") {
		t.Errorf("a day is under way: %v", err)
	}
	rows, err := y.Slices(ctx, store.Filter{Limit: 100})
	if err != nil || len(rows) != 1 {
		t.Errorf("%d slices are stored, %v", len(rows), err)
	}
}

func TestAnApprovedFileIsStoredAsItWasShown(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	ctx := t.Context()
	d, err := y.planner.Draft(ctx, y.Clock.Instant(), y.ask(patra.Backfill, 0, 10))
	if err != nil {
		t.Fatal(err)
	}
	seq, _, err := y.planner.Slices(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	var all []patra.Slice
	for sl := range seq {
		all = append(all, sl)
	}
	f := NewFile(y.Clock.Instant(), d, patra.CostEstimate{}, all)
	y.Clock.Move(48 * time.Hour) // the window would be another one by now
	res, err := y.planner.Apply(ctx, y.Clock.Instant(), f, f.Request(y.file, "me@example.org"))
	if err != nil || res.Added != 10 || res.Plan.Key != f.Plan.Key || res.Plan.Status != patra.Ready {
		t.Fatalf("%+v, %v", res, err)
	}
	rows, err := y.Slices(ctx, store.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, sl := range rows { // newest first
		if want := all[len(all)-1-i]; sl.Signature != want.Signature || sl.Window != want.Window || sl.ExprHash != want.ExprHash || !reflect.DeepEqual(sl.Spec, want.Spec) {
			t.Errorf("stored %+v, shown %+v", sl, want)
		}
	}
	if _, err := y.planner.Apply(ctx, y.Clock.Instant(), f, f.Request(y.file, "me@example.org")); err == nil || !strings.Contains(err.Error(), "stored already") {
		t.Errorf("a second time: %v", err)
	}
}

func TestTheSafetyLagFollowsLateArrivals(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	lag := patra.Period{Clock: 10 * time.Minute}
	e := y.file.Endpoints["works"]
	e.Window.SafetyLag = &lag
	y.file.Endpoints["works"] = e
	first := y.plan(y.ask(patra.Harvest, 0, 2))
	for i := range 2 {
		c := y.TryTake(patra.ClaimRequest{CursorID: first.Plan.CursorID})
		var records []patra.Observation
		for k := range 200 {
			records = append(records, y.Record(string(rune('a'+i))+time.Duration(k).String(), c.Slice.Window.From+patra.Hour, "x"))
		}
		y.Work(c, records...)
	}
	to := days(0, 3).To
	next := y.plan(Request{Source: y.file, Contact: "me@example.org", To: &to})
	if next.Decision.LagSeconds != 600 {
		t.Errorf("the lag is %v s although nothing was late", next.Decision.LagSeconds)
	}
	for range next.Added {
		c := y.TryTake(patra.ClaimRequest{CursorID: first.Plan.CursorID})
		if c.Slice.Purpose == patra.PurposeLookback {
			var late []patra.Observation
			for k := range 20 {
				late = append(late, y.Record("late"+time.Duration(k).String(), c.Slice.Window.From+patra.Hour, "x"))
			}
			y.Work(c, late...)
			continue
		}
		y.Work(c)
	}
	to = days(0, 4).To
	after := y.plan(Request{Source: y.file, Contact: "me@example.org", To: &to})
	if after.Decision.LagSeconds != 900 || after.Decision.LagConfigured != 600 || after.Decision.LateRate < 0.04 {
		t.Errorf("%+v", after.Decision)
	}
	l, err := y.Lateness(t.Context(), first.Plan.CursorID, 0)
	if err != nil || l.Late != 20 || l.SuggestLookback() == 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

var _ Prober = (*provider)(nil)

// counting tells how often the need was read.
type counting struct {
	Store
	needs int
}

func (c *counting) Need(ctx context.Context, id int64) (patra.Cursor, patra.Coverage, patra.Coverage, error) {
	c.needs++
	return c.Store.Need(ctx, id)
}

func TestAPlanOfManyChunksIsCutOnce(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	store := &counting{Store: y.Store}
	y.planner.Store, y.planner.Prober = store, nil
	e := y.file.Endpoints["works"]
	e.Window.Size, e.Window.Precision, e.Window.Align = patra.Period{Clock: time.Hour}, patra.UnitHour, patra.UnitHour
	y.file.Endpoints["works"] = e
	res := y.plan(y.ask(patra.Harvest, -200, 0))
	if res.Added != 200*24 || store.needs != 1 || res.Plan.SliceCount != 200*24 {
		t.Errorf("%d slices, the need was read %d times", res.Added, store.needs)
	}
}

// A planner that dies between two chunks leaves a plan that nobody finished. Later its work is gone on with.
func TestAPlanWhosePlannerDiedIsGoneOnWith(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	ctx, now := t.Context(), y.Clock.Instant()
	d, err := y.planner.Draft(ctx, now, y.ask(patra.Backfill, 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	if d.Plan.InstanceID, err = y.planner.accept(ctx, now, y.ask(patra.Backfill, 0, 9)); err != nil {
		t.Fatal(err)
	}
	if err := y.planner.store(ctx, now, d); err != nil {
		t.Fatal(err)
	}
	j, err := y.planner.job(d.Spec, d.Expr, d.Plan)
	if err != nil {
		t.Fatal(err)
	}
	var first []patra.Slice
	for sl, err := range j.cut(ctx, needed(days(0, 4))) {
		if err != nil {
			t.Fatal(err)
		}
		first = append(first, sl)
	}
	if err := y.AddSlices(ctx, now, d.Plan.ID, d.Cursor.PlanVersion, first, patra.TriggerManual, 5); err != nil {
		t.Fatal(err)
	}
	tend := func() patra.Plan {
		t.Helper()
		if err := y.planner.ContinueAll(ctx, y.Clock.Instant()); err != nil {
			t.Fatal(err)
		}
		p, err := y.Store.Plan(ctx, d.Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := tend(); p.Status != patra.Slicing || p.SliceCount != 4 {
		t.Errorf("a planner that may be alive was not waited for: %s with %d slices", p.Status, p.SliceCount)
	}
	y.Clock.Move(time.Hour)
	if p := tend(); p.Status != patra.Ready || p.SliceCount != 9 {
		t.Errorf("%s with %d slices", p.Status, p.SliceCount)
	}
}
