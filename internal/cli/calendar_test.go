package cli

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"patra"
)

func TestACalendarShowsTheWorstOfEveryDayAndYearsByTheWeek(t *testing.T) {
	day := func(year int, month time.Month, n int) patra.Instant { return patra.Date(year, month, n) }
	days := func(from, to int) patra.Coverage {
		return patra.NewCoverage(patra.Window{From: day(2026, time.May, from), To: day(2026, time.May, to)})
	}
	v := coverageView{
		Cursor: patra.Cursor{Namespace: patra.Namespace{Source: "demo", Endpoint: "works", Operation: patra.Harvest, Key: "indexed_at"}, Origin: day(2019, time.March, 4), Value: day(2026, time.May, 9)},
		Read:   days(2, 3), Disputed: days(3, 4), Counted: days(4, 5), Open: days(5, 6), Waived: days(6, 7),
		Gaps:     days(7, 8).Union(patra.NewCoverage(patra.Window{From: day(2020, time.January, 9), To: day(2020, time.January, 10)})),
		Disputes: []patra.EffectiveEntry{{CoverageEntry: &patra.CoverageEntry{Window: days(3, 4)[0], IDsSeen: 1_234_567}}},
	}
	var b strings.Builder
	v.print(&b)
	out := b.String()
	for _, want := range []string{
		"2026-05 █▓?○…w·█ ", // a sign a day
		"2019            █", // nothing before the origin
		"2020    █·██",      // one bad day is a bad week
		"the provider counts an unknown\n                    number, 1,234,567 were read",
		"2025-06 ██████████████████████████████\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "2025-05 ") {
		t.Errorf("more than a year is shown day by day:\n%s", out)
	}
	for line := range strings.Lines(out) {
		if utf8.RuneCountInString(line) > pageWidth+1 {
			t.Errorf("%q does not fit a page", line)
		}
	}
}

func TestALongTextIsBrokenBetweenWords(t *testing.T) {
	text := strings.Repeat("heart failure ", 20)
	for i, line := range strings.Split(wrapped(text, 18), "\n") {
		if i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", 18)) {
			t.Errorf("line %d does not begin under the first: %q", i, line)
		}
		if n := utf8.RuneCountInString(line); n > pageWidth {
			t.Errorf("line %d is %d long", i, n)
		}
	}
	if got := strings.Join(strings.Fields(wrapped(text, 18)), " "); got != strings.TrimSpace(text) {
		t.Errorf("words were lost: %q", got)
	}
}
