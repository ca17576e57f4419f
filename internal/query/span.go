package query

import (
	"fmt"
	"math"

	"patra"
)

// span is a range as the provider is sent it. An absent end is nil.
type span struct {
	from, to *string
	empty    bool // nothing lies inside, so nothing need be asked
}

// Widen is the smallest window that a field of the grammar can be asked for and that contains w. A slice asks for the
// widened window and answers for its own; everything else in a query has to be representable as it stands.
func (g *Grammar) Widen(field string, w patra.Window) patra.Window {
	return w.Widen(patra.Period{}, g.Fields[field].precision())
}

// span converts a range, or says why the provider cannot be asked for exactly that. The error has a hint.
func (f Field) span(n Node) (span, *patra.Problem) {
	if n.ranges() == RangeNumber {
		return f.numbers(n)
	}
	return f.moments(n)
}

// moments makes the range half-open, which every kind of bound can be, and then writes it the provider's way.
func (f Field) moments(n Node) (span, *patra.Problem) {
	var s span
	next := f.successor(n)
	var lo, hi patra.Instant
	if n.From != nil {
		if lo = n.From.Value; n.From.Kind == Open {
			lo = next(lo)
		}
		if bad := f.representable(lo, lo, "begins"); bad != nil {
			return s, bad
		}
		text := f.date(lo)
		s.from = &text
	}
	if n.To != nil {
		if hi = n.To.Value; n.To.Kind == Closed {
			hi = next(hi)
		}
		last := hi
		if f.upper() == Inclusive {
			last = f.precision().Prev(hi)
		}
		if bad := f.representable(hi, last, "ends before"); bad != nil {
			return s, bad
		}
		text := f.date(last)
		s.to = &text
	}
	s.empty = n.From != nil && n.To != nil && lo >= hi
	return s, nil
}

// successor is the first moment after a bound. A DATE bound is a day. A moment is taken to lie on the provider's grid
// where that is a second or finer, because providers that filter by the second stamp by the second; on a coarser grid
// the moment after a bound is no point of the grid, and the range is refused.
func (f Field) successor(n Node) func(patra.Instant) patra.Instant {
	grid := f.precision() == patra.UnitSecond || f.precision() == patra.UnitMillisecond
	return func(i patra.Instant) patra.Instant {
		switch {
		case n.ranges() == RangeDate:
			return patra.UnitDay.Next(i)
		case f.Type == TypeDateTime && grid && f.precision().Floor(i) == i:
			return f.precision().Next(i)
		}
		return i + 1
	}
}

// representable refuses a half-open end that lies between two points of the provider's grid, or whose sent form has no
// four-digit year.
func (f Field) representable(i, sent patra.Instant, verb string) *patra.Problem {
	unit := f.precision()
	if !plausible(sent) {
		return &patra.Problem{Code: CodePrecision, Text: "the range reaches outside the years 1 to 9999", Hint: "write * for an open end"}
	}
	if unit.Floor(i) == i {
		return nil
	}
	return &patra.Problem{Code: CodePrecision, Text: fmt.Sprintf("the range %s %s, but the provider filters by the %s", verb, i, unit),
		Hint: fmt.Sprintf("a range can be cut at %s or at %s; write [from TO to} with these", unit.Floor(i), unit.Ceil(i))}
}

// numbers converts a range of numbers. A provider's lower bound is always inclusive.
func (f Field) numbers(n Node) (span, *patra.Problem) {
	var s span
	var lo, hi float64
	inexact := func(end string) *patra.Problem {
		return &patra.Problem{Code: CodePrecision, Text: "the provider cannot be sent this " + end + " bound, and the field's values are not whole numbers",
			Hint: "an integer field can have any bound; say integer: true if its values are whole"}
	}
	if n.From != nil {
		lo = *n.From.Number
		switch {
		case f.Integer && n.From.Kind == Open:
			lo = math.Floor(lo) + 1
		case f.Integer:
			lo = math.Ceil(lo)
		case n.From.Kind == Open:
			return s, inexact("open lower")
		}
		text := numberText(lo)
		s.from = &text
	}
	if n.To != nil {
		hi = *n.To.Number
		switch {
		case f.Integer && n.To.Kind == Open:
			hi = math.Ceil(hi) - 1
		case f.Integer:
			hi = math.Floor(hi)
		case (n.To.Kind == Open) != (f.upper() == Exclusive):
			return s, inexact("upper")
		}
		last := hi
		if f.Integer && f.upper() == Exclusive {
			last++
		}
		text := numberText(last)
		s.to = &text
	}
	s.empty = n.From != nil && n.To != nil && (lo > hi || lo == hi && !f.Integer && n.To.Kind == Open)
	return s, nil
}
