package patra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// VolumeFacts is how many records a day of a watermark had, and how many the same days of the weeks before had.
type VolumeFacts struct {
	Cursor  Cursor
	Day     Instant // where it begins
	Records int64
	Before  []int64 // of the same weekday, those days only that were read whole
}

// VolumeBand is what is usual for such a day.
type VolumeBand struct {
	Median, Least, Most float64
}

// madToSigma makes the median distance from the median comparable with a standard deviation.
const madToSigma = 1.4826

// Band is what is usual, if enough days say so. It is made of medians, so that one odd day among eight moves it hardly; and it is
// never narrower than from half to twice the median: a day may well have half as many.
func (r AlertRules) Band(before []int64) (b VolumeBand, ok bool) {
	if len(before) < max(r.VolumeDays, 1) {
		return b, false
	}
	b.Median = median(before)
	off := make([]float64, len(before))
	for i, n := range before {
		off[i] = math.Abs(float64(n) - b.Median)
	}
	spread := r.VolumeSpread * madToSigma * median(off)
	b.Least = min(b.Median-spread, b.Median/2, b.Median-float64(r.VolumeLeast))
	b.Most = max(b.Median+spread, b.Median*2, b.Median+float64(r.VolumeLeast))
	return b, true
}

func median[T int64 | float64](of []T) float64 {
	sorted := slices.Sorted(slices.Values(of))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return float64(sorted[half])
	}
	return (float64(sorted[half-1]) + float64(sorted[half])) / 2
}

func (r AlertRules) volume(v VolumeFacts) *Alert {
	b, ok := r.Band(v.Before)
	n := float64(v.Records)
	if !ok || n >= b.Least && n <= b.Most {
		return nil
	}
	word, from := "fewer", v.Day
	if n > b.Most {
		word = "more"
	}
	return &Alert{Kind: AlertVolume, Severity: SeverityWarning, Target: WorkTarget(ScopeCursor, v.Cursor.ID).String(), Since: &from, Link: AlertLink{Source: v.Cursor.Source, Cursor: v.Cursor.ID},
		Said: fmt.Sprintf("%s of %s had %s records, far %s than the %s that such a day has (%s).", v.Day.Time().Format(time.DateOnly), cursorName(v.Cursor), thousands(v.Records), word, thousands(int64(b.Median+0.5)), v.Day.Time().Weekday()),
		Next: fmt.Sprintf("look at the provider's own page for that day; patra harvest %s --from %s --to %s --force reads it again", v.Cursor.Source, v.Day.Time().Format(time.DateOnly), (v.Day + Day).Time().Format(time.DateOnly))}
}

// WindowCount is how many records a window had when it was read.
type WindowCount struct {
	Window   Window
	Records  int64
	ClosedAt Instant
}

// DayVolume is how many records a day had, by its newest readings; false if they do not make up the whole day and nothing else.
func DayVolume(day Instant, read []WindowCount) (n int64, ok bool) {
	newest := slices.Clone(read)
	slices.SortStableFunc(newest, func(a, b WindowCount) int { return cmp.Compare(b.ClosedAt, a.ClosedAt) })
	var taken []Window
	var length Instant
	for _, r := range newest {
		if r.Window.From < day || r.Window.To > day+Day || slices.ContainsFunc(taken, func(w Window) bool { return w.From < r.Window.To && r.Window.From < w.To }) {
			continue
		}
		taken, n, length = append(taken, r.Window), n+r.Records, length+(r.Window.To-r.Window.From)
	}
	return n, length == Day
}
