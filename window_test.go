package patra_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestAWindowIsClosedAtFromAndOpenAtTo(t *testing.T) {
	w := patra.Window{From: 3, To: 5}
	for i, want := range map[patra.Instant]bool{2: false, 3: true, 4: true, 5: false} {
		if w.Contains(i) != want {
			t.Errorf("[3,5) contains %d is %v", i, !want)
		}
	}
	for w, want := range map[patra.Window]bool{{From: 3, To: 4}: false, {From: 3, To: 3}: true, {From: 4, To: 3}: true} {
		if w.IsEmpty() != want {
			t.Errorf("[%d,%d) is empty is %v", w.From, w.To, !want)
		}
	}
}

func TestAWindowIsWrittenWithDaysWhereBothAreMidnight(t *testing.T) {
	day := patra.Date(2026, time.March, 1)
	for want, w := range map[string]patra.Window{
		"2026-03-01~2026-03-02":               {From: day, To: day + patra.Day},
		"2026-03-01~2026-03-01T09:30:00.000Z": {From: day, To: day + 9*patra.Hour + 30*patra.Minute},
		"2026-02-28T23:59:59.999Z~2026-03-01": {From: day - patra.Millisecond, To: day},
		"1969-12-31~1970-01-01":               {From: -patra.Day, To: 0},
	} {
		if w.String() != want {
			t.Errorf("got %s, want %s", w, want)
		}
	}
}

func TestAWindowIsCutWithoutHoleOrOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPlanWindow(t)
		step := anyPeriod().Draw(t, "step")
		requireTiling(t, w, w.Cut(step))
	})
}

// drawPlanWindow draws a window of about a month at most, so that fine steps do not make a million pieces.
func drawPlanWindow(t *rapid.T) patra.Window {
	from := anyInstant().Draw(t, "from")
	to := from + patra.Instant(rapid.Int64Range(-int64(patra.Hour), 31*int64(patra.Day)).Draw(t, "length"))
	if rapid.Bool().Draw(t, "ends on a round moment") {
		to = anyUnit().Draw(t, "round to").Ceil(to)
	}
	return patra.Window{From: from, To: to}
}

func requireTiling(t *rapid.T, w patra.Window, pieces []patra.Window) {
	t.Helper()
	at := w.From
	for _, p := range pieces {
		if p.From != at || p.IsEmpty() {
			t.Fatalf("%s is cut into %v: a piece begins at %s, not at %s, or is empty", w, pieces, p.From, at)
		}
		at = p.To
	}
	if !w.IsEmpty() && at != w.To {
		t.Fatalf("%s is cut into %v, which ends at %s", w, pieces, at)
	}
	if w.IsEmpty() && len(pieces) != 0 {
		t.Fatalf("an empty window is cut into %v", pieces)
	}
}

// stepOf is n grains as a period.
func stepOf(grain patra.Unit, n int) patra.Period {
	switch grain {
	case patra.UnitMonth:
		return patra.Period{Months: n}
	case patra.UnitDay:
		return patra.Period{Days: n}
	}
	return patra.Period{Clock: time.Duration(grain.Next(0)) * time.Microsecond * time.Duration(n)}
}

// coarse are the grains that a plan is cut by.
var coarse = []patra.Unit{patra.UnitHour, patra.UnitDay, patra.UnitMonth}

func TestInnerBoundariesLieOnTheGridAndNoPieceIsLongerThanAStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, grain := drawPlanWindow(t), rapid.SampledFrom(coarse).Draw(t, "grain")
		step := stepOf(grain, rapid.IntRange(1, 9).Draw(t, "grains in a step"))
		pieces := w.Cut(step)
		requireTiling(t, w, pieces)
		for n, p := range pieces {
			if n > 0 && (step.Floor(p.From) != p.From || grain.Floor(p.From) != p.From) {
				t.Fatalf("the boundary %s does not lie on the grid of %s", p.From, step)
			}
			if p.To > step.After(p.From) {
				t.Fatalf("%s is longer than %s", p, step)
			}
		}
	})
}

