package patra

import (
	"iter"
	"slices"
)

// Window is a half-open stretch of time [From, To): a record stamped exactly To belongs to the next one.
type Window struct {
	From Instant `json:"from"`
	To   Instant `json:"to"`
}

// IsEmpty reports whether no instant lies inside.
func (w Window) IsEmpty() bool { return w.From >= w.To }

// Contains reports whether i lies inside.
func (w Window) Contains(i Instant) bool { return w.From <= i && i < w.To }

// String writes `from~to`, with days where both ends are midnight.
func (w Window) String() string { return short(w.From) + "~" + short(w.To) }

func short(i Instant) string {
	if i%Day == 0 {
		return i.Time().Format("2006-01-02")
	}
	return i.String()
}

// Unit is a calendar grain: what a CALENDAR window is aligned to, or how finely a provider filters.
type Unit string

// The grains a source may name.
const (
	UnitMillisecond Unit = "MILLISECOND"
	UnitSecond      Unit = "SECOND"
	UnitMinute      Unit = "MINUTE"
	UnitHour        Unit = "HOUR"
	UnitDay         Unit = "DAY"
	UnitMonth       Unit = "MONTH"
)

// Units lists the grains, finest first.
var Units = []Unit{UnitMillisecond, UnitSecond, UnitMinute, UnitHour, UnitDay, UnitMonth}

// fixed is the length of a grain that always has the same one.
var fixed = map[Unit]Instant{UnitMillisecond: Millisecond, UnitSecond: Second, UnitMinute: Minute, UnitHour: Hour, UnitDay: Day}

// Floor is the last boundary of the grain at or before i.
func (u Unit) Floor(i Instant) Instant {
	if u == UnitMonth {
		t := i.Time()
		return Date(t.Year(), t.Month(), 1)
	}
	step := fixed[u]
	if step == 0 {
		step = Millisecond
	}
	rest := i % step
	if rest < 0 {
		rest += step
	}
	return i - rest
}

// Ceil is the first boundary of the grain at or after i.
func (u Unit) Ceil(i Instant) Instant {
	if floor := u.Floor(i); floor != i {
		return u.Next(floor)
	}
	return i
}

// Next is the boundary after the boundary i.
func (u Unit) Next(i Instant) Instant {
	if u == UnitMonth {
		return Period{Months: 1}.After(i)
	}
	return i + max(fixed[u], Millisecond)
}

// Prev is the boundary before the boundary i: the inclusive upper bound of a window that ends at i.
func (u Unit) Prev(i Instant) Instant {
	if u == UnitMonth {
		return Period{Months: 1}.Before(i)
	}
	return i - max(fixed[u], Millisecond)
}

// Widen is the smallest window on the provider's grain that contains w with the overlap on both sides.
// It is what a slice asks for, while w is what it answers for.
func (w Window) Widen(overlap Period, grain Unit) Window {
	return Window{From: grain.Floor(overlap.Before(w.From)), To: grain.Ceil(overlap.After(w.To))}
}

// Cut divides w into steps. The pieces tile w exactly; the first and last may be shorter so that inner
// boundaries lie on the step's own grid, which makes the same stretch the same slice whoever plans it.
func (w Window) Cut(step Period) []Window { return slices.Collect(w.Pieces(step, false)) }

// Pieces is Cut one piece after the other, from either end.
func (w Window) Pieces(step Period, newestFirst bool) iter.Seq[Window] {
	return func(yield func(Window) bool) {
		for rest := w; !rest.IsEmpty(); {
			piece := rest
			switch {
			case step.IsZero(): // a step of no length
			case newestFirst:
				piece.From = max(step.Floor(rest.To-1), rest.From)
			default:
				piece.To = min(step.After(step.Floor(rest.From)), rest.To)
			}
			if !yield(piece) {
				return
			}
			if newestFirst {
				rest.To = piece.From
			} else {
				rest.From = piece.To
			}
		}
	}
}
