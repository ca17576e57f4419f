package view

import (
	"strings"
	"testing"

	"patra"
)

func day(n int) patra.Instant { return patra.Date(2026, 5, 1) + patra.Instant(n-1)*patra.Day }

func daysOf(from, to int) patra.Coverage {
	return patra.NewCoverage(patra.Window{From: day(from), To: day(to)})
}

// A run is called done only when nothing of what it answers for is missing.
func TestOutcomeSaysNoMoreThanHappened(t *testing.T) {
	cursor := &patra.Cursor{ID: 7, Origin: day(1), Value: day(2), SealedThrough: day(2)}
	decision := patra.WindowDecision{WindowInputs: patra.WindowInputs{Operation: patra.Harvest}, Window: patra.Window{From: day(4), To: day(6)}}
	base := RunFacts{Source: "mine", Operation: patra.Harvest, Decision: decision, Cursor: cursor, Pages: 3, Slices: 2}
	for name, c := range map[string]struct {
		change      func(*RunFacts)
		code, title string
		open, next  string
	}{
		"done":       {func(*RunFacts) {}, RunComplete, "Harvested mine 2026-05-04~2026-05-06", "", ""},
		"no page":    {func(f *RunFacts) { f.Pages = 0 }, RunComplete, "Read no page of mine 2026-05-04~2026-05-06", "", ""},
		"hole ahead": {func(f *RunFacts) { f.Gaps = daysOf(2, 4) }, RunIncomplete, "Harvested mine 2026-05-04~2026-05-06", "2026-05-02~2026-05-04 missing", "patra coverage fill mine --from 2026-05-02 --to 2026-05-04"},
		"hole inside": {func(f *RunFacts) { f.Gaps = daysOf(5, 6); f.SeveralCursors = true }, RunIncomplete, "Harvested a part of mine 2026-05-04~2026-05-06", "2026-05-05~2026-05-06 missing",
			"patra coverage fill mine --from 2026-05-05 --to 2026-05-06 --cursor 7"},
		"dispute":          {func(f *RunFacts) { f.Disputed = daysOf(4, 5) }, RunIncomplete, "Harvested mine", "the provider's own count disagrees for 2026-05-04~2026-05-05", "patra coverage fill mine --from 2026-05-04 --to 2026-05-05 --disputed"},
		"stopped":          {func(f *RunFacts) { f.Interrupted = true; f.Gaps = daysOf(4, 6) }, RunStopped, "Stopped harvesting mine 2026-05-04~2026-05-06", "stopped before the end", ""},
		"failed look-back": {func(f *RunFacts) { f.Failed = 1 }, RunIncomplete, "Harvested a part of mine", "1 slice failed", "patra tasks --status FAILED"},
		"nothing": {func(f *RunFacts) {
			f.Pages, f.Slices, f.NothingToDo = 0, 0, true
			f.Decision.Window, f.Decision.Reason = patra.Window{From: day(2), To: day(2)}, patra.ReasonUpToDate
		}, RunNothing, "Nothing to harvest from mine: its watermark, 2026-05-02T00:00:00.000Z, has reached the end of the window", "", ""},
	} {
		f := base
		c.change(&f)
		got := f.Outcome()
		if got.Code != c.code || !strings.HasPrefix(got.Title, c.title) || !strings.Contains(got.Open, c.open) || got.Next != c.next || (c.open == "") != (got.Open == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A harvest answers for what lies between its origin and its window; what was never planned is ahead, and no hole.
func TestAnswerable(t *testing.T) {
	in := func(op patra.Operation, fill bool, from, to int) patra.WindowDecision {
		return patra.WindowDecision{WindowInputs: patra.WindowInputs{Operation: op, Fill: fill}, Window: patra.Window{From: day(from), To: day(to)}}
	}
	planned := patra.Window{From: day(1), To: day(6)}
	for name, c := range map[string]struct {
		d    patra.WindowDecision
		want patra.Coverage
	}{
		"window behind a hole":    {in(patra.Harvest, false, 4, 6), daysOf(1, 6)},
		"a fill":                  {in(patra.Harvest, true, 4, 6), daysOf(4, 6)},
		"a backfill":              {in(patra.Backfill, false, 4, 6), daysOf(4, 6)},
		"an empty window":         {in(patra.Harvest, false, 9, 3), daysOf(1, 3)},
		"an empty one, far ahead": {in(patra.Harvest, false, 9, 8), daysOf(1, 6)},
	} {
		got := Answerable(c.d, day(1), planned)
		if len(got) != len(c.want) || got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
