package patra_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

// mapFacts draws what a map is made of; what is live belongs to slices.
func mapFacts() *rapid.Generator[patra.MapFacts] {
	return rapid.Custom(func(t *rapid.T) patra.MapFacts {
		f := patra.MapFacts{CoverageFacts: evidence().Draw(t, "evidence")}
		f.Live = nil
		for i, w := range smallWindows().Draw(t, "slices") {
			s := patra.LiveSlice{SliceID: int64(100 + i), TaskID: int64(200 + i), Windows: []patra.Window{w}, Running: rapid.Bool().Draw(t, "running"), Recut: rapid.Bool().Draw(t, "recut")}
			if rapid.Bool().Draw(t, "counted") {
				s.Expected = new(int64)
			}
			f.Slices = append(f.Slices, s)
			f.Live = f.Live.Union(patra.NewCoverage(w))
		}
		return f
	})
}

// oracle is what is true of one moment, moment by moment.
func oracle(f patra.MapFacts, i patra.Instant) (states []patra.MapState) {
	for _, s := range patra.EffectiveEntries(f.Answers) {
		if s.For.Contains(i) {
			return []patra.MapState{patra.MapState(s.State)}
		}
	}
	for _, w := range f.Waivers {
		if w.Window.Contains(i) {
			return []patra.MapState{patra.MapWaived}
		}
	}
	var newest patra.LiveSlice
	for _, s := range f.Slices {
		if patra.NewCoverage(s.Windows...).Contains(i) && s.SliceID > newest.SliceID {
			newest = s
		}
	}
	switch {
	case newest.SliceID == 0:
		return []patra.MapState{patra.MapGap, patra.MapFailed}
	case newest.Recut:
		return []patra.MapState{patra.MapOpen}
	case newest.Running:
		return []patra.MapState{patra.MapRunning}
	}
	return []patra.MapState{patra.MapQueued}
}

// tiles fails unless segments fill a window without overlap and without a hole.
func tiles(t *rapid.T, w patra.Window, all []patra.Segment) {
	at := w.From
	for _, s := range all {
		if s.From != at || s.To <= s.From {
			t.Fatalf("%+v does not begin at %d", s, at)
		}
		at = s.To
	}
	if !w.IsEmpty() && at != w.To {
		t.Fatalf("it ends at %d and not at %d", at, w.To)
	}
}

func TestAMapFillsItsWindowAndIsTrueOfEachMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, w := mapFacts().Draw(t, "facts"), smallWindow().Draw(t, "window")
		all := patra.Segments(w, f)
		if w.IsEmpty() {
			if len(all) != 0 {
				t.Fatalf("%+v of nothing", all)
			}
			return
		}
		tiles(t, w, all)
		for _, s := range all {
			for i := s.From; i < s.To; i++ {
				if want := oracle(f, i); !slices.Contains(want, s.State) {
					t.Fatalf("%d is %s and not %v", i, s.State, want)
				}
			}
		}
	})
}

// plainSegments is the map drawn answer by answer and gap by gap, as the rules say it and without a thought for time.
func plainSegments(w patra.Window, f patra.MapFacts) []patra.Segment {
	all := []patra.Segment{}
	var told []patra.Window
	for _, a := range patra.EffectiveEntries(f.Answers) {
		upTo := func(at patra.Instant) int64 {
			return a.IDsSeen * int64(at-a.Window.From) / int64(a.Window.To-a.Window.From)
		}
		for _, part := range a.For.Clip(w) {
			told = append(told, part)
			s := patra.Segment{From: part.From, To: part.To, State: patra.MapState(a.State), SliceID: a.SliceID, Records: ptr(upTo(part.To) - upTo(part.From))}
			if a.Window == part {
				s.Expected = a.CountAfter
			}
			if a.State == patra.StateSealed && a.CountAfter != nil && a.IDsSeen < *a.CountAfter {
				s.State, s.Said = patra.MapShort, fmt.Sprintf("%d of %d were read: %d fewer than the provider's count", a.IDsSeen, *a.CountAfter, *a.CountAfter-a.IDsSeen)
			}
			if a.State == patra.StateDisputed && a.CountAfter != nil {
				s.Said = fmt.Sprintf("the provider counts %d, %d were read", *a.CountAfter, a.IDsSeen)
			}
			all = append(all, s)
		}
	}
	states := map[patra.GapKind]patra.MapState{patra.GapUnplanned: patra.MapGap, patra.GapCancelled: patra.MapGap, patra.GapFailed: patra.MapFailed, patra.GapUncut: patra.MapFailed, patra.GapWaived: patra.MapWaived}
	for _, g := range patra.Gaps(w, f.CoverageFacts) {
		if g.Kind == patra.GapDisputed || g.Kind == patra.GapRead {
			continue
		}
		told = append(told, g.Window)
		s := patra.Segment{From: g.Window.From, To: g.Window.To, State: states[g.Kind], SliceID: g.SliceID, Said: g.Reason()}
		for _, e := range f.Ended {
			if e.SliceID == g.SliceID {
				s.TaskID = e.TaskID
			}
		}
		all = append(all, s)
	}
	rest := patra.NewCoverage(w).Minus(patra.NewCoverage(told...))
	newest := slices.Clone(f.Slices)
	slices.SortFunc(newest, func(a, b patra.LiveSlice) int { return cmp.Compare(b.SliceID, a.SliceID) })
	for _, l := range newest {
		state := patra.MapQueued
		if l.Running {
			state = patra.MapRunning
		}
		if l.Recut {
			state = patra.MapOpen
		}
		for _, own := range patra.NewCoverage(l.Windows...) {
			for _, part := range rest.Clip(own) {
				all = append(all, patra.Segment{From: part.From, To: part.To, State: state, SliceID: l.SliceID, TaskID: l.TaskID, Expected: l.Expected})
			}
		}
		rest = rest.Minus(patra.NewCoverage(l.Windows...))
	}
	for _, part := range rest {
		all = append(all, patra.Segment{From: part.From, To: part.To, State: patra.MapOpen})
	}
	slices.SortFunc(all, func(a, b patra.Segment) int { return cmp.Compare(a.From, b.From) })
	return all
}

func TestAMapIsTheSameHoweverItIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, part := mapFacts().Draw(t, "facts"), smallWindow().Draw(t, "window")
		for i := range f.Answers {
			a := &f.Answers[i]
			a.SliceID, a.IDsSeen = int64(300+i), int64(rapid.IntRange(0, 1000).Draw(t, "seen"))
			if rapid.Bool().Draw(t, "counted") {
				a.CountAfter = ptr(int64(i))
			}
		}
		for _, w := range []patra.Window{part, {From: low, To: high}} {
			if got, want := patra.Segments(w, f), plainSegments(w, f); !reflect.DeepEqual(got, want) {
				a, _ := json.MarshalIndent(got, "", " ")
				b, _ := json.MarshalIndent(want, "", " ")
				t.Fatalf("%s\nand not\n%s", a, b)
			}
		}
	})
}

func TestAMapWithFewerSegmentsIsNoBetterThanItWas(t *testing.T) {
	worst := []patra.MapState{patra.MapGap, patra.MapFailed, patra.MapWaived, patra.MapOpen, patra.MapAhead, patra.MapQueued, patra.MapRunning, patra.MapDisputed, patra.MapRead, patra.MapShort, patra.MapSealed}
	rapid.Check(t, func(t *rapid.T) {
		f, w := mapFacts().Draw(t, "facts"), smallWindow().Draw(t, "window")
		all, most := patra.Segments(w, f), rapid.IntRange(1, 10).Draw(t, "most")
		fewer, merged := patra.CoalesceSegments(slices.Clone(all), most)
		if len(fewer) > most || len(fewer)+merged != len(all) {
			t.Fatalf("%d of %d, %d merged", len(fewer), len(all), merged)
		}
		if !w.IsEmpty() {
			tiles(t, w, fewer)
		}
		var before, after int64
		for _, s := range all {
			if s.Records != nil {
				before += *s.Records
			}
			i := slices.IndexFunc(fewer, func(g patra.Segment) bool { return g.From <= s.From && s.To <= g.To })
			if i < 0 || slices.Index(worst, fewer[i].State) > slices.Index(worst, s.State) {
				t.Fatalf("%+v became better", s)
			}
		}
		for _, s := range fewer {
			if s.Records != nil {
				after += *s.Records
			}
		}
		if before != after {
			t.Fatalf("%d records became %d", before, after)
		}
	})
}

