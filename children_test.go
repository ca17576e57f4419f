package patra_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// A walk keeps its order exactly as long as no record is against it and every record has a time.
func TestAWalkBelievesNoMoreOrderThanItSees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]string{patra.OrderAscending, patra.OrderDescending, patra.OrderNone}).Draw(t, "order")
		walk, kept := patra.ScanProgress{Order: order}, true
		var times []patra.Instant
		for range rapid.IntRange(0, 8).Draw(t, "records") {
			if rapid.IntRange(0, 9).Draw(t, "no time") == 0 {
				walk, kept = walk.Add(nil), false
				continue
			}
			at := patra.Instant(rapid.IntRange(0, 5).Draw(t, "at"))
			if n := len(times); n > 0 {
				kept = kept && (order != patra.OrderAscending || at >= times[n-1]) && (order != patra.OrderDescending || at <= times[n-1])
			}
			times = append(times, at)
			walk = walk.Add(&at)
		}
		if want := map[bool]string{true: order, false: patra.OrderNone}[kept]; walk.Order != want {
			t.Fatalf("%v in order %s is %s", times, order, walk.Order)
		}
		if len(times) > 0 && (*walk.Earliest != slices.Min(times) || *walk.Latest != slices.Max(times)) {
			t.Fatalf("%v is %d to %d", times, *walk.Earliest, *walk.Latest)
		}
		if last := walk.Last(); kept && order != patra.OrderNone && len(times) > 0 && *last != times[len(times)-1] {
			t.Fatalf("%v in order %s has come to %d", times, order, *last)
		}
	})
}

// A small world for cutting: some moments, each with some ids.
const (
	moments = 6
	numbers = 4
)

var everyID = patra.IDRange{From: 0, To: numbers}

func moment(n int) patra.Instant { return patra.Instant(n) * patra.Millisecond }

func stretch(from, to int) patra.Slice {
	w := patra.Window{From: moment(from), To: moment(to)}
	return patra.Slice{Purpose: patra.PurposeNeed, Window: w, Spec: patra.NewTimeSlice(w, patra.UnitMillisecond, patra.Hints{})}
}

func partOf(s patra.Slice, r patra.IDRange) patra.Slice {
	s.Spec.Strategy = patra.StrategyHybrid
	s.Spec.Range = &patra.SliceRange{Kind: patra.RangeNumber, Key: "uid", IDRange: r, Of: everyID}
	return s
}

// cells counts how often every moment of every id is answered for.
func cells(all ...patra.Slice) (count [moments][numbers]int) {
	for _, s := range all {
		ids := everyID
		if s.Spec.Range != nil {
			ids = s.Spec.Range.IDRange
		}
		for m := range count {
			for n := range count[m] {
				if s.Window.Contains(moment(m)) && ids.From <= int64(n) && int64(n) < ids.To {
					count[m][n]++
				}
			}
		}
	}
	return count
}

func drawSlice(t *rapid.T) patra.Slice {
	from := rapid.IntRange(0, moments-1).Draw(t, "from")
	s := stretch(from, rapid.IntRange(from+1, moments).Draw(t, "to"))
	if rapid.Bool().Draw(t, "part") {
		low := rapid.Int64Range(0, numbers-1).Draw(t, "low")
		s = partOf(s, patra.IDRange{From: low, To: rapid.Int64Range(low+1, numbers).Draw(t, "high")})
	}
	return s
}

