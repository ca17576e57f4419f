package patra

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// Coverage is a set of instants as disjoint, non-touching, ascending windows. Every operation returns one in
// that form, so two equal sets are equal slices.
type Coverage []Window

// NewCoverage unites windows in any order, overlapping or not.
func NewCoverage(ws ...Window) Coverage {
	sorted := slices.DeleteFunc(slices.Clone(ws), Window.IsEmpty)
	slices.SortFunc(sorted, func(a, b Window) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var c Coverage
	for _, w := range sorted {
		if n := len(c); n > 0 && w.From <= c[n-1].To {
			c[n-1].To = max(c[n-1].To, w.To)
			continue
		}
		c = append(c, w)
	}
	return c
}

// Union is what lies in either set.
func (c Coverage) Union(other Coverage) Coverage {
	return NewCoverage(slices.Concat(c, other)...)
}

// Minus is what lies in c and not in other.
func (c Coverage) Minus(other Coverage) Coverage {
	var out Coverage
	j := 0
	for _, w := range c {
		for j < len(other) && other[j].To <= w.From {
			j++
		}
		from := w.From
		for k := j; k < len(other) && other[k].From < w.To; k++ {
			if other[k].From > from {
				out = append(out, Window{From: from, To: other[k].From})
			}
			from = max(from, other[k].To)
		}
		if from < w.To {
			out = append(out, Window{From: from, To: w.To})
		}
	}
	return out
}

// Clip is what lies in both c and w.
func (c Coverage) Clip(w Window) Coverage {
	var out Coverage
	for _, p := range c {
		if in := (Window{From: max(p.From, w.From), To: min(p.To, w.To)}); !in.IsEmpty() {
			out = append(out, in)
		}
	}
	return out
}

// Contains reports whether i lies in the set.
func (c Coverage) Contains(i Instant) bool {
	return slices.ContainsFunc(c, func(w Window) bool { return w.Contains(i) })
}

// Frontier is the watermark rule: the end of the contiguous covered stretch that starts at w, or w itself
// when the instant at w is not covered. A later window that finished first never moves it over a hole.
func (c Coverage) Frontier(w Instant) Instant {
	for _, p := range c {
		if p.From <= w && w < p.To {
			return p.To
		}
	}
	return w
}

// Completeness is how far a covered window is proved.
type Completeness string

// The states of a window. One that is planned is OPEN or COUNTED; the others are closed.
const (
	StateOpen     Completeness = "OPEN"     // planned, its size is unknown
	StateCounted  Completeness = "COUNTED"  // planned, and the provider said how much there is
	StateRead     Completeness = "READ"     // scanned to the end, without evidence that would have noticed a loss
	StateSealed   Completeness = "SEALED"   // scanned to the end, with such evidence
	StateDisputed Completeness = "DISPUTED" // scanned to the end, and something contradicts that all of it was found
)

// stateFetched is how earlier releases wrote READ. Their rows keep it.
const stateFetched = "FETCHED"

// Scan reads a state from a row.
func (c *Completeness) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*c = Completeness(v)
	case []byte:
		*c = Completeness(v)
	case nil:
		*c = ""
	default:
		return fmt.Errorf("a state of completeness is a %T", v)
	}
	if *c == stateFetched {
		*c = StateRead
	}
	return nil
}

// UnmarshalText reads a state from JSON.
func (c *Completeness) UnmarshalText(b []byte) error { return c.Scan(b) }

// Trust says what a provider's total is worth.
type Trust string

// The three kinds of total.
const (
	TrustExact    Trust = "EXACT"
	TrustEstimate Trust = "ESTIMATE"
	TrustNone     Trust = "NONE"
)

// AssessCompleteness compares what was seen with what the provider says there is. A total only casts doubt: one that agrees proves
// nothing.
func AssessCompleteness(trust Trust, total *int64, seen int64) Completeness {
	if trust != TrustExact || total == nil || *total == seen {
		return StateSealed
	}
	return StateDisputed
}

