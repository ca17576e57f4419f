package patra

import (
	"cmp"
	"fmt"
	"slices"
)

// Reslice is the request of a run to cut the rest of its slice into smaller ones. It is a row: the slice is PARTIAL
// until a planner has put its children in its place, and until then the rest counts as under way.
type Reslice struct {
	Reason   string `json:"reason"`
	Requests int64  `json:"requests"`        // sent before the run gave up
	Records  int64  `json:"records"`         // seen before the run gave up
	Total    *int64 `json:"total,omitempty"` // what the provider says the whole slice has
	Text     string `json:"text,omitempty"`
}

// Why a slice is to be cut.
const (
	ResliceCap      = "CAP"      // the provider answers no position as deep as that
	ResliceRequests = "REQUESTS" // the budget of requests is used up
	ResliceRecords  = "RECORDS"  // the budget of records is used up
	ResliceSeconds  = "SECONDS"  // the budget of time is used up

	ReslicePages     = "PAGES"     // the walk is too long, whatever its budget
	ResliceThrottled = "THROTTLED" // the provider asked us to slow down too often
	ResliceErrors    = "ERRORS"    // too many of the latest requests failed
	ResliceBody      = "BODY"      // the pages are too large, and cannot be asked for smaller
	ResliceEstimate  = "ESTIMATE"  // far more came than was expected
	ResliceUnproved  = "UNPROVED"  // records come and go faster than the window is read
)

// ConfirmedWindow is what a walk has proved about a window when it ends early after a page whose last record has the time last.
// Going up, everything before the last time is there; records of that very time may follow. Going down it is the other
// end. Without a verified order nothing is proved.
func ConfirmedWindow(w Window, order string, last *Instant, grain Unit) Window {
	none := Window{From: w.From, To: w.From}
	if last == nil {
		return none
	}
	var c Window
	switch order {
	case OrderAscending:
		c = Window{From: w.From, To: min(grain.Floor(*last), w.To)}
	case OrderDescending:
		c = Window{From: max(grain.Next(grain.Floor(*last)), w.From), To: w.To}
	default:
		return none
	}
	if c.IsEmpty() {
		return none
	}
	return c
}

// The orders in which a provider gives records by time.
const (
	OrderAscending  = "ASC"
	OrderDescending = "DESC"
	OrderNone       = "NONE"
)

// RemainingWindow is what is left of a window when a part of it is confirmed.
func RemainingWindow(w, confirmed Window) Coverage {
	return NewCoverage(w).Minus(NewCoverage(confirmed))
}

// ScanProgress is how far a scan has come, as the ledger tells it.
type ScanProgress struct {
	Requests int64  // that came to an end, good or bad
	Order    string // ASC or DESC if every page from the first on kept to it, else NONE
	Earliest *Instant
	Latest   *Instant
}

// Add is the walk with one more record. One against the order, or one whose time nobody knows, ends the order for the
// rest of the scan.
func (w ScanProgress) Add(at *Instant) ScanProgress {
	if at == nil {
		w.Order = OrderNone
		return w
	}
	up, down := w.Latest == nil || *at >= *w.Latest, w.Earliest == nil || *at <= *w.Earliest
	if (w.Order == OrderAscending && !up) || (w.Order == OrderDescending && !down) {
		w.Order = OrderNone
	}
	if up {
		w.Latest = at
	}
	if down {
		w.Earliest = at
	}
	return w
}

// Last is the time that an ordered walk has come to.
func (w ScanProgress) Last() *Instant {
	if w.Order == OrderDescending {
		return w.Earliest
	}
	return w.Latest
}

// Provable is the most that a walk can confirm about a slice that it does not finish. A slice that answers for some ids only
// proves nothing about a stretch of time, and one that reads again what was read before confirms only what is proved: it takes
// the place of an earlier answer.
func (s Slice) Provable(w ScanProgress, state Completeness) Window {
	weaker := s.Purpose != PurposeNeed && state != StateSealed
	if s.Spec.Window == nil || s.IsPart() || weaker {
		return Window{From: s.Window.From, To: s.Window.From}
	}
	return ConfirmedWindow(s.Window, w.Order, w.Last(), s.Spec.Window.Precision)
}