// drawTiling cuts the rest of a parent in a way that is right.
func drawTiling(t *rapid.T, parent patra.Slice) (children []patra.Slice) {
	if r := parent.Spec.Range; r != nil {
		for _, piece := range r.Cut(rapid.Int64Range(1, 3).Draw(t, "parts")) {
			children = append(children, partOf(parent, piece))
		}
		return children
	}
	confirmed := patra.Window{}
	if parent.Confirmed != nil {
		confirmed = *parent.Confirmed
	}
	for _, w := range patra.RemainingWindow(parent.Window, confirmed) {
		for from := w.From; from < w.To; {
			to := min(w.To, from+moment(rapid.IntRange(1, 3).Draw(t, "length")))
			child := stretch(int(from/patra.Millisecond), int(to/patra.Millisecond))
			if rapid.Bool().Draw(t, "by ids") {
				for _, piece := range everyID.Cut(rapid.Int64Range(1, 3).Draw(t, "parts")) {
					children = append(children, partOf(child, piece))
				}
			} else {
				children = append(children, child)
			}
			from = to
		}
	}
	return children
}

func drawParent(t *rapid.T) patra.Slice {
	parent := drawSlice(t)
	if parent.IsPart() {
		return parent
	}
	length := (parent.Window.To - parent.Window.From) / patra.Millisecond
	switch at := moment(rapid.IntRange(0, int(length)).Draw(t, "confirmed")); {
	case at == 0:
	case rapid.Bool().Draw(t, "going up"):
		parent.Confirmed = &patra.Window{From: parent.Window.From, To: parent.Window.From + at}
	default:
		parent.Confirmed = &patra.Window{From: parent.Window.To - at, To: parent.Window.To}
	}
	return parent
}

func TestChildrenThatAreExactlyTheRestAreTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := drawParent(t)
		children := rapid.Permutation(drawTiling(t, parent)).Draw(t, "in any order")
		if err := parent.CheckChildren(children); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever is taken answers for every moment of every id that was left, once, and for nothing else.
func TestNoChildrenAreTakenThatLeaveAHoleOrOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := drawParent(t)
		children := drawTiling(t, parent)
		for range rapid.IntRange(1, 2).Draw(t, "mistakes") {
			switch n := len(children); rapid.IntRange(0, 2).Draw(t, "mistake") {
			case 0:
				children = append(children, drawSlice(t))
			case 1:
				if n > 0 {
					children = slices.Delete(slices.Clone(children), n-1, n)
				}
			case 2:
				if n > 0 {
					children[n-1] = drawSlice(t)
				}
			}
		}
		left := cells(parent)
		if parent.Confirmed != nil {
			for m := range left {
				if parent.Confirmed.Contains(moment(m)) {
					left[m] = [numbers]int{}
				}
			}
		}
		if err := parent.CheckChildren(children); err == nil && cells(children...) != left {
			t.Fatalf("%v are not what is left of %+v", children, parent)
		}
	})
}

