package patra

import (
	"cmp"
	"slices"
)

// GapKind says why a stretch of time is not there, or not beyond doubt.
type GapKind string

// The kinds of gap.
const (
	GapUnplanned GapKind = "UNPLANNED" // nobody has planned it yet, or it was planned and never cut
	GapFailed    GapKind = "FAILED"    // it was tried as often as is permitted
	GapCancelled GapKind = "CANCELLED" // somebody called it off
	GapUncut     GapKind = "UNCUT"     // it ended early, and the rest cannot be cut
	GapWaived    GapKind = "WAIVED"    // somebody signed it off as missing; it stays listed
	GapDisputed  GapKind = "DISPUTED"  // it was read, but the provider counts differently
	GapRead      GapKind = "READ"      // it was read to its end, without evidence that would have noticed a loss
	GapAhead     GapKind = "AHEAD"     // nobody has come to it yet: the next harvest begins there. It is no gap, and is shown beside them
)

// Gap is a stretch that is missing, or in dispute, with all that is known about the reason.
type Gap struct {
	CursorID int64   `json:"cursor_id"`
	Window   Window  `json:"window"`
	Kind     GapKind `json:"kind"`
	SliceID  int64   `json:"slice_id,omitempty"` // the last that tried
	Fault    *Fault  `json:"fault,omitempty"`    // how it ended
	Waiver   *Waiver `json:"waiver,omitempty"`
	Counted  *int64  `json:"counted,omitempty"` // of a dispute: what the provider says there is
	Seen     *int64  `json:"seen,omitempty"`    // and what was read

	Missing []string `json:"missing,omitempty"` // of a dispute: ids that the provider has shown, and that were not found
	Note    string   `json:"note,omitempty"`    // why it is in dispute, where that is not a count, or why it is not proved

	Accepted *ReadAcceptance `json:"accepted,omitempty"` // of READ: the word that it is enough for this source
}

// Actionable reports whether something can and should be done about the gap. A waiver and an accepted READ are known to a person, and
// what lies ahead has its turn with the next harvest.
func (g Gap) Actionable() bool { return g.Kind != GapWaived && g.Kind != GapAhead && g.Accepted == nil }

// Unread reports whether the stretch was not read, and no waiver signs it off.
func (g Gap) Unread() bool { return g.Kind != GapWaived && g.Kind != GapDisputed && g.Kind != GapRead }

// ReadAcceptance is a person's word that windows of a source which were read without a proof are enough. They stay READ.
type ReadAcceptance struct {
	ID        int64    `json:"id"`
	Source    string   `json:"source"`
	Reason    string   `json:"reason"`
	By        string   `json:"approved_by"`
	At        Instant  `json:"at"`
	RevokedAt *Instant `json:"revoked_at,omitempty"`
}

// Waiver is a person's word that a stretch stays missing. The watermark passes it; completeness does not.
type Waiver struct {
	ID        int64    `json:"id"`
	CursorID  int64    `json:"cursor_id"`
	Window    Window   `json:"window"`
	Reason    string   `json:"reason"`
	By        string   `json:"approved_by"`
	At        Instant  `json:"at"`
	RevokedAt *Instant `json:"revoked_at,omitempty"`
}

// UnfinishedSlice is a slice that ended without answering for all of its window.
type UnfinishedSlice struct {
	SliceID int64
	TaskID  int64
	Window  Window
	Status  Status
	Early   bool // it ended early and could not be cut
	Fault   *Fault
}

// CoverageFacts is all that is known about the time of one cursor.
type CoverageFacts struct {
	Answers []CoverageEntry
	Live    Coverage
	Waivers []Waiver // that are not revoked
	Ended   []UnfinishedSlice

	ReadAccepted *ReadAcceptance // of its source, if READ is enough for it
}

// Gaps lists what is missing of a stretch of time, what is in dispute and what is not proved, in the order of time. Each missing moment is
// listed once, with the newest reason: a waiver counts before a failure, and what has neither was never planned. What is
// under way is not missing. A waived stretch is listed until somebody has read it.
func Gaps(span Window, e CoverageFacts) []Gap {
	all := missing(span, e, CoverageOf(e.Answers))
	for _, d := range Disputes(e.Answers) {
		for _, w := range d.For.Clip(span) {
			g := d.disputed()
			g.Window = w
			all = append(all, g)
		}
	}
	for _, r := range entriesIn(e.Answers, StateRead) {
		for _, w := range r.For.Clip(span) {
			all = append(all, Gap{Window: w, Kind: GapRead, SliceID: r.SliceID, Counted: r.CountAfter, Seen: &r.IDsSeen, Accepted: e.ReadAccepted, Note: r.unproved()})
		}
	}
	slices.SortStableFunc(all, func(a, b Gap) int { return cmp.Compare(a.Window.From, b.Window.From) })
	return all
}

