package source

import (
	"cmp"
	"time"

	"patra"
	"patra/internal/query"
)

// windowStrategies are what a source file can say; the other strategies follow from the rest of it.
var windowStrategies = []string{string(patra.StrategyTime), string(patra.StrategyLandmark), string(patra.StrategyVolume)}

// filters reports whether the provider can be asked for a window at all.
func (w Window) filters() bool { return w.Strategy != patra.StrategyLandmark }

// Strategy is how the need of a plan becomes slices at this endpoint.
func (s *Spec) Strategy() patra.Strategy {
	written := cmp.Or(s.Window.Strategy, patra.StrategyTime)
	if written == patra.StrategyTime && s.Window.Split != nil {
		return patra.StrategyHybrid
	}
	return written
}

// Bind restricts a query to a window, unless the provider cannot be asked for one: then every walk is through
// everything.
func (s *Spec) Bind(n query.Node, w patra.Window) query.Node {
	if !s.Window.filters() {
		return n
	}
	return query.Bind(n, s.Window.Field, w)
}

// MinStep is the shortest stretch that makes sense to ask for; platform is the shortest for a source that names none.
func (s *Spec) MinStep(platform time.Duration) patra.Period {
	step := s.Window.MinStep
	if step.IsZero() {
		step = unitPeriod(s.Window.Precision)
		if least := (patra.Period{Clock: platform}); longer(least, step) {
			step = least
		}
	}
	if longer(step, s.Window.Size) {
		return s.Window.Size
	}
	return step
}

// usualSpan is the longest stretch of a source that names none: whatever happens to a slice, a year is not too much to
// read again where there is little in it.
var usualSpan = patra.Period{Months: 12}

// MaxSpan is the longest stretch that is asked for at once, however little there is in it.
func (s *Spec) MaxSpan() patra.Period {
	span := s.Window.MaxSpan
	if span.IsZero() {
		span = usualSpan
	}
	if longer(s.Window.Size, span) {
		return s.Window.Size
	}
	return span
}

// unitPeriod is one unit as a period. Where none is named, it is the finest that a slice can have.
func unitPeriod(u patra.Unit) patra.Period {
	switch u {
	case patra.UnitMonth:
		return patra.Period{Months: 1}
	case patra.UnitDay:
		return patra.Period{Days: 1}
	}
	return patra.Period{Clock: u.Next(patra.InstantOf(newYear)).Time().Sub(newYear)}
}

var newYear = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// longer compares periods from the first of January of a common year, because a month has no length of its own.
func longer(a, b patra.Period) bool {
	end := func(p patra.Period) time.Time { return newYear.AddDate(0, p.Months, p.Days).Add(p.Clock) }
	return end(a).After(end(b))
}
