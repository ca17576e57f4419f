package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// fail takes tasks and lets them fail for good.
func (y *yard) fail(cursorID int64, n int) {
	y.T.Helper()
	for range n {
		c := y.TryTake(patra.ClaimRequest{CursorID: cursorID})
		if c == nil {
			y.T.Fatal("nothing to claim")
		}
		if err := y.Finish(y.T.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}}); err != nil {
			y.T.Fatal(err)
		}
	}
}

func (y *yard) tend() {
	y.T.Helper()
	if err := y.planner.ContinueAll(y.T.Context(), y.Clock.Instant()); err != nil {
		y.T.Fatal(err)
	}
}

func TestAServerGoesOnWithAPlanAndRetriesNothing(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.Inventory = 4
	res := y.plan(y.ask(patra.Backfill, 0, 8))
	y.fail(res.Plan.CursorID, 4)
	y.tend()
	if n, err := y.QueuedTasks(t.Context(), patra.Partition("crossref", "works", patra.Backfill)); err != nil || n != 4 {
		t.Fatalf("%d tasks wait, %v", n, err)
	}
	if failed, err := y.Tasks(t.Context(), store.Filter{Status: patra.Failed}); err != nil || len(failed) != 4 {
		t.Errorf("%d tasks are still failed, %v", len(failed), err)
	}
	y.work(res.Plan.CursorID, 4)
	y.tend()
	y.tend()
	if n := y.work(res.Plan.CursorID, 9); n != 0 {
		t.Errorf("%d failed tasks came back by themselves", n)
	}
	// A person who asks for the plan again gets them tried again.
	if again := y.plan(y.ask(patra.Backfill, 0, 8)); again.Retried != 4 {
		t.Errorf("%d were queued again", again.Retried)
	}
}

func TestAnUnfinishedHarvestDoesNotReadAgainWhatOthersCovered(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.Inventory = 2
	first := y.plan(y.ask(patra.Harvest, 0, 8)) // two of eight days
	y.planner.Config.Inventory = 0
	other := y.plan(y.ask(patra.Harvest, 0, 7)) // the others but one
	if first.Added != 2 || other.Added != 5 {
		t.Fatalf("%d and %d slices", first.Added, other.Added)
	}
	y.work(first.Plan.CursorID, 9)
	y.tend()
	rows, err := y.Slices(t.Context(), store.Filter{Plan: first.Plan.ID})
	if err != nil || len(rows) != 3 || rows[0].Purpose != patra.PurposeNeed || rows[0].Window != days(7, 8) {
		t.Errorf("%d slices, %v", len(rows), err)
	}
}

func TestAnUpdateByIdThatIsLargerThanTheQueueIsFinished(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "pubmed")
		y.planner.Prober = nil
		y.planner.Config.Target = 10
		seed := y.plan(y.ask(patra.Harvest, 0, 1))
		c := y.TryTake(patra.ClaimRequest{CursorID: seed.Plan.CursorID})
		var records []patra.Observation
		for i := range 60 {
			records = append(records, y.Record("id"+strings.Repeat("x", i), days(0, 1).From, "x"))
		}
		y.Work(c, records...)
		y.planner.Config.Inventory = 4
		req := Request{Source: y.file, Operation: patra.Update, ByID: true, Contact: "me@example.org"}
		res := y.plan(req)
		if res.Added != 4 || res.Plan.Status != patra.Partial {
			t.Fatalf("%d slices, %s", res.Added, res.Plan.Status)
		}
		settle := func() {
			for c := y.TryTake(patra.ClaimRequest{PlanID: res.Plan.ID}); c != nil; c = y.TryTake(patra.ClaimRequest{PlanID: res.Plan.ID}) {
				if err := y.Finish(t.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: c.Task.ScanNo, Trust: patra.TrustNone, State: patra.StateSealed, ByID: true}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		settle()
		y.tend()
		plan, err := y.Store.Plan(t.Context(), res.Plan.ID)
		if err != nil || plan.Status != patra.Ready || plan.SliceCount != 6 {
			t.Fatalf("%s with %d slices, %v", plan.Status, plan.SliceCount, err)
		}
		settle()
		if again := y.plan(req); again.Plan.Generation != 1 || again.Added == 0 {
			t.Errorf("asked again, when all was done, generation %d got %d slices", again.Plan.Generation, again.Added)
		}
		byTime := y.plan(Request{Source: y.file, Operation: patra.Update, Campaign: res.Plan.Campaign, Contact: "me@example.org"})
		if byTime.Plan.ID == res.Plan.ID {
			t.Error("an update by time is taken for one by id")
		}
	})
}

