package storetest

import (
	"errors"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

func samePlan(t *testing.T, e Engine) {
	w := NewWorld(t, e, 2)
	again := w.StartPlanFor(w.Cursor, w.Plan.Window)
	if again.ID != w.Plan.ID || again.Status != patra.Ready || again.SliceCount != 2 {
		t.Errorf("second trigger gave plan %d %s with %d slices", again.ID, again.Status, again.SliceCount)
	}
}

func movedCursor(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Origin + 9*patra.Day})
	err := w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, w.Cursor.PlanVersion, Days(Origin+patra.Day, 2), patra.TriggerManual, 5)
	if !errors.Is(err, patra.ErrPlanMoved) {
		t.Fatalf("slices made from an old reading: %v", err)
	}
	if rows, err := w.Slices(t.Context(), store.Filter{Plan: plan.ID}); err != nil || len(rows) != 0 {
		t.Errorf("%d slices were inserted all the same, %v", len(rows), err)
	}
}

func twoPlanners(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	window := patra.Window{From: Origin + patra.Day, To: Origin + 21*patra.Day}
	var wg sync.WaitGroup
	for i := range 4 {
		plan := w.StartPlanFor(w.Cursor, patra.Window{From: window.From, To: window.To + patra.Instant(i)*patra.Day})
		wg.Go(func() {
			for {
				c, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
				if err != nil {
					t.Error(err)
					return
				}
				var need []patra.Slice
				for _, gap := range patra.NewCoverage(window).Minus(covered.Union(live)) {
					need = append(need, Days(gap.From, int((gap.To-gap.From)/patra.Day))...)
				}
				err = w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, need, patra.TriggerManual, 5)
				if !errors.Is(err, patra.ErrPlanMoved) {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	rows, err := w.Slices(t.Context(), store.Filter{Cursor: w.Cursor.ID, Limit: 1000})
	if err != nil || len(rows) != 21 {
		t.Errorf("four planners made %d slices for 21 days, %v", len(rows), err)
	}
}

func snapshots(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	body, err := w.Snapshot(t.Context(), w.Plan.Spec)
	if err != nil || string(body) != `{"v":1}` {
		t.Errorf("snapshot %s, %v", body, err)
	}
	if _, err := w.Snapshot(t.Context(), patra.Hash("other")); !errors.Is(err, patra.ErrNotFound) {
		t.Errorf("unknown snapshot: %v", err)
	}
}

func retry(t *testing.T, e Engine) {
	w := NewWorld(t, e, 3)
	fault := &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Text: "no"}
	var failed []*patra.Claim
	for range 3 {
		c := w.Take()
		w.must(w.Finish(t.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Failed, Fault: fault}))
		failed = append(failed, c)
	}
	_, covered, live, err := w.Need(t.Context(), w.Cursor.ID)
	if err != nil || len(covered) != 0 || len(live) != 0 {
		t.Fatalf("failed slices count as covered %v or live %v, %v", covered, live, err)
	}
	// Another plan takes over the first day and does it.
	plan := w.StartPlanFor(w.Cursor, patra.Window{From: Origin, To: Origin + patra.Day})
	c, _, _, err := w.Need(t.Context(), w.Cursor.ID)
	w.must(err)
	w.must(w.AddSlices(t.Context(), w.Clock.Instant(), plan.ID, c.PlanVersion, Days(Origin, 1), patra.TriggerManual, 5))
	w.Work(w.Take())
	n, err := w.Retry(t.Context(), w.Plan.ID)
	if err != nil || n != 2 {
		t.Errorf("%d of 3 were queued again, %v", n, err)
	}
	for range 2 {
		w.Work(w.Take())
	}
	if got := w.Watermark(); got.Value != Origin+3*patra.Day {
		t.Errorf("watermark %s", got.Value)
	}
	_ = failed
}
