package storetest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

// Week is a slice of seven days.
func Week(from patra.Instant) patra.Slice {
	return Stretch(patra.Window{From: from, To: from + 7*patra.Day})
}

// Stretch is a slice of any length.
func Stretch(w patra.Window) patra.Slice {
	sl := Days(w.From, 1)[0]
	sl.Window, sl.Fetch, sl.Spec = w, w, patra.NewTimeSlice(w, patra.UnitDay, patra.Hints{})
	sl.Signature, sl.ExprHash = sl.Spec.Signature(), patra.Hash(w)
	return sl
}

// Ordered commits one page of a walk that kept to an order, with a record at each time.
func (w *World) Ordered(c *patra.Claim, ordinal int64, order string, times ...patra.Instant) {
	w.T.Helper()
	page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
	w.must(err)
	var records []patra.Observation
	for _, at := range times {
		records = append(records, w.Record(store.NewOwner(), at, "x"))
	}
	res := w.Result(true, records...)
	if res.Order = order; len(times) > 0 {
		earliest, latest := slices.Min(times), slices.Max(times)
		res.TimeMin, res.TimeMax = &earliest, &latest
	}
	_, _, err = w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, res, nil)
	w.must(err)
}

// Early ends a task before its slice does.
func (w *World) Early(c *patra.Claim, order string, trust patra.Trust, confirmed patra.Window) error {
	state := patra.StateSealed
	if trust == patra.TrustExact {
		state = patra.StateRead
	}
	return w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Partial, Early: &patra.EarlyEnd{Completeness: state, Reslice: patra.Reslice{Reason: patra.ResliceRequests, Requests: 2, Records: 5},
		ScanNo: c.Task.ScanNo, Order: order, Trust: trust, Confirmed: confirmed, IDsSeen: 4}})
}

var nothing patra.Window

func earlyEnd(t *testing.T, e Engine) {
	for _, c := range []struct {
		name, order string
		trust       patra.Trust
		confirmed   patra.Window
		state       patra.Completeness
		watermark   patra.Instant
	}{
		{"going up", patra.OrderAscending, patra.TrustNone, patra.Window{From: Origin, To: Day(2).From}, patra.StateSealed, Day(2).From},
		{"going up, with a count to come", patra.OrderAscending, patra.TrustExact, patra.Window{From: Origin, To: Day(2).From}, patra.StateRead, Day(2).From},
		{"going down", patra.OrderDescending, patra.TrustEstimate, patra.Window{From: Day(3).From, To: Day(6).To}, patra.StateSealed, Origin},
		{"in no order", patra.OrderNone, patra.TrustNone, nothing, "", Origin},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(t, e, 0)
			w.T = t
			plan := w.Add(Week(Origin))
			claim := w.Take()
			if c.order == patra.OrderDescending {
				w.Ordered(claim, 1, c.order, Day(6).From, Day(4).From)
				w.Ordered(claim, 2, c.order, Day(3).From+patra.Hour, Day(2).From+patra.Hour)
			} else {
				w.Ordered(claim, 1, c.order, Day(0).From, Day(1).From)
				w.Ordered(claim, 2, c.order, Day(1).From+patra.Hour, Day(2).From+patra.Hour)
			}
			w.must(w.Early(claim, c.order, c.trust, c.confirmed))
			task := w.Task(claim.TaskID)
			runs, err := w.Runs(t.Context(), store.Filter{})
			if err != nil || task.Status != patra.Partial || runs[0].Status != patra.Partial || runs[0].Exhausted {
				t.Errorf("task %s, run %+v, %v", task.Status, runs[0], err)
			}
			rest := patra.RemainingWindow(claim.Slice.Window, c.confirmed)
			_, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
			if err != nil || !slices.Equal(live, rest) || !slices.Equal(covered, patra.NewCoverage(c.confirmed)) {
				t.Errorf("covered %v, live %v, %v", covered, live, err)
			}
			if got := w.Watermark(); got.Value != c.watermark {
				t.Errorf("watermark %s", got.Value)
			}
			if all := w.covered(); !c.confirmed.IsEmpty() && (all[0].Kind != patra.KindConfirmed || all[0].State != c.state || all[0].IDsSeen != 4 || (all[0].SealedAt == nil) == (c.state == patra.StateSealed)) {
				t.Errorf("answers %+v", all)
			}
			if n, err := w.Retry(t.Context(), plan.ID); err != nil || n != 0 {
				t.Errorf("%d slices that wait to be cut were queued again, %v", n, err)
			}
			CheckInvariants(t, Inspect(t, w.URL))
		})
	}
}