func TestWhatDoesNotAddUpIsCutAgainWithoutCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		y := newYard(t, e, "pubmed")
		y.planner.Prober = nil
		res := y.plan(y.ask(patra.Harvest, 0, 1))
		c := y.TryTake(patra.ClaimRequest{CursorID: res.Plan.CursorID})
		y.Page(c, 1, true)
		if err := y.Finish(t.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Partial, Early: &patra.EarlyEnd{ScanNo: c.Task.ScanNo, Order: patra.OrderNone, Reslice: patra.Reslice{Reason: patra.ResliceCap}}}); err != nil {
			t.Fatal(err)
		}
		// Half of the ids lie outside the space.
		for i := range 20_000 {
			y.from.papers = append(y.from.papers, paper{start, int64(100_000_000 - 10_000 + i)})
		}
		y.planner.Prober = y.from
		y.tend()
		all, err := y.Slices(t.Context(), store.Filter{Cursor: res.Plan.CursorID})
		if err != nil || len(all) != 3 || all[2].Status != patra.Split || !all[0].IsPart() || !all[1].IsPart() {
			t.Fatalf("%+v, %v", all, err)
		}
		if y.from.asked > 3*4 { // the whole and three ranges
			t.Errorf("%d counts were asked for", y.from.asked)
		}
		asked := y.from.asked
		y.tend()
		if y.from.asked != asked {
			t.Errorf("%d more counts were asked for what is cut already", y.from.asked-asked)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, y.URL))
	})
}

func TestIdsOutsideTheSpaceAreNoticed(t *testing.T) {
	spec := pubmed(t, smallCap)
	from := &provider{}
	for i := range 300 {
		from.papers = append(from.papers, paper{start, int64(100_000_000 - 280 + i)})
	}
	_, tally, err := newBench(spec, from).try(needed(days(0, 1))...)
	if err != nil || len(tally.Warnings) != 1 || tally.Warnings[0].Code != CountsDisagree || !strings.Contains(tally.Warnings[0].Text, "counted as 280, and without that range as 300, 3 times over") {
		t.Errorf("20 of 300 ids would never be asked for: %+v, %v", tally.Warnings, err)
	}
}

func TestTasksThatAreHeldBackTakeNoRoom(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.Inventory = 4
	first := y.plan(y.ask(patra.Backfill, 0, 4))
	if _, err := y.Pause(t.Context(), patra.WorkTarget(patra.ScopeCursor, first.Plan.CursorID), "", "me"); err != nil {
		t.Fatal(err)
	}
	req := y.ask(patra.Backfill, 0, 4)
	req.Campaign = "another"
	if other := y.plan(req); other.Added != 4 {
		t.Errorf("%d slices beside a paused campaign", other.Added)
	}
}

func TestNothingIsCountedThatCannotBePlanned(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "pubmed")
	for i := range 30_000 {
		y.from.papers = append(y.from.papers, paper{start + patra.Instant(i)*patra.Minute/2, int64(i + 1)})
	}
	y.planner.Config.Inventory = 2
	res := y.plan(y.ask(patra.Backfill, 0, 10))
	asked := y.from.asked
	if res.Plan.Status != patra.Partial || asked == 0 {
		t.Fatalf("%s after %d counts", res.Plan.Status, asked)
	}
	for range 5 {
		y.tend()
	}
	y.plan(y.ask(patra.Backfill, 0, 10))
	if y.from.asked != asked {
		t.Errorf("%d counts were asked although the queue is full", y.from.asked-asked)
	}
}