// readRetryAfter is how long a window that was read without a proof rests before it is read again, by how often it was read.
var readRetryAfter = []Instant{Hour, 6 * Hour, 24 * Hour}

// ReadRetries are the stretches that were read without a proof and are due to be read again: records came and went while they were
// read, which ends. Where no evidence is to be had another reading proves nothing either, and after three retries a person decides.
func ReadRetries(answers []CoverageEntry, now Instant) (due Coverage) {
	for _, r := range entriesIn(answers, StateRead) {
		if r.Proof == nil || r.Proof.Planned == "" || r.Proof.Planned == WitnessNone {
			continue
		}
		read := 0
		for _, a := range answers {
			if a.State == StateRead && a.Window.From < r.Window.To && r.Window.From < a.Window.To {
				read++
			}
		}
		if read <= len(readRetryAfter) && now >= r.ClosedAt+readRetryAfter[read-1] {
			due = due.Union(r.For)
		}
	}
	return due
}

// missing lists what nobody has read of a stretch, and nobody is at, in no order. read is what the answers cover.
func missing(span Window, e CoverageFacts, read Coverage) []Gap {
	var all []Gap
	add := func(c Coverage, g Gap) {
		for _, w := range c {
			g.Window = w
			all = append(all, g)
		}
	}
	unread := NewCoverage(span).Minus(read)
	for _, w := range e.Waivers {
		add(unread.Clip(w.Window), Gap{Kind: GapWaived, Waiver: &w})
		unread = unread.Minus(NewCoverage(w.Window))
	}
	left := unread.Minus(e.Live)
	newest := slices.SortedFunc(slices.Values(e.Ended), func(a, b UnfinishedSlice) int { return cmp.Compare(b.SliceID, a.SliceID) })
	for _, s := range newest {
		add(left.Clip(s.Window), Gap{Kind: s.kind(), SliceID: s.SliceID, Fault: s.Fault})
		left = left.Minus(NewCoverage(s.Window))
	}
	add(left, Gap{Kind: GapUnplanned})
	return all
}

func (s UnfinishedSlice) kind() GapKind {
	switch {
	case s.Status == Cancelled:
		return GapCancelled
	case s.Early:
		return GapUncut
	}
	return GapFailed
}

// EffectiveEntry is an answer, and the time that it still speaks for.
type EffectiveEntry struct {
	*CoverageEntry
	For Coverage `json:"for"`
}

// EffectiveEntries are the answers that newer ones have not taken the place of, oldest first.
func EffectiveEntries(answers []CoverageEntry) []EffectiveEntry {
	all := make([]EffectiveEntry, 0, len(answers))
	at := make(map[*CoverageEntry]int, len(answers))
	sweep(answers, func(w Window, a *CoverageEntry) {
		i, ok := at[a]
		if !ok {
			i, at[a] = len(all), len(all)
			all = append(all, EffectiveEntry{CoverageEntry: a})
		}
		all[i].For = extend(all[i].For, w)
	})
	slices.SortFunc(all, func(a, b EffectiveEntry) int {
		return cmp.Or(cmp.Compare(a.ClosedAt, b.ClosedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// disputed is the gap that a dispute is.
func (e CoverageEntry) disputed() Gap {
	return Gap{Window: e.Window, Kind: GapDisputed, SliceID: e.SliceID, Counted: e.CountAfter, Seen: &e.IDsSeen, Missing: e.Missing(), Note: e.note()}
}

// WhyDisputed is why a window is in dispute, as a list of gaps says it.
func (e CoverageEntry) WhyDisputed() string { return e.disputed().Reason() }

// Disputes are the answers that the provider's count contradicts, as far as they still speak.
func Disputes(answers []CoverageEntry) []EffectiveEntry {
	return entriesIn(answers, StateDisputed)
}

// entriesIn are the answers in a state, as far as they still speak.
func entriesIn(answers []CoverageEntry, state Completeness) []EffectiveEntry {
	if !slices.ContainsFunc(answers, func(a CoverageEntry) bool { return a.State == state }) {
		return nil // as it should be
	}
	return slices.DeleteFunc(EffectiveEntries(answers), func(s EffectiveEntry) bool { return s.State != state })
}