func TestIDsAreAllThereAndOnce(t *testing.T) {
	day := stretch(0, 1)
	part := partOf(day, patra.IDRange{From: 1, To: 4})
	ids := func(s patra.Slice, ends ...int64) (parts []patra.Slice) {
		for i := 0; i < len(ends); i += 2 {
			parts = append(parts, partOf(s, patra.IDRange{From: ends[i], To: ends[i+1]}))
		}
		return parts
	}
	otherKey := ids(part, 1, 2, 2, 4)
	otherKey[1].Spec.Range = &patra.SliceRange{Kind: patra.RangeNumber, Key: "other", IDRange: patra.IDRange{From: 2, To: 4}, Of: everyID}
	for name, c := range map[string]struct {
		parent   patra.Slice
		children []patra.Slice
		right    bool
	}{
		"all of them":                    {day, ids(day, 0, 1, 1, 4), true},
		"some twice and others not":      {day, ids(day, 0, 2, 0, 2), false},
		"more than there are":            {day, ids(day, 0, 2, 2, 5), false},
		"those of the part":              {part, ids(day, 1, 3, 3, 4), true},
		"all, for a part":                {part, ids(day, 0, 2, 2, 4), false},
		"by another key":                 {part, otherKey, false},
		"a part that is cut by time too": {partOf(stretch(0, 2), part.Spec.Range.IDRange), append(ids(stretch(0, 1), 1, 4), ids(stretch(1, 2), 1, 4)...), false},
		"a part that is whole again":     {part, []patra.Slice{day}, false},
	} {
		if err := c.parent.CheckChildren(c.children); (err == nil) != c.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEarlyEndMustBeProvedByTheLedger(t *testing.T) {
	s, again := stretch(0, 6), stretch(0, 6)
	again.Purpose = patra.PurposeLookback
	up := patra.ScanProgress{Order: patra.OrderAscending, Earliest: ptr(moment(0)), Latest: ptr(moment(3))}
	down := patra.ScanProgress{Order: patra.OrderDescending, Earliest: ptr(moment(2)), Latest: ptr(moment(5))}
	none := patra.ScanProgress{Order: patra.OrderNone, Earliest: ptr(moment(0)), Latest: ptr(moment(3))}
	window := func(from, to int) patra.Window { return patra.Window{From: moment(from), To: moment(to)} }
	for _, c := range []struct {
		name   string
		slice  patra.Slice
		walk   patra.ScanProgress
		order  string
		says   patra.Window
		state  patra.Completeness
		proved bool
	}{
		{"up to the last record", s, up, "ASC", window(0, 3), patra.StateRead, true},
		{"less than that", s, up, "ASC", window(0, 2), patra.StateRead, true},
		{"the last record too, beside which others may follow", s, up, "ASC", window(0, 4), patra.StateRead, false},
		{"not from the beginning", s, up, "ASC", window(1, 3), patra.StateRead, false},
		{"in another order", s, up, "DESC", window(4, 6), patra.StateRead, false},
		{"down to the last record", s, down, "DESC", window(3, 6), patra.StateRead, true},
		{"that record too", s, down, "DESC", window(2, 6), patra.StateRead, false},
		{"not from the end", s, down, "DESC", window(3, 5), patra.StateRead, false},
		{"without an order", s, none, "NONE", window(0, 3), patra.StateRead, false},
		{"with an order that the ledger does not know", s, none, "ASC", window(0, 3), patra.StateRead, false},
		{"nothing, without an order", s, none, "NONE", window(0, 0), patra.StateRead, true},
		{"once more, without a proof", again, up, "ASC", window(0, 3), patra.StateRead, false},
		{"once more, with a proof", again, up, "ASC", window(0, 3), patra.StateSealed, true},
		{"for some ids only", partOf(s, patra.IDRange{From: 0, To: 2}), up, "ASC", window(0, 3), patra.StateRead, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := patra.EarlyEnd{Order: c.order, Completeness: c.state, Confirmed: c.says}.Check(c.slice, c.walk)
			if (err == nil) != c.proved {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAGroupIsAsGoodAsItsWorstPart(t *testing.T) {
	part := func(state patra.Completeness, before *int64) patra.CoverageEntry {
		return patra.CoverageEntry{Kind: patra.KindScan, State: state, CountBefore: before, CountAfter: ptr(int64(4)), IDsSeen: 3, Stored: 2, Quarantined: 1, KnownMissing: 1, Rescans: 1}
	}
	sealed, fetched, disputed := part(patra.StateSealed, ptr(int64(5))), part(patra.StateRead, nil), part(patra.StateDisputed, nil)
	for want, parts := range map[patra.Completeness][]patra.CoverageEntry{
		patra.StateSealed: {sealed, sealed, sealed}, patra.StateRead: {sealed, fetched, sealed}, patra.StateDisputed: {fetched, disputed, sealed},
	} {
		all := patra.MergeParts(parts)
		if all.State != want || all.Kind != patra.KindGroup || all.IDsSeen != 9 || all.Stored != 6 || all.Quarantined != 3 || all.KnownMissing != 3 || all.Rescans != 3 || *all.CountAfter != 12 {
			t.Errorf("%+v", all)
		}
		if (all.CountBefore != nil) != (want == patra.StateSealed) {
			t.Errorf("count before is %v", all.CountBefore)
		}
	}
	if sealed.IDsSeen != 3 || *sealed.CountBefore != 5 {
		t.Error("adding up changed a part")
	}
}