// Check refuses an early end that claims more than the ledger proves.
func (e EarlyEnd) Check(s Slice, w ScanProgress) error {
	c, most := e.Confirmed, s.Provable(w, e.Completeness)
	if c.IsEmpty() {
		return nil
	}
	anchored := c.From == s.Window.From
	if e.Order == OrderDescending {
		anchored = c.To == s.Window.To
	}
	if e.Order != w.Order || !anchored || c.From < most.From || c.To > most.To {
		return fmt.Errorf("%s of %s is confirmed in order %s, but the ledger proves %s in order %s: %w", c, s.Window, e.Order, most, w.Order, ErrNoProof)
	}
	return nil
}

// CheckChildren refuses slices that are not, together with what is confirmed, exactly the slice that they take the place
// of. Children are stretches of what is left; a stretch may itself be cut by ids, and then its parts are all ids of it. A
// part has parts of its own ids only.
func (s Slice) CheckChildren(children []Slice) error {
	groups := map[Window][]Slice{}
	for _, c := range children {
		if c.Spec.Window == nil || c.Spec.Window.From != c.Window.From || c.Spec.Window.To != c.Window.To {
			return fmt.Errorf("a child that answers for %s says something else in its spec", c.Window)
		}
		groups[c.Window] = append(groups[c.Window], c)
	}
	rest := RemainingWindow(s.Window, confirmedOf(s))
	if s.IsPart() {
		rest = NewCoverage(s.Window)
	}
	if err := tile(rest, groups); err != nil {
		return err
	}
	for w, group := range groups {
		if err := s.checkGroup(w, group); err != nil {
			return err
		}
	}
	return nil
}

func confirmedOf(s Slice) Window {
	if s.Confirmed == nil {
		return Window{}
	}
	return *s.Confirmed
}

// tile makes sure that the windows are the rest, without a hole and without an overlap.
func tile(rest Coverage, groups map[Window][]Slice) error {
	var windows []Window
	for w := range groups {
		windows = append(windows, w)
	}
	slices.SortFunc(windows, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	for i := 1; i < len(windows); i++ {
		if windows[i].From < windows[i-1].To {
			return fmt.Errorf("the children %s and %s overlap", windows[i-1], windows[i])
		}
	}
	if all := NewCoverage(windows...); !slices.Equal(all, rest) {
		return fmt.Errorf("the children are %v, but %v is left", all, rest)
	}
	return nil
}

// checkGroup looks at the children of one window: a single slice, or parts that are all ids of it.
func (s Slice) checkGroup(w Window, group []Slice) error {
	if len(group) == 1 && !group[0].IsPart() && !s.IsPart() {
		return nil
	}
	of := group[0].Spec.Range
	if of == nil {
		return fmt.Errorf("%d children answer for all of %s", len(group), w)
	}
	space := of.Of
	if s.IsPart() {
		if space = s.Spec.Range.IDRange; w != s.Window || of.Of != s.Spec.Range.Of || of.Key != s.Spec.Range.Key {
			return fmt.Errorf("the parts of a part of %s are of another kind", s.Window)
		}
	}
	var ranges []IDRange
	for _, c := range group {
		r := c.Spec.Range
		if r == nil || r.Kind != RangeNumber || r.Key != of.Key || r.Of != of.Of {
			return fmt.Errorf("the parts of %s are of different kinds", w)
		}
		ranges = append(ranges, r.IDRange)
	}
	if !space.exactly(ranges) {
		return fmt.Errorf("the parts of %s are %v, which is not %s without a hole or an overlap", w, ranges, space)
	}
	return nil
}

// exactly reports whether the parts are all of r, each number once.
func (r IDRange) exactly(parts []IDRange) bool {
	var sum int64
	for _, p := range parts {
		sum += p.To - p.From
	}
	return sum == r.To-r.From && r.Tile(parts)
}