func TestTheSameStretchIsTheSameSliceWhoeverPlansIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, grain := drawPlanWindow(t), rapid.SampledFrom(coarse).Draw(t, "grain")
		step := stepOf(grain, rapid.IntRange(1, 9).Draw(t, "grains in a step"))
		all := patra.Window{From: step.Floor(w.From), To: w.To}.Cut(step)
		if len(all) == 0 {
			return
		}
		first := rapid.IntRange(0, len(all)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(all)-1).Draw(t, "last")
		part := patra.Window{From: all[first].From, To: all[last].To}.Cut(step)
		if !slices.Equal(part, all[first:last+1]) {
			t.Fatalf("alone the part is cut into %v, in the whole into %v", part, all[first:last+1])
		}
		inside := patra.Window{From: all[first].From + 1, To: all[last].To}.Cut(step)
		if len(inside) > 0 && inside[0].To != all[first].To {
			t.Fatalf("who begins inside a slice ends it at %s, not at %s", inside[0].To, all[first].To)
		}
	})
}

func TestAStepHasAGridOfItsOwn(t *testing.T) {
	for _, c := range []struct{ step, at, want string }{
		{"P1D", "2026-05-13T10:00:00Z", "2026-05-13"},
		{"P7D", "2026-05-13", "2026-05-11"}, // a Monday
		{"PT6H", "2026-05-13T11:59:59Z", "2026-05-13T06:00:00Z"},
		{"P1M", "2026-01-31", "2026-01-01"},
		{"P3M", "2026-05-13", "2026-04-01"},
		{"P1Y", "2026-05-13", "2026-01-01"},
		{"P1D", "1969-12-31T23:00:00Z", "1969-12-31"},
		{"PT0S", "2026-05-13T10:00:00Z", "2026-05-13T10:00:00Z"},
	} {
		step, err := patra.ParsePeriod(c.step)
		if err != nil {
			t.Fatal(err)
		}
		at, err := patra.ParseInstant(c.at)
		if err != nil {
			t.Fatal(err)
		}
		want, err := patra.ParseInstant(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := step.Floor(at); got != want {
			t.Errorf("%s at %s: %s, want %s", c.step, c.at, got, c.want)
		}
	}
}

func TestWhoContinuesAtABoundaryCutsAsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, grain := drawPlanWindow(t), rapid.SampledFrom(coarse).Draw(t, "grain")
		step := stepOf(grain, rapid.IntRange(1, 9).Draw(t, "grains in a step"))
		all := w.Cut(step)
		for n, p := range all {
			if rest := (patra.Window{From: p.From, To: w.To}).Cut(step); !slices.Equal(rest, all[n:]) {
				t.Fatalf("from %s on: %v, before: %v", p.From, rest, all[n:])
			}
		}
	})
}

func TestAWidenedWindowIsTheSmallestOnTheGrainThatHoldsTheOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, grain, overlap := drawPlanWindow(t), anyUnit().Draw(t, "grain"), anyPeriod().Draw(t, "overlap")
		if w.IsEmpty() {
			return
		}
		wide := w.Widen(overlap, grain)
		from, to := overlap.Before(w.From), overlap.After(w.To)
		if wide.From > from || to > wide.To || wide.From > w.From || w.To > wide.To {
			t.Fatalf("%s does not hold %s with %s on both sides", wide, w, overlap)
		}
		if grain.Floor(wide.From) != wide.From || grain.Floor(wide.To) != wide.To {
			t.Fatalf("%s does not lie on %s", wide, grain)
		}
		if grain.Next(wide.From) <= from || grain.Prev(wide.To) >= to {
			t.Fatalf("%s is larger than it must be for %s", wide, w)
		}
	})
}

func TestPiecesFromEitherEndAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawPlanWindow(t)
		step := rapid.SampledFrom([]patra.Period{{Days: 1}, {Days: 7}, {Months: 1}, {Months: 12}, {Clock: 6 * time.Hour}, {}}).Draw(t, "step")
		if w.To-w.From > 400*patra.Day {
			w.To = w.From + 400*patra.Day
		}
		back := slices.Collect(w.Pieces(step, true))
		slices.Reverse(back)
		if !slices.Equal(back, w.Cut(step)) {
			t.Fatalf("%v from the end, %v from the beginning", back, w.Cut(step))
		}
	})
}