// A day is as bad as the worst part of it, and no record is lost between days.
func TestADayIsTheWorstOfItsParts(t *testing.T) {
	worst := []patra.MapState{patra.MapGap, patra.MapFailed, patra.MapWaived, patra.MapOpen, patra.MapAhead, patra.MapQueued, patra.MapRunning, patra.MapDisputed, patra.MapRead, patra.MapShort, patra.MapSealed}
	rapid.Check(t, func(t *rapid.T) {
		f, w := mapFacts().Draw(t, "facts"), smallWindow().Draw(t, "window")
		all := patra.Segments(w, f)
		for i := range all { // a moment is six hours
			all[i].From, all[i].To = all[i].From*6*patra.Hour, all[i].To*6*patra.Hour
		}
		days := patra.MapDays(all, 1000)
		var before, after int64
		for _, s := range all {
			if s.Records != nil {
				before += *s.Records
			}
		}
		for n, d := range days {
			after += d.Records
			at, err := patra.ParseInstant(d.Day)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				if prev, _ := patra.ParseInstant(days[n-1].Day); at-prev != patra.Day {
					t.Fatalf("%s comes after %s", d.Day, days[n-1].Day)
				}
			}
			state, gaps := patra.MapSealed, int64(0)
			for _, s := range all {
				if s.From < at+patra.Day && at < s.To {
					if slices.Index(worst, s.State) < slices.Index(worst, state) {
						state = s.State
					}
					if s.State == patra.MapGap || s.State == patra.MapFailed {
						gaps++
					}
				}
			}
			if state != d.State || gaps != d.Gaps {
				t.Fatalf("%s is %s with %d gaps, and not %s with %d", d.Day, d.State, d.Gaps, state, gaps)
			}
		}
		if before != after {
			t.Fatalf("%d records in segments, %d in days", before, after)
		}
		if len(all) > 0 && len(patra.MapDays(all, 3)) > 3 {
			t.Fatal("more days than were wanted")
		}
	})
}

func TestAHundredThousandAnswersAreDrawnInAMoment(t *testing.T) {
	var f patra.MapFacts
	for i := range patra.Instant(100_000) {
		f.Answers = append(f.Answers, patra.CoverageEntry{ID: int64(i + 1), SliceID: int64(i + 1), Window: patra.Window{From: i * patra.Hour, To: (i + 1) * patra.Hour}, State: patra.StateSealed, ClosedAt: i})
	}
	began := time.Now()
	all := patra.Segments(patra.Window{To: 100_000 * patra.Hour}, f)
	fewer, merged := patra.CoalesceSegments(all, 2000)
	if len(all) != 100_000 || len(fewer) != 1 || merged != 99_999 || len(patra.MapDays(fewer, 4000)) != 4000 {
		t.Errorf("%d segments, %d of them left", len(all), len(fewer))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// What lies behind all that was ever planned is ahead; what was left out before that is a gap.
func TestAhead(t *testing.T) {
	seg := func(from, to int64, state patra.MapState) patra.Segment {
		return patra.Segment{From: patra.Instant(from), To: patra.Instant(to), State: state}
	}
	all := []patra.Segment{seg(0, 10, patra.MapSealed), seg(10, 20, patra.MapGap), seg(20, 30, patra.MapQueued), seg(30, 50, patra.MapGap)}
	for planned, want := range map[patra.Instant][]patra.Segment{
		30: {all[0], all[1], all[2], seg(30, 50, patra.MapAhead)},
		40: {all[0], all[1], all[2], seg(30, 40, patra.MapGap), seg(40, 50, patra.MapAhead)},
		50: all,
		0:  {all[0], seg(10, 20, patra.MapAhead), all[2], seg(30, 50, patra.MapAhead)},
	} {
		if got := patra.SplitAhead(all, planned); !slices.Equal(got, want) {
			t.Errorf("planned to %d: %+v", planned, got)
		}
	}
}

// A window with fewer records than the provider counts is no exact match, though both are sealed.
func TestFewerRecordsThanExpectedAreNoExactMatch(t *testing.T) {
	day := patra.Window{From: 0, To: patra.Day}
	for _, c := range []struct {
		seen  int64
		count *int64
		want  patra.MapState
		said  string
	}{
		{1115, ptr(int64(1115)), patra.MapSealed, ""},
		{1108, ptr(int64(1115)), patra.MapShort, "1,108 of 1,115 were read: 7 fewer than the provider's count"},
		{1116, ptr(int64(1115)), patra.MapSealed, ""},
		{1108, nil, patra.MapSealed, ""},
	} {
		f := patra.MapFacts{CoverageFacts: patra.CoverageFacts{Answers: []patra.CoverageEntry{{ID: 1, Window: day, State: patra.StateSealed, IDsSeen: c.seen, CountAfter: c.count}}}}
		all := patra.Segments(day, f)
		if len(all) != 1 || all[0].State != c.want || all[0].Said != c.said {
			t.Errorf("%d of %v: %+v", c.seen, c.count, all)
		}
		if days := patra.MapDays(all, 9); days[0].State != c.want {
			t.Errorf("%d of %v: the day is %s", c.seen, c.count, days[0].State)
		}
	}
}