func earlyEndWithoutProof(t *testing.T, e Engine) {
	asc, desc := patra.OrderAscending, patra.OrderDescending
	until := func(n int) patra.Window { return patra.Window{From: Origin, To: Day(n).From} }
	for _, c := range []struct {
		name      string
		slice     patra.Slice
		walk      func(*World, *patra.Claim)
		order     string
		confirmed patra.Window
	}{
		{"more than was seen", Week(Origin), nil, asc, until(3)},
		{"the last moment, where more may follow", Week(Origin), nil, asc, patra.Window{From: Origin, To: Day(2).From + patra.Hour}},
		{"the wrong end", Week(Origin), nil, asc, patra.Window{From: Day(1).From, To: Day(2).From}},
		{"more than the window", Week(Origin), nil, asc, patra.Window{From: Origin - patra.Day, To: Day(2).From}},
		{"another order", Week(Origin), nil, desc, patra.Window{From: Day(3).From, To: Day(6).To}},
		{"no order", Week(Origin), nil, patra.OrderNone, until(2)},
		{"an order that was lost on the way", Week(Origin), func(w *World, c *patra.Claim) {
			w.Ordered(c, 1, asc, Day(0).From)
			w.Ordered(c, 2, patra.OrderNone, Day(2).From+patra.Hour)
		}, asc, until(2)},
		{"a page that is missing", Week(Origin), func(w *World, c *patra.Claim) {
			w.Ordered(c, 1, asc, Day(0).From)
			w.Ordered(c, 3, asc, Day(2).From+patra.Hour)
		}, asc, until(2)},
		{"no page at all", Week(Origin), func(*World, *patra.Claim) {}, asc, until(2)},
		{"some ids only", Parts(patra.Window{From: Origin, To: Day(6).To}, space)[0], nil, asc, until(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(t, e, 0)
			w.T = t
			w.Add(c.slice)
			claim := w.Take()
			if c.walk != nil {
				c.walk(w, claim)
			} else {
				w.Ordered(claim, 1, asc, Day(0).From, Day(1).From)
				w.Ordered(claim, 2, asc, Day(2).From+patra.Hour)
			}
			before := dump(t, w)
			if err := w.Early(claim, c.order, patra.TrustNone, c.confirmed); !errors.Is(err, patra.ErrNoProof) {
				t.Errorf("%s was confirmed: %v", c.confirmed, err)
			}
			if after := dump(t, w); after != before {
				t.Error("something was written all the same")
			}
			w.must(w.Early(claim, c.order, patra.TrustNone, nothing))
		})
	}
}

// partial is a world with a week that ended early after its second day.
func partial(t *testing.T, e Engine) (*World, patra.Slice) {
	w := NewWorld(t, e, 0)
	w.Add(Week(Origin))
	c := w.Take()
	w.Ordered(c, 1, patra.OrderAscending, Day(0).From, Day(2).From+patra.Hour)
	w.must(w.Early(c, patra.OrderAscending, patra.TrustNone, patra.Window{From: Origin, To: Day(2).From}))
	return w, w.early(1)[0]
}

// early lists the slices that wait to be cut.
func (w *World) early(n int) []patra.Slice {
	w.T.Helper()
	all, err := w.PartialSlices(w.T.Context(), w.Cursor.ID, 100)
	w.must(err)
	if len(all) != n {
		w.T.Fatalf("%d slices wait to be cut", len(all))
	}
	return all
}

// SplitInto cuts a slice.
func (w *World) SplitInto(parent patra.Slice, children ...patra.Slice) error {
	return w.Split(w.T.Context(), w.Clock.Instant(), parent, children, patra.TriggerReslice, 5)
}

