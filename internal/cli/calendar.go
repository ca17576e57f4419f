package cli

import (
	"fmt"
	"io"
	"strings"

	"patra"
)

// calendarMonths is how many months are shown day by day; what lies before is shown week by week.
const calendarMonths = 12

// calendarYears is how many years are shown week by week, so that a century of history fits a screen.
const calendarYears = 30

// calendar draws a line a month with a sign a day, and above them a line a year with a sign a week. No line is longer
// than 62 columns.
func (v coverageView) calendar(w io.Writer) {
	span := v.span()
	if span.IsEmpty() {
		return
	}
	first := patra.UnitMonth.Floor(span.From)
	last := patra.UnitMonth.Floor(patra.UnitDay.Prev(patra.UnitDay.Ceil(span.To)))
	recent := max(first, (patra.Period{Months: calendarMonths - 1}).Before(last))
	fmt.Fprintln(w)
	for year := max(yearOf(first), yearOf(recent)-calendarYears); year <= yearOf(recent) && first < recent; year++ {
		if line := v.weeks(year, recent, span); strings.TrimSpace(line) != "" {
			fmt.Fprintf(w, "  %04d    %s\n", year, line)
		}
	}
	for month := recent; month <= last; month = patra.UnitMonth.Next(month) {
		fmt.Fprintf(w, "  %s %s\n", month.Time().Format("2006-01"), v.signs(month, patra.UnitMonth.Next(month), patra.Day, span))
	}
	fmt.Fprintln(w, "          █ sealed  ▓ read  ? disputed  ○ counted  … open  w waived  · gap")
}

func yearOf(i patra.Instant) int { return i.Time().Year() }

// weeks is a year before the months, a sign for each seven days.
func (v coverageView) weeks(year int, until patra.Instant, span patra.Window) string {
	return v.signs(patra.Date(year, 1, 1), min(patra.Date(year+1, 1, 1), until), 7*patra.Day, span)
}

// signs draws a stretch of time, a sign for each step.
func (v coverageView) signs(from, to, step patra.Instant, span patra.Window) string {
	var b strings.Builder
	for at := from; at < to; at += step {
		b.WriteRune(v.sign(patra.Window{From: at, To: min(at+step, to)}, span))
	}
	return b.String()
}

// sign is the worst that is true of any part of a stretch.
func (v coverageView) sign(w, span patra.Window) rune {
	if w.To <= span.From || w.From >= span.To {
		return ' '
	}
	for _, state := range []struct {
		in   patra.Coverage
		sign rune
	}{{v.Gaps, '·'}, {v.Waived, 'w'}, {v.Open, '…'}, {v.Counted, '○'}, {v.Disputed, '?'}, {v.Read, '▓'}} {
		if len(state.in.Clip(w)) > 0 {
			return state.sign
		}
	}
	return '█'
}