func TestCountsAreChargedToTheQuota(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "pubmed")
	for i := range 100_000 {
		y.from.papers = append(y.from.papers, paper{start + patra.Instant(i)*patra.Minute/8, int64(i + 1)})
	}
	y.file.Defaults.Rate.Quota.Daily = 200
	res := y.plan(y.ask(patra.Harvest, 0, 8))
	if used := res.Price.Requests + int64(res.Probes); res.Plan.Status != patra.Partial || used > 180+50 { // the last group may not have fitted
		t.Errorf("%s: %d counts and %d requests with 180 to spend", res.Plan.Status, res.Probes, res.Price.Requests)
	}
}

func TestAnEditedFileIsRefused(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	ctx := t.Context()
	d, err := y.planner.Draft(ctx, y.Clock.Instant(), y.ask(patra.Backfill, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*patra.Slice){
		"it asks for another day":   func(s *patra.Slice) { s.Fetch = days(20, 21) },
		"it asks for less":          func(s *patra.Slice) { s.Fetch.To = s.Fetch.From + patra.Hour },
		"it asks something else":    func(s *patra.Slice) { s.Expr = []byte(`{"op":"CONST","value":true}`) },
		"it answers for more":       func(s *patra.Slice) { s.Window.To += patra.Day; s.Fetch.To += patra.Day },
		"it pretends to be another": func(s *patra.Slice) { s.Signature = patra.Hash("x") },
		"it expects nothing":        func(s *patra.Slice) { s.Estimate = nil },
	} {
		seq, _, err := y.planner.Slices(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		var all []patra.Slice
		for sl := range seq {
			all = append(all, sl)
		}
		edit(&all[1])
		f := NewFile(y.Clock.Instant(), d, patra.CostEstimate{}, all)
		if _, err := y.planner.Apply(ctx, y.Clock.Instant(), f, f.Request(y.file, "me@example.org")); err == nil || !strings.Contains(err.Error(), "CHANGED") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rows, err := y.Slices(ctx, store.Filter{}); err != nil || len(rows) != 0 {
		t.Errorf("%d slices are stored, %v", len(rows), err)
	}
}

func TestAPlanThatOnlyFailsIsNotGoneOnWithByItself(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	y.planner.Prober = nil
	y.planner.Config.Inventory = 5
	res := y.plan(y.ask(patra.Backfill, 0, 30))
	y.fail(res.Plan.CursorID, 5)
	y.tend()
	plan, err := y.Store.Plan(t.Context(), res.Plan.ID)
	if err != nil || plan.SliceCount != 5 || plan.Status != patra.Partial {
		t.Errorf("%d slices, %s, %v", plan.SliceCount, plan.Status, err)
	}
	again := y.plan(y.ask(patra.Backfill, 0, 30)) // a person asks, when it is mended
	if again.Retried != 5 {
		t.Errorf("%d were queued again", again.Retried)
	}
	y.work(res.Plan.CursorID, 5)
	y.tend()
	if plan, err = y.Store.Plan(t.Context(), res.Plan.ID); err != nil || plan.SliceCount != 10 {
		t.Errorf("%d slices, %v", plan.SliceCount, err)
	}
}

func TestAnUpdateByIdIsGoneOnWithTheNextDay(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "unpaywall")
	y.planner.Config.Target, y.planner.Config.Inventory = 10, 2
	seed := newYard(t, storetest.Engines()[0], "crossref")
	seed.planner.Prober, seed.planner.Store, seed.World.Store = nil, y.Store, y.Store
	plan := seed.plan(seed.ask(patra.Harvest, 0, 1))
	c := y.TryTake(patra.ClaimRequest{CursorID: plan.Plan.CursorID})
	var records []patra.Observation
	for i := range 60 {
		records = append(records, y.Record("10.5555/"+strings.Repeat("x", i), days(0, 1).From, "x"))
	}
	y.Work(c, records...)
	req := Request{Source: y.file, Operation: patra.Update, ByID: true, IDsOf: "crossref", Contact: "me@example.org"}
	first := y.plan(req)
	y.Clock.Move(30 * time.Hour)
	second := y.plan(req)
	if first.Plan.ID != second.Plan.ID || first.Plan.Status != patra.Partial {
		t.Errorf("plan %d, then %d", first.Plan.ID, second.Plan.ID)
	}
}

// rival fails a plan before the planner in hand can end it.
type rival struct {
	Store
	ends int
}

func (r *rival) EndSlicing(ctx context.Context, id int64, end patra.SlicingEnd) error {
	if r.ends++; r.ends == 1 {
		if err := r.Store.EndSlicing(ctx, id, patra.SlicingEnd{Status: patra.Failed, Reason: "ANY"}); err != nil {
			return err
		}
	}
	return r.Store.EndSlicing(ctx, id, end)
}

func TestAPlanThatEndedMeanwhileIsNotCutOverAndOver(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "pubmed")
	r := &rival{Store: y.Store}
	y.planner.Store = r
	_, err := y.planner.Plan(t.Context(), y.Clock.Instant(), y.ask(patra.Harvest, 0, 1))
	if err == nil || !strings.Contains(err.Error(), "PLAN_ENDED") || r.ends != 1 {
		t.Errorf("ended %d times, %v", r.ends, err)
	}
	// The same request again makes a plan of its own.
	again := y.plan(y.ask(patra.Harvest, 0, 1))
	if again.Plan.Generation != 1 || again.Plan.Status != patra.Ready {
		t.Errorf("%+v", again.Plan)
	}
}

// Slices that were approved are stored like any others: parts of one window together, and a plan without a cursor too.
func TestAnApprovedFileIsStoredInChunksThatDoNotTearParts(t *testing.T) {
	one, two := days(0, 1), days(1, 2)
	part := func(w patra.Window) patra.Slice {
		return patra.Slice{Window: w, Spec: patra.SliceSpec{Window: &patra.SliceWindow{}, Range: &patra.SliceRange{}}}
	}
	var got []int
	for group := range together([]patra.Slice{part(one), part(one), part(two), {Window: two}, {Window: two}, part(two), part(two)}) {
		got = append(got, len(group))
	}
	if !slices.Equal(got, []int{2, 1, 1, 1, 2}) {
		t.Errorf("groups of %v", got)
	}
}

func TestAnApprovedUpdateByIdOfManyChunksIsStored(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "pubmed")
	y.planner.Prober = nil
	y.planner.Config.Target = 1
	seed := y.plan(y.ask(patra.Harvest, 0, 1))
	c := y.TryTake(patra.ClaimRequest{CursorID: seed.Plan.CursorID})
	var records []patra.Observation
	for i := range 2*chunkSize + 10 {
		records = append(records, y.Record(fmt.Sprint("id", i), days(0, 1).From, "x"))
	}
	y.Work(c, records...)
	ctx, now := t.Context(), y.Clock.Instant()
	d, err := y.planner.Draft(ctx, now, Request{Source: y.file, Operation: patra.Update, ByID: true, Contact: "me@example.org"})
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
	f := NewFile(now, d, patra.CostEstimate{}, all)
	res, err := y.planner.Apply(ctx, now, f, f.Request(y.file, "me@example.org"))
	if err != nil || res.Added != 2*chunkSize+10 || res.Plan.SliceCount != res.Added {
		t.Fatalf("%+v, %v", res, err)
	}
}
