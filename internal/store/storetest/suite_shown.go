package storetest

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"patra"
)

// boundsFoundAndDoubted: what one process found out counts for all, whoever was slower asked in vain, and only the owner of a
// task may doubt it.
func boundsFoundAndDoubted(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ctx, now := t.Context(), w.Clock.Instant()
	if f, err := w.WindowBounds(ctx, "oai", "records", "https://r.example"); err != nil || !reflect.DeepEqual(f, patra.FoundBounds{}) {
		t.Fatalf("%+v, %v", f, err)
	}
	mine := patra.FoundBounds{Source: "oai", Endpoint: "records", Address: "https://r.example", WindowBounds: patra.WindowBounds{Precision: patra.UnitDay, Upper: patra.UpperInclusive}, Evidence: "it came", FoundAt: &now, AskedAt: now}
	kept, err := w.KeepWindowBounds(ctx, now, mine)
	w.must(err)
	other := mine
	other.Upper = patra.UpperExclusive
	again, err := w.KeepWindowBounds(ctx, now, other)
	w.must(err)
	if kept.Upper != patra.UpperInclusive || kept.Version != 1 || !reflect.DeepEqual(kept, again) {
		t.Errorf("kept %+v, then %+v", kept, again)
	}
	if f, err := w.WindowBounds(ctx, "oai", "records", "https://other.example"); err != nil || f.Version != 0 {
		t.Errorf("another address has %+v, %v", f, err)
	}
	c := w.takeOf(Day(0))
	lost := *c
	lost.Fence++
	if _, err := w.DoubtWindowBounds(ctx, &lost, now, kept, "why"); !errors.Is(err, patra.ErrLeaseLost) {
		t.Errorf("one without a lease doubts: %v", err)
	}
	doubted, err := w.DoubtWindowBounds(ctx, c, now, kept, "why")
	w.must(err)
	if doubted.Upper != "" || doubted.Precision != patra.UnitDay || doubted.Doubt != "why" || doubted.Version != 2 {
		t.Errorf("doubted %+v", doubted)
	}
	if all, err := w.FoundBounds(ctx, "oai"); err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], doubted) {
		t.Errorf("listed %+v, %v", all, err)
	}
}

// shownAndNotFound: a scan that lacks what the provider has shown is a dispute, whatever the run takes it for. What the scan
// has met, and what lies in another window by now, is not missing.
func shownAndNotFound(t *testing.T, e Engine) {
	for _, c := range []struct {
		name   string
		shown  patra.ShownIDs
		missed []string
	}{
		{"nothing was shown", nil, nil},
		{"all of it was met", patra.ShownIDs{{ID: "x", At: Day(0).From, Scan: 1}}, nil},
		{"it lies in another window", patra.ShownIDs{{ID: "x", At: Day(1).From}}, nil},
		{"one is missing", patra.ShownIDs{{ID: "x", At: Day(0).From, Scan: 1}, {ID: "y", At: Day(0).From}}, []string{"y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(t, e, 2)
			k := w.takeOf(Day(0))
			p, err := w.OpenAt(k, 1, 1, 1)
			w.must(err)
			res := w.Result(false)
			res.Shown = c.shown
			_, _, err = w.CommitPage(t.Context(), k, w.Clock.Instant(), "work", p, res, nil)
			w.must(err)
			if got, err := w.Shown(t.Context(), k.Slice.ID); err != nil || !slices.Equal(got, c.shown) {
				t.Errorf("kept %v, %v", got, err)
			}
			w.must(w.Succeed(k, patra.StateSealed))
			gaps, err := w.Gaps(t.Context(), w.Cursor.ID, Day(0))
			w.must(err)
			var missed []string
			for _, g := range gaps {
				missed = append(missed, g.Missing...)
			}
			if !slices.Equal(missed, c.missed) {
				t.Errorf("missing are %v, want %v: %+v", missed, c.missed, gaps)
			}
		})
	}
}

// movedAndReadLater: an id that was shown and is missing ends its dispute when the last window of its plan, or of a later plan,
// brings it with a date there. One that comes with a date in the disputed window, or not at all, does not.
func movedAndReadLater(t *testing.T, e Engine) {
	for _, c := range []struct {
		name    string
		id      string
		at      patra.Instant
		state   patra.Completeness // of the scan, apart from the id
		later   bool               // another plan brings it
		settles bool
	}{
		{"it moved to the later window", "y", Day(1).From + patra.Hour, patra.StateSealed, false, true},
		{"it moved to a window of the next plan", "y", Day(2).From + patra.Hour, patra.StateSealed, true, true},
		{"it has a date in the window", "y", Day(0).From + patra.Hour, patra.StateSealed, false, false},
		{"another came", "z", Day(1).From + patra.Hour, patra.StateSealed, false, false},
		{"the count is in dispute as well", "y", Day(1).From + patra.Hour, patra.StateDisputed, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(t, e, 2)
			k := w.takeOf(Day(0))
			p, err := w.OpenAt(k, 1, 1, 1)
			w.must(err)
			res := w.Result(false)
			res.Shown = patra.ShownIDs{{ID: "y", At: Day(0).From}}
			_, _, err = w.CommitPage(t.Context(), k, w.Clock.Instant(), "work", p, res, nil)
			w.must(err)
			w.must(w.Succeed(k, c.state))
			if through := w.Watermark().SealedThrough; through != Day(0).From {
				t.Fatalf("complete through %s with an id missing", through)
			}
			if c.later {
				w.Work(w.takeOf(Day(1)))
				next := w.StartPlanFor(w.Watermark(), Day(2))
				cursor, _, _, err := w.Need(t.Context(), w.Cursor.ID)
				w.must(err)
				w.must(w.AddSlices(t.Context(), w.Clock.Instant(), next.ID, cursor.PlanVersion, Days(Day(2).From, 1), patra.TriggerManual, 5))
				w.must(w.EndSlicing(t.Context(), next.ID, patra.SlicingEnd{Status: patra.Ready}))
			}
			w.Work(w.Take(), w.Record(c.id, c.at, "one"))
			gaps, err := w.Gaps(t.Context(), w.Cursor.ID, Day(0))
			w.must(err)
			through := w.Watermark().SealedThrough
			if settled := len(gaps) == 0 && through == w.Watermark().Value; settled != c.settles {
				t.Errorf("settled: %v, want %v; complete through %s, gaps %+v", settled, c.settles, through, gaps)
			}
		})
	}
}
