package storetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

// space is all ids there are here.
var space = patra.IDRange{From: 1, To: 1001}

// Day is the n-th day of the tests' history.
func Day(n int) patra.Window {
	return patra.Window{From: Origin + patra.Instant(n)*patra.Day, To: Origin + patra.Instant(n+1)*patra.Day}
}

// Parts are slices that answer for some ids of one window.
func Parts(w patra.Window, ranges ...patra.IDRange) []patra.Slice {
	var parts []patra.Slice
	for i, r := range ranges {
		sl := patra.Slice{Purpose: patra.PurposeNeed, Window: w, Fetch: w, PartNo: int64(i + 1), PartCount: int64(len(ranges)), Expr: json.RawMessage(`{}`), ExprHash: patra.Hash(r),
			Spec: patra.NewTimeSlice(w, patra.UnitDay, patra.Hints{})}
		sl.Spec.Strategy = patra.StrategyHybrid
		sl.Spec.Range = &patra.SliceRange{Kind: patra.RangeNumber, Key: "uid", IDRange: r, Of: space}
		sl.Signature = sl.Spec.Signature()
		parts = append(parts, sl)
	}
	return parts
}

// Add puts slices into a plan of their own.
func (w *World) Add(slices ...patra.Slice) patra.Plan {
	w.T.Helper()
	ctx, window := w.T.Context(), slices[0].Window
	for _, sl := range slices {
		window.From, window.To = min(window.From, sl.Window.From), max(window.To, sl.Window.To)
	}
	plan := w.StartPlanFor(w.Cursor, window)
	c, _, _, err := w.Need(ctx, w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(ctx, w.Clock.Instant(), plan.ID, c.PlanVersion, slices, patra.TriggerManual, 5))
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}))
	return plan
}

// covered lists the answers of the world's cursor.
func (w *World) covered() []patra.CoverageEntry {
	w.T.Helper()
	answers, err := w.CoverageEntries(w.T.Context(), w.Cursor.ID)
	w.must(err)
	return answers
}

func claimedSpec(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	part := Parts(Day(0), patra.IDRange{From: 1, To: 500}, patra.IDRange{From: 500, To: 1001})[1]
	part.Spec.Budget, part.Spec.Hints = &patra.Budget{MaxRequests: 7}, &patra.Hints{Whole: true}
	w.Add(part)
	sl := w.Take().Slice
	if !sl.IsPart() || sl.PartNo != 2 || sl.PartCount != 2 || sl.Spec.Range.IDRange != part.Spec.Range.IDRange || sl.Spec.Range.Of != space ||
		sl.Spec.Budget.MaxRequests != 7 || !sl.Spec.Hints.Whole || sl.Spec.Signature() != part.Signature {
		t.Errorf("the claim says %+v", sl)
	}
}

func partsTogether(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	w.Add(Parts(Day(0), space.Cut(3)...)...)
	total := int64(2)
	for i := range 3 {
		c := w.Take()
		page, err := w.OpenAt(c, 1, 1, 1)
		w.must(err)
		res := w.Result(false, w.Record(store.NewOwner(), Origin, "a"), w.Record(store.NewOwner(), Origin, "b"))
		res.Total = &total
		res.Quarantined = []patra.RejectedItem{{ItemNo: 3, Code: "BAD", Fragment: []byte("x")}}
		_, _, err = w.CommitPage(t.Context(), c, w.Clock.Instant(), "work", page, res, nil)
		w.must(err)
		w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded,
			Proof: &patra.Proof{ScanNo: 1, Trust: patra.TrustExact, State: patra.StateSealed, IDsSeen: 3, Rescans: int64(i), Last: true, Rest: new(int64)}}))
		if got := w.Watermark(); i < 2 && (len(w.covered()) > 0 || got.Value != Origin) {
			t.Fatalf("after %d of 3 parts the watermark is %s and %v is covered", i+1, got.Value, w.covered())
		}
		CheckInvariants(t, Inspect(t, w.URL))
	}
	all := w.covered()
	if len(all) != 1 {
		t.Fatalf("three parts are %d answers", len(all))
	}
	a := all[0]
	if a.Kind != patra.KindGroup || a.Window != Day(0) || a.State != patra.StateSealed || a.SealedAt == nil || a.IDsSeen != 9 || a.Stored != 6 || a.Quarantined != 3 || a.Rescans != 3 ||
		*a.CountBefore != 6 || *a.CountAfter != 6 {
		t.Errorf("the answer is %+v", a)
	}
	if got := w.Watermark(); got.Value != Day(0).To || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
}