func splitting(t *testing.T, e Engine) {
	w, parent := partial(t, e)
	if parent.Reslice == nil || parent.Reslice.Reason != patra.ResliceRequests || parent.Confirmed == nil || parent.Confirmed.To != Day(2).From || parent.Spec.Window == nil || parent.PlanID == 0 || parent.Fetch != parent.Window {
		t.Errorf("a planner is told %+v", parent)
	}
	if all, err := w.PartialSlices(t.Context(), 0, 1); err != nil || len(all) != 1 {
		t.Errorf("%d slices of all cursors, %v", len(all), err)
	}
	if all, err := w.PartialSlices(t.Context(), w.Cursor.ID+1, 1); err != nil || len(all) != 0 {
		t.Errorf("%d slices of another cursor, %v", len(all), err)
	}
	was, _, liveBefore, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	w.must(w.SplitInto(parent, append(Parts(Day(2), space.Cut(2)...), Stretch(patra.Window{From: Day(3).From, To: Day(5).From}), Stretch(patra.Window{From: Day(5).From, To: Day(6).To}))...))
	w.early(0)
	is, _, live, err := w.Need(t.Context(), w.Cursor.ID)
	if err != nil || !slices.Equal(live, liveBefore) || is.PlanVersion == was.PlanVersion {
		t.Errorf("live %v, then %v; plan version %d, then %d, %v", liveBefore, live, was.PlanVersion, is.PlanVersion, err)
	}
	rows, err := w.Slices(t.Context(), store.Filter{Plan: parent.PlanID})
	plan, planErr := w.Store.Plan(t.Context(), parent.PlanID)
	if err != nil || planErr != nil || len(rows) != 5 || plan.SliceCount != 5 || rows[0].No != 5 || rows[0].ParentID != parent.ID || rows[4].Status != patra.Split {
		t.Errorf("slices %+v of %+v, %v, %v", rows, plan, err, planErr)
	}
	CheckInvariants(t, Inspect(t, w.URL))
	for range 4 {
		w.Work(w.Take())
	}
	if got := w.Watermark(); got.Value != Day(6).To || got.SealedThrough != got.Value {
		t.Errorf("watermark %s, complete through %s", got.Value, got.SealedThrough)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func splitOfAPart(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	halves := space.Cut(2)
	w.Add(Parts(Day(0), halves...)...)
	for range 2 {
		c := w.Take()
		if c.Slice.Spec.Range.IDRange == halves[0] {
			w.Work(c)
			continue
		}
		w.must(w.Early(c, patra.OrderNone, patra.TrustExact, nothing))
	}
	parent := w.early(1)[0]
	if err := w.SplitInto(parent, Parts(Day(0), space.Cut(2)...)...); err == nil {
		t.Error("a part was cut into more ids than it had")
	}
	w.must(w.SplitInto(parent, Parts(Day(0), halves[1].Cut(3)...)...))
	for i := range 3 {
		if len(w.covered()) != 0 {
			t.Fatalf("covered after %d of 3 parts of a part", i)
		}
		w.Work(w.Take())
	}
	if all := w.covered(); len(all) != 1 || all[0].Kind != patra.KindGroup {
		t.Errorf("answers %+v", all)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

// A walk that came beyond its window without an end has nothing left to cut.
func splitIntoNothing(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	w.Add(Stretch(Day(0)))
	c := w.Take()
	w.Ordered(c, 1, patra.OrderAscending, Day(0).From, Day(1).From)
	w.must(w.Early(c, patra.OrderAscending, patra.TrustNone, Day(0)))
	w.must(w.SplitInto(w.early(1)[0]))
	if got := w.Watermark(); got.Value != Day(0).To {
		t.Errorf("watermark %s", got.Value)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}

func splitRefused(t *testing.T, e Engine) {
	w, parent := partial(t, e)
	stretch := func(from, to int) patra.Slice { return Stretch(patra.Window{From: Day(from).From, To: Day(to).From}) }
	lying := stretch(2, 7)
	lying.Spec = patra.NewTimeSlice(Day(2), patra.UnitDay, patra.Hints{})
	halves := space.Cut(2)
	mixed := Parts(Day(2), halves...)
	mixed[1].Spec.Range.Key = "other"
	before := dump(t, w)
	for name, children := range map[string][]patra.Slice{
		"none at all":                     nil,
		"a hole":                          {stretch(2, 4), stretch(5, 7)},
		"an overlap":                      {stretch(2, 5), stretch(4, 7)},
		"what is confirmed once more":     {stretch(0, 7)},
		"the same twice":                  {stretch(2, 7), stretch(2, 7)},
		"too little":                      {stretch(2, 6)},
		"too much":                        {stretch(2, 8)},
		"a spec that says something else": {lying},
		"half of the ids":                 append(Parts(Day(2), halves[0]), stretch(3, 7)),
		"ids twice":                       append(Parts(Day(2), halves[0], space), stretch(3, 7)),
		"ids of two kinds":                append(mixed, stretch(3, 7)),
		"all ids of the whole window":     Parts(parent.Window, halves...),
	} {
		if err := w.SplitInto(parent, children...); err == nil || errors.Is(err, patra.ErrIllegalMove) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := dump(t, w); after != before {
		t.Error("something was written all the same")
	}
	lost := parent
	lost.ID += 100
	if err := w.SplitInto(lost, stretch(2, 7)); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("a slice that is not there: %v", err)
	}
}

func twoSplitters(t *testing.T, e Engine) {
	w := NewWorld(t, e, 0)
	const weeks = 6
	var all []patra.Slice
	for i := range weeks {
		all = append(all, Week(Day(7*i).From))
	}
	w.Add(all...)
	for range weeks {
		w.must(w.Early(w.Take(), patra.OrderNone, patra.TrustNone, nothing))
	}
	var won sync.Map
	var wg sync.WaitGroup
	start := make(chan struct{})
	for _, parent := range w.early(weeks) {
		for planner := range 3 {
			wg.Go(func() {
				<-start
				middle := parent.Window.From + patra.Instant(planner+2)*patra.Day
				err := w.SplitInto(parent, Stretch(patra.Window{From: parent.Window.From, To: middle}), Stretch(patra.Window{From: middle, To: parent.Window.To}))
				if err == nil {
					if _, twice := won.LoadOrStore(parent.ID, planner); twice {
						t.Error("two planners cut the same slice")
					}
				} else if !errors.Is(err, patra.ErrIllegalMove) {
					t.Error(err)
				}
			})
		}
	}
	close(start)
	wg.Wait()
	rows, err := w.Slices(t.Context(), store.Filter{Cursor: w.Cursor.ID, Status: patra.Ready, Limit: 100})
	if err != nil || len(rows) != 2*weeks {
		t.Errorf("%d children of %d slices, %v", len(rows), weeks, err)
	}
	CheckInvariants(t, Inspect(t, w.URL))
}
