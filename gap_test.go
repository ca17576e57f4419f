package patra_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

// evidence draws what is known about the time of a cursor.
func evidence() *rapid.Generator[patra.CoverageFacts] {
	return rapid.Custom(func(t *rapid.T) patra.CoverageFacts {
		e := patra.CoverageFacts{Answers: answers().Draw(t, "answers"), Live: patra.NewCoverage(smallWindows().Draw(t, "live")...)}
		for i, w := range smallWindows().Draw(t, "waived") {
			e.Waivers = append(e.Waivers, patra.Waiver{ID: int64(i + 1), Window: w})
		}
		for i, w := range smallWindows().Draw(t, "ended") {
			status := rapid.SampledFrom([]patra.Status{patra.Failed, patra.Cancelled}).Draw(t, "status")
			e.Ended = append(e.Ended, patra.UnfinishedSlice{SliceID: int64(i + 1), Window: w, Status: status, Early: status == patra.Failed && rapid.Bool().Draw(t, "early")})
		}
		return e
	})
}

func TestEveryMomentIsReadOrUnderWayOrListedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, span := evidence().Draw(t, "evidence"), smallWindow().Draw(t, "span")
		gaps := patra.Gaps(span, e)
		waived := func(i patra.Instant) bool {
			return slices.ContainsFunc(e.Waivers, func(w patra.Waiver) bool { return w.Window.Contains(i) })
		}
		for i := low; i < high; i++ {
			var listed []patra.Gap
			for _, g := range gaps {
				if g.Window.Contains(i) && g.Kind != patra.GapDisputed && g.Kind != patra.GapRead {
					listed = append(listed, g)
				}
			}
			read := patra.CoverageOf(e.Answers).Contains(i)
			want := span.Contains(i) && !read && (waived(i) || !e.Live.Contains(i))
			if (len(listed) == 1) != want || len(listed) > 1 {
				t.Fatalf("%d is listed as %+v: read %v, live %v, waived %v", i, listed, read, e.Live.Contains(i), waived(i))
			}
			if want && (listed[0].Kind == patra.GapWaived) != waived(i) {
				t.Fatalf("%d is %s", i, listed[0].Kind)
			}
			if want && !waived(i) && listed[0].SliceID != lastToTry(e.Ended, i) {
				t.Fatalf("%d is blamed on slice %d", i, listed[0].SliceID)
			}
		}
	})
}

// lastToTry is the newest slice that ended without an answer for a moment.
func lastToTry(ended []patra.UnfinishedSlice, i patra.Instant) (id int64) {
	for _, s := range ended {
		if s.Window.Contains(i) {
			id = max(id, s.SliceID)
		}
	}
	return id
}

func TestWhatIsNotProvedIsListedWhereItStillSpeaks(t *testing.T) {
	states := map[patra.GapKind]patra.Completeness{patra.GapDisputed: patra.StateDisputed, patra.GapRead: patra.StateRead}
	rapid.Check(t, func(t *rapid.T) {
		facts := patra.CoverageFacts{Answers: answers().Draw(t, "answers")}
		if rapid.Bool().Draw(t, "accepted") {
			facts.ReadAccepted = &patra.ReadAcceptance{Source: "demo", Reason: "enough", By: "ada"}
		}
		listed := map[patra.Completeness][]patra.Window{}
		for _, g := range patra.Gaps(patra.Window{From: low, To: high}, facts) {
			listed[states[g.Kind]] = append(listed[states[g.Kind]], g.Window)
			if accepted := g.Kind == patra.GapRead && facts.ReadAccepted != nil; states[g.Kind] != "" && (g.Actionable() == accepted || g.Unread()) {
				t.Fatalf("%+v is actionable: %v, unread: %v", g, g.Actionable(), g.Unread())
			}
		}
		for _, state := range states {
			if want := patra.CoverageByState(facts.Answers)[state]; !slices.Equal(patra.NewCoverage(listed[state]...), want) {
				t.Fatalf("%v is listed, %v is %s", listed[state], want, state)
			}
		}
	})
}