func partInDispute(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	w.Add(Parts(Day(0), space.Cut(2)...)...)
	for _, state := range []patra.Completeness{patra.StateDisputed, patra.StateSealed} {
		c := w.Take()
		w.Page(c, 1, false)
		w.must(w.Succeed(c, state))
	}
	if all := w.covered(); len(all) != 1 || all[0].State != patra.StateDisputed || all[0].SealedAt != nil {
		t.Errorf("answers %+v", all)
	}
	if got := w.Watermark(); got.Value != Day(0).To || got.SealedThrough != Origin {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
}

// The last of the parts is closed by a run that has looked for ids outside of them.
func partsThatDoNotAddUp(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	w.Add(Parts(Day(0), space.Cut(2)...)...)
	end := patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, Trust: patra.TrustExact, State: patra.StateSealed, IDsSeen: 1}}
	first := w.Take()
	w.Page(first, 1, false, w.Record("a", Origin, "a"))
	if last, err := w.IsLastPart(t.Context(), first); last || err != nil {
		t.Errorf("the first part is the last: %v, %v", last, err)
	}
	w.must(w.Finish(t.Context(), first, w.Clock.Instant(), end))
	second := w.Take()
	w.Page(second, 1, false, w.Record("b", Origin, "b"))
	if last, err := w.IsLastPart(t.Context(), second); !last || err != nil {
		t.Errorf("the second part is the last: %v, %v", last, err)
	}
	if err := w.Finish(t.Context(), second, w.Clock.Instant(), end); !errors.Is(err, patra.ErrLookAgain) {
		t.Fatalf("closed although the ids outside of the parts were not asked for: %v", err)
	}
	if task := w.Task(second.TaskID); task.Status != patra.Running || len(w.covered()) != 0 {
		t.Fatalf("the task is %s, and %+v is covered", task.Status, w.covered())
	}
	CheckInvariants(t, Inspect(t, w.URL))
	end.Proof.Last, end.Proof.Rest = true, new(int64(1))
	w.must(w.Finish(t.Context(), second, w.Clock.Instant(), end))
	all := w.covered()
	if len(all) != 1 || all[0].State != patra.StateDisputed || all[0].Proof == nil || *all[0].Proof.Rest != 1 {
		t.Errorf("answers %+v", all)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func partsAtOnce(t *testing.T, e Engine) {
	const days = 8
	w := NewWorld(t, e, 0)
	for n := range days {
		w.Add(Parts(Day(n), space.Cut(2)...)...)
	}
	pairs := map[patra.Window][]*patra.Claim{}
	for range 2 * days {
		c := w.Take()
		w.Page(c, 1, false)
		pairs[c.Slice.Window] = append(pairs[c.Slice.Window], c)
	}
	for _, pair := range pairs {
		var both sync.WaitGroup
		start := make(chan struct{})
		for _, c := range pair {
			both.Go(func() {
				<-start
				if err := w.Succeed(c, patra.StateSealed); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		both.Wait()
	}
	if all := w.covered(); len(all) != days {
		t.Errorf("%d answers for %d windows", len(all), days)
	}
	if got := w.Watermark(); got.Value != Day(days).From {
		t.Errorf("watermark %s", got.Value)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func partFails(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	plan := w.Add(Parts(Day(0), space.Cut(3)...)...)
	fault := &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}
	w.must(w.Finish(t.Context(), w.Take(), w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: fault}))
	w.Work(w.Take())
	if n, err := w.Retry(t.Context(), plan.ID); err != nil || n != 1 {
		t.Fatalf("%d parts were queued again while a sibling waits, %v", n, err)
	}
	w.Work(w.Take())
	if all := w.covered(); len(all) != 0 {
		t.Fatalf("a part is missing, and %+v is covered", all)
	}
	_, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
	if err != nil || len(covered) != 0 || len(live) != 1 {
		t.Errorf("covered %v, live %v, %v", covered, live, err)
	}
	w.Work(w.Take())
	if all := w.covered(); len(all) != 1 || all[0].Kind != patra.KindGroup {
		t.Errorf("answers %+v", all)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// Parts of another plan are another reading: together they prove nothing.
func partsOfTwoPlans(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	halves := space.Cut(2)
	w.Add(Parts(Day(0), halves[0])...)
	w.Work(w.Take())
	other := Parts(Day(0), halves[1])
	wide := Days(Day(0).To, 1)
	w.Add(append(other, wide...)...)
	w.Work(w.Take())
	w.Work(w.Take())
	for _, a := range w.covered() {
		if a.Kind == patra.KindGroup {
			t.Errorf("halves of two plans are taken for one reading: %+v", a)
		}
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func partsThatOverlap(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	w.Add(Parts(Day(0), patra.IDRange{From: 1, To: 600}, patra.IDRange{From: 400, To: 1001}, patra.IDRange{From: 500, To: 700})...)
	var claims []*patra.Claim
	for range 3 {
		claims = append(claims, w.Take())
	}
	slices.SortFunc(claims, func(a, b *patra.Claim) int { return cmp.Compare(a.Slice.PartNo, b.Slice.PartNo) })
	for _, c := range claims {
		w.Work(c)
	}
	if all := w.covered(); len(all) != 1 {
		t.Errorf("one window has %d answers", len(all))
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// Ids that were known before are settled one by one; they prove nothing about a stretch of time.
func knownIDs(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	end := patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: 1, State: patra.StateSealed, Trust: patra.TrustNone, Details: true, ByID: true}}
	if err := w.Finish(t.Context(), w.Take(), w.Clock.Instant(), end); !errors.Is(err, patra.ErrNoProof) {
		t.Errorf("a window was covered without a search: %v", err)
	}
	bucket := Stretch(Day(1))
	bucket.Spec = patra.NewRangeSlice(patra.SliceRange{Kind: patra.RangeBucket, Key: "provider_id", IDRange: patra.IDRange{From: 0, To: 1}, Of: patra.IDRange{From: 0, To: 4}})
	bucket.Signature = bucket.Spec.Signature()
	w.Add(bucket)
	c := w.Take()
	w.must(w.Finish(t.Context(), c, w.Clock.Instant(), end))
	if task := w.Task(c.TaskID); task.Status != patra.Succeeded || len(w.covered()) != 0 {
		t.Errorf("task %s, covered %+v", task.Status, w.covered())
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