// CoverageEntry is one closed window with its proof: a row of the coverage ledger.
type CoverageEntry struct {
	ID           int64          `json:"id"`
	CursorID     int64          `json:"cursor_id"`
	SliceID      int64          `json:"slice_id"`
	Window       Window         `json:"window"`
	Kind         string         `json:"kind"`
	State        Completeness   `json:"state"`
	Trust        Trust          `json:"total"`
	CountBefore  *int64         `json:"count_before,omitempty"`
	CountAfter   *int64         `json:"count_after,omitempty"`
	IDsSeen      int64          `json:"ids_seen"`
	Stored       int64          `json:"stored"`
	Quarantined  int64          `json:"quarantined"`
	KnownMissing int64          `json:"known_missing"`
	Rescans      int64          `json:"rescans"`
	ClosedAt     Instant        `json:"closed_at"`
	SealedAt     *Instant       `json:"sealed_at,omitempty"`
	Remarks      []CoverageNote `json:"remarks,omitempty"`
	Proof        *WindowProof   `json:"proof,omitempty"` // nil: an older version read it, and judged it by the walk and the count
}

// CoverageNote is why a person, or a later count, changed what is said about a window.
type CoverageNote struct {
	At      Instant      `json:"at"`
	By      string       `json:"by"`
	From    Completeness `json:"from"`
	To      Completeness `json:"to"`
	Reason  string       `json:"reason"`
	Counted *int64       `json:"counted,omitempty"` // what the provider said there is, then
	Proof   *WindowProof `json:"proof,omitempty"`   // what proves the window since then
	Missing []string     `json:"missing,omitempty"` // ids that the provider has shown, and that were not found
}

// Missing are the ids that put a window into dispute, if ids did.
func (e CoverageEntry) Missing() []string {
	if n := len(e.Remarks); n > 0 && e.State == StateDisputed {
		return e.Remarks[n-1].Missing
	}
	return nil
}

// MissingMoved reports whether only missing ids put a window into dispute, and all of them have a date outside of it by now:
// records that changed while their window was read are in the window of their new date. stored has the dates of the
// records that are in the store.
func (e CoverageEntry) MissingMoved(stored map[string]Instant) bool {
	missing := e.Missing()
	if len(missing) == 0 || e.Remarks[len(e.Remarks)-1].From != StateSealed {
		return false
	}
	return !slices.ContainsFunc(missing, func(id string) bool {
		at, known := stored[id]
		return !known || e.Window.Contains(at)
	})
}

// note is why a window is in dispute, if somebody has said so.
func (e CoverageEntry) note() string {
	if n := len(e.Remarks); n > 0 && e.State == StateDisputed {
		return e.Remarks[n-1].Reason
	}
	return ""
}

// Witness is by which evidence a window is sealed; empty where a person, or an older version by the walk and the count, sealed it.
func (e CoverageEntry) Witness() Witness {
	if e.State != StateSealed || e.Proof == nil {
		return ""
	}
	return e.Proof.Witness
}

// unproved is why a window that was read is not proved.
func (e CoverageEntry) unproved() string {
	if e.Proof == nil {
		return ""
	}
	return e.Proof.Why
}

// CompletenessRow is a line of the completeness ledger: a window that is planned or closed, and how far it is proved.
type CompletenessRow struct {
	CursorID     int64        `json:"cursor_id"`
	SliceID      int64        `json:"slice_id"`
	Window       Window       `json:"window"`
	State        Completeness `json:"state"`
	Counted      *int64       `json:"counted,omitempty"` // what the provider says there is
	Seen         *int64       `json:"seen,omitempty"`
	Stored       *int64       `json:"stored,omitempty"`
	Quarantined  *int64       `json:"quarantined,omitempty"`
	KnownMissing *int64       `json:"known_missing,omitempty"`
}

// The kinds of answer.
const (
	KindScan      = "SCAN"      // a slice that was scanned to its end
	KindConfirmed = "CONFIRMED" // what a slice that ended early proved all the same
	KindGroup     = "GROUP"     // a window that was cut by ids, when the last of its parts is closed
)