func TestWhatSpeaksIsEverythingThatWasAnsweredOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := answers().Draw(t, "answers")
		seen := map[patra.Instant]int64{}
		for _, s := range patra.EffectiveEntries(all) {
			for i := low; i < high; i++ {
				if s.For.Contains(i) {
					if other, twice := seen[i]; twice {
						t.Fatalf("answers %d and %d both speak of %d", other, s.ID, i)
					}
					seen[i] = s.ID
				}
			}
		}
		for i := low; i < high; i++ {
			if a := speaker(all, i); (a != nil) != (seen[i] != 0) || (a != nil && a.ID != seen[i]) {
				t.Fatalf("%d speaks of %d", seen[i], i)
			}
		}
	})
}

func TestGapsAsAPersonReadsThem(t *testing.T) {
	day := func(n int) patra.Instant { return patra.Date(2026, time.May, n) }
	window := func(from, to int) patra.Window { return patra.Window{From: day(from), To: day(to)} }
	refused, early := &patra.Fault{Code: patra.CodeHTTP, Status: 403}, &patra.Fault{Code: "PARTITION_LAW"}
	waiver := patra.Waiver{ID: 1, Window: window(4, 6), Reason: "lost"}
	got := patra.Gaps(window(1, 12), patra.CoverageFacts{
		Answers: []patra.CoverageEntry{{ID: 1, Window: window(1, 3), State: patra.StateSealed}, {ID: 2, Window: window(9, 10), State: patra.StateDisputed, CountAfter: ptr(int64(121)), IDsSeen: 120}},
		Live:    patra.NewCoverage(window(10, 11)),
		Waivers: []patra.Waiver{waiver},
		Ended: []patra.UnfinishedSlice{{SliceID: 4, Window: window(3, 5), Status: patra.Failed, Fault: refused}, {SliceID: 5, Window: window(6, 7), Status: patra.Cancelled},
			{SliceID: 6, Window: window(7, 9), Status: patra.Failed, Early: true, Fault: early}, {SliceID: 2, Window: window(7, 8), Status: patra.Failed, Fault: refused}},
	})
	want := []patra.Gap{
		{Window: window(3, 4), Kind: patra.GapFailed, SliceID: 4, Fault: refused},
		{Window: window(4, 6), Kind: patra.GapWaived, Waiver: &waiver},
		{Window: window(6, 7), Kind: patra.GapCancelled, SliceID: 5},
		{Window: window(7, 9), Kind: patra.GapUncut, SliceID: 6, Fault: early},
		{Window: window(9, 10), Kind: patra.GapDisputed, Counted: ptr(int64(121)), Seen: ptr(int64(120))},
		{Window: window(11, 12), Kind: patra.GapUnplanned},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAFillGoesFromTheOriginToWhereAHarvestCouldHaveRead(t *testing.T) {
	origin, now := patra.Date(2026, time.March, 1), patra.Date(2026, time.June, 1)+patra.Hour
	in := patra.WindowInputs{Operation: patra.Harvest, Now: now, SafetyLag: 10 * time.Minute, Cursor: ptr(patra.Date(2026, time.May, 1)), Began: &origin, Lookback: patra.Period{Days: 1},
		Mode: patra.ModeCalendar, Align: patra.UnitDay, Fill: true}
	d := patra.PlanWindow(in)
	if d.Window != (patra.Window{From: origin, To: patra.Date(2026, time.June, 1)}) {
		t.Errorf("without dates it is %s", d.Window)
	}
	if d.Horizon(now) != d.Window.To || d.Horizon(now+patra.Day) != d.Window.To+patra.Day {
		t.Errorf("the horizon is %s", d.Horizon(now))
	}
	in.UserFrom, in.UserTo = ptr(patra.Date(2026, time.April, 1)), ptr(patra.Date(2026, time.April, 3))
	if d := patra.PlanWindow(in); d.Window != (patra.Window{From: *in.UserFrom, To: *in.UserTo}) {
		t.Errorf("with dates it is %s", d.Window)
	}
}

// What a harvest has not come to yet is listed as ahead, and is nothing that must be done; what was left out before that is a gap. Whoever
// is asked once for all has nothing ahead.
func TestWhatLiesAheadIsNoGap(t *testing.T) {
	day := func(n int) patra.Instant { return patra.Date(2026, time.May, n) }
	window := func(from, to int) patra.Window { return patra.Window{From: day(from), To: day(to)} }
	gaps := []patra.Gap{{Window: window(1, 2), Kind: patra.GapUnplanned}, {Window: window(3, 4), Kind: patra.GapFailed, SliceID: 4}, {Window: window(5, 9), Kind: patra.GapUnplanned}}
	type line struct {
		window patra.Window
		kind   patra.GapKind
		next   string
		open   bool
	}
	left := line{window(1, 2), patra.GapUnplanned, "patra coverage fill demo --from 2026-05-01 --to 2026-05-02", true}
	failed := line{window(3, 4), patra.GapFailed, "patra coverage fill demo --from 2026-05-03 --to 2026-05-04", true}
	for _, c := range []struct {
		name      string
		operation patra.Operation
		planned   patra.Instant
		want      []line
	}{
		{"planned to the middle", patra.Harvest, day(7), []line{left, failed,
			{window(5, 7), patra.GapUnplanned, "patra coverage fill demo --from 2026-05-05 --to 2026-05-07", true}, {window(7, 9), patra.GapAhead, "patra harvest demo", false}}},
		{"planned to where it begins", patra.Harvest, day(5), []line{left, failed, {window(5, 9), patra.GapAhead, "patra harvest demo", false}}},
		{"planned to its end", patra.Harvest, day(9), []line{left, failed, {window(5, 9), patra.GapUnplanned, "patra coverage fill demo --from 2026-05-05 --to 2026-05-09", true}}},
		{"a backfill", patra.Backfill, day(5), []line{left, failed, {window(5, 9), patra.GapUnplanned, "patra coverage fill demo --from 2026-05-05 --to 2026-05-09", true}}},
	} {
		var got []line
		for _, v := range patra.GapViews(patra.Cursor{ID: 1, Namespace: asksForAll(c.operation)}, gaps, c.planned, false, nil) {
			got = append(got, line{v.Window, v.Kind, v.Next, v.Actionable()})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", c.name, got, c.want)
		}
	}
}

// asksForAll is a namespace without a query and parameters.
func asksForAll(op patra.Operation) patra.Namespace {
	n := patra.HarvestNamespace("demo", "", "changed", patra.Hash(map[string]any{"op": "CONST", "value": true}), nil)
	n.Operation = op
	return n
}

// `patra harvest SOURCE` begins another harvest where a query or parameters belong to the watermark.
func TestWhatLiesAheadIsReadByTheSameQuestion(t *testing.T) {
	gaps := []patra.Gap{{Window: patra.Window{From: patra.Date(2026, time.May, 3), To: patra.Date(2026, time.May, 4)}, Kind: patra.GapUnplanned}}
	all := patra.Hash(map[string]any{"op": "CONST", "value": true})
	for _, c := range []struct {
		ns   patra.Namespace
		want string
	}{
		{patra.HarvestNamespace("demo", "works", "changed", all, nil), "patra harvest demo"},
		{patra.HarvestNamespace("demo", "works", "changed", patra.Hash("title:x"), nil), "patra coverage fill demo --from 2026-05-03 --to 2026-05-04"},
		{patra.HarvestNamespace("demo", "works", "changed", all, map[string]string{"set": "a"}), "patra coverage fill demo --from 2026-05-03 --to 2026-05-04"},
	} {
		if views := patra.GapViews(patra.Cursor{ID: 1, Namespace: c.ns}, gaps, gaps[0].Window.From, false, nil); len(views) != 1 || views[0].Next != c.want {
			t.Errorf("%+v, not %s", views, c.want)
		}
	}
}

// What a provider does not list to its end is not read by asking again.
func TestADeepGapIsToBeCutFiner(t *testing.T) {
	gap := patra.Gap{Window: patra.Window{From: patra.Date(2026, time.May, 3), To: patra.Date(2026, time.May, 4)}, Kind: patra.GapFailed, Fault: &patra.Fault{Code: patra.CodeDeepPaging}}
	views := patra.GapViews(patra.Cursor{ID: 1, Namespace: patra.Namespace{Source: "demo", Operation: patra.Backfill}}, []patra.Gap{gap}, 0, false, nil)
	if want := "let the source cut it finer (window.size, window.split), then patra coverage fill demo --from 2026-05-03 --to 2026-05-04"; len(views) != 1 || views[0].Next != want {
		t.Errorf("got %+v, want %q", views, want)
	}
}
