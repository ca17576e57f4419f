package patra

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxShown is how many ids are kept of what a provider has shown of one window. A few are enough to see that a scan which
// came to its end has not found what is there; a hundred are what a page has.
const MaxShown = 100

// ShownID is a record that a provider has shown, by the time that it gave it.
type ShownID struct {
	ID   string  `json:"id"`
	At   Instant `json:"at"`
	Scan int64   `json:"scan,omitempty"` // the last scan of its window that had it; 0: none
}

// ShownIDs are records that a provider has shown: in a probe, on a first page, in a scan that was broken off. Each is there
// once.
type ShownIDs []ShownID

// Within are those of a window, by their own time.
func (s ShownIDs) Within(w Window) (in ShownIDs) {
	for _, one := range s {
		if w.Contains(one.At) && len(in) < MaxShown {
			in = append(in, one)
		}
	}
	return in
}

// With adds others as long as there is room. Of one that is there already, the later word counts: it may have another time
// by now.
func (s ShownIDs) With(more ShownIDs, most int) ShownIDs {
	at := make(map[string]int, len(s))
	for i, one := range s {
		at[one.ID] = i
	}
	all := slices.Clone(s)
	for _, one := range more {
		i, there := at[one.ID]
		switch {
		case there:
			all[i].At, all[i].Scan = one.At, max(all[i].Scan, one.Scan)
		case len(all) < most:
			at[one.ID] = len(all)
			all = append(all, one)
		}
	}
	return all
}

// Afresh are the same before any scan of theirs.
func (s ShownIDs) Afresh() ShownIDs {
	all := slices.Clone(s)
	for i := range all {
		all[i].Scan = 0
	}
	return all
}

// Met notes which of them a page of a scan brought, whatever their time there, and reports whether that is news.
func (s ShownIDs) Met(ids map[string]bool, scan int64) (ShownIDs, bool) {
	all, news := s, false
	for i, one := range s {
		if ids[one.ID] && one.Scan != scan {
			if !news {
				all, news = slices.Clone(s), true
			}
			all[i].Scan = scan
		}
	}
	return all, news
}

// Missing are those that a finished scan of a window should have found and did not. stored has the time of those that are
// in the store: one that is stored as it was shown is not lost, and one that has a time outside of the window by now has left it.
func (s ShownIDs) Missing(w Window, scan int64, stored map[string]Instant) (missing ShownIDs) {
	for _, one := range s.Within(w) {
		at, known := stored[one.ID]
		if one.Scan != scan && (!known || w.Contains(at) && at < one.At) {
			missing = append(missing, one)
		}
	}
	return missing
}

// NotMet are those that a scan did not bring.
func (s ShownIDs) NotMet(scan int64) (ids []string) {
	for _, one := range s {
		if one.Scan != scan {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// namedShown is how many ids a sentence names.
const namedShown = 3

// NameSome names ids: the first few, and how many more there are.
func NameSome(ids []string) string {
	named := ids[:min(len(ids), namedShown)]
	text := strings.Join(named, ", ")
	if more := len(ids) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String names some of them.
func (s ShownIDs) String() string { return NameSome(s.ids()) }

func (s ShownIDs) ids() (names []string) {
	for _, one := range s {
		names = append(names, one.ID)
	}
	return names
}

// MissingNote is why a window is in dispute that a provider has shown records of which its scan did not find.
// state is what the scan is worth apart from that.
func MissingNote(now Instant, missing ShownIDs, state Completeness) CoverageNote {
	return CoverageNote{At: now, By: "patra", From: state, To: StateDisputed, Missing: missing.ids(),
		Reason: "the provider has shown " + missing.String() + " within it, which the scan did not find"}
}

// PageIDs are the ids of a page, quarantined items included: what cannot be read was found all the same.
func PageIDs(res PageResult) map[string]bool {
	ids := maps.Collect(func(yield func(string, bool) bool) {
		for _, o := range res.Records {
			if !yield(o.ID, true) {
				return
			}
		}
	})
	for _, q := range res.Quarantined {
		ids[q.ID] = true
	}
	return ids
}

// ShownOn are the records of a page that lie in a window by their own time.
func ShownOn(records []Observation, w Window, scan int64) (shown ShownIDs) {
	for _, o := range records {
		if o.ID != "" && o.UpdatedAt != nil && w.Contains(*o.UpdatedAt) && len(shown) < MaxShown {
			shown = append(shown, ShownID{ID: o.ID, At: *o.UpdatedAt, Scan: scan})
		}
	}
	return shown
}