// worst is how states rank: one part in dispute is a dispute about the whole.
var worst = []Completeness{StateDisputed, StateRead, StateSealed}

// MergeParts is the answer of a window that was cut by ids: what its parts found together. The totals of the provider add
// up only if it gave one for every part.
func MergeParts(parts []CoverageEntry) CoverageEntry {
	all := parts[0]
	for _, p := range parts[1:] {
		if slices.Index(worst, p.State) < slices.Index(worst, all.State) {
			all.State = p.State
		}
		all.CountBefore, all.CountAfter = plus(all.CountBefore, p.CountBefore), plus(all.CountAfter, p.CountAfter)
		all.IDsSeen += p.IDsSeen
		all.Stored += p.Stored
		all.Quarantined += p.Quarantined
		all.KnownMissing += p.KnownMissing
		all.Rescans += p.Rescans
	}
	all.Kind = KindGroup
	return all
}

func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// CoverageOf is the set of instants that the answers cover.
func CoverageOf(answers []CoverageEntry) Coverage {
	ws := make([]Window, len(answers))
	for i, a := range answers {
		ws[i] = a.Window
	}
	return NewCoverage(ws...)
}

// CoverageByState gives, for each state, the instants that are in it. Where answers overlap the newest one speaks.
func CoverageByState(answers []CoverageEntry) map[Completeness]Coverage {
	out := map[Completeness]Coverage{}
	sweep(answers, func(w Window, a *CoverageEntry) { out[a.State] = extend(out[a.State], w) })
	return out
}

// sweep tells in the order of time which answer speaks for which stretch. It goes once over the ends of all windows: a cursor
// that waits for one bad day can have thousands of answers behind it. Most of those overlap with no other, and speak for all of
// their own time.
func sweep(answers []CoverageEntry, tell func(Window, *CoverageEntry)) {
	starts := make([]*CoverageEntry, 0, len(answers)) // an answer is large, and is moved about a lot
	for i := range answers {
		if a := &answers[i]; !a.Window.IsEmpty() {
			starts = append(starts, a)
		}
	}
	slices.SortFunc(starts, func(a, b *CoverageEntry) int { return cmp.Compare(a.Window.From, b.Window.From) })
	for len(starts) > 0 {
		n, to := 1, starts[0].Window.To
		for n < len(starts) && starts[n].Window.From < to {
			to = max(to, starts[n].Window.To)
			n++
		}
		if n == 1 {
			tell(starts[0].Window, starts[0])
		} else {
			sweepOverlapping(starts[:n], tell)
		}
		starts = starts[n:]
	}
}

// sweepOverlapping is sweep for answers in the order in which they start, of which each overlaps with those before it.
func sweepOverlapping(starts []*CoverageEntry, tell func(Window, *CoverageEntry)) {
	ends := make([]Instant, 0, 2*len(starts))
	for _, a := range starts {
		ends = append(ends, a.Window.From, a.Window.To)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	speakers := &newestFirst{}
	for i, at := range ends {
		for len(starts) > 0 && starts[0].Window.From == at {
			heap.Push(speakers, starts[0])
			starts = starts[1:]
		}
		for speakers.Len() > 0 && (*speakers)[0].Window.To <= at {
			heap.Pop(speakers)
		}
		if speakers.Len() > 0 {
			tell(Window{From: at, To: ends[i+1]}, (*speakers)[0])
		}
	}
}

// extend adds a window that begins at or after the end of the set.
func extend(c Coverage, w Window) Coverage {
	if n := len(c); n > 0 && c[n-1].To == w.From {
		c[n-1].To = w.To
		return c
	}
	return append(c, w)
}

// newestFirst is a heap of answers with the one that speaks on top.
type newestFirst []*CoverageEntry

func (h newestFirst) Len() int { return len(h) }
func (h newestFirst) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].ClosedAt, h[i].ClosedAt), cmp.Compare(h[j].ID, h[i].ID)) < 0
}
func (h newestFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *newestFirst) Push(a any)   { *h = append(*h, a.(*CoverageEntry)) }
func (h *newestFirst) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	*h = (*h)[:last]
	return a
}
