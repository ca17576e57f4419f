package view

import (
	"maps"
	"slices"

	"patra"
)

// How a window was compared with the provider.
const (
	CheckByIDs    = "IDS"    // what it lists now, with what is stored
	CheckByCounts = "COUNTS" // how much it has now, with how much was read: one record that left and one that arrived are not seen
)

// MostCheckIDs is how many ids of a window a report names.
const MostCheckIDs = 100

// CheckReport is what a comparison with the provider came to.
type CheckReport struct {
	Compared    int               `json:"compared"`
	ByIDs       int               `json:"by_ids"`
	ByCounts    int               `json:"by_counts"`
	Skipped     int               `json:"skipped"` // windows that could not be compared at all
	Differences []CheckDifference `json:"differences" nullable:"false"`
	Notes       []string          `json:"notes,omitempty"` // why windows were compared by counts, or not at all
	Marked      bool              `json:"marked"`
}

// CheckDifference is a window that the provider has differently now.
type CheckDifference struct {
	Source    string             `json:"source"`
	CursorID  int64              `json:"cursor_id"`
	Window    patra.Window       `json:"window"`
	State     patra.Completeness `json:"state"`
	By        string             `json:"by"`
	Seen      int64              `json:"seen"`    // that were read
	Counted   int64              `json:"counted"` // that the provider has now
	NotStored []string           `json:"not_stored,omitempty"`
	NotListed []string           `json:"not_listed,omitempty"`
	New       int64              `json:"n_not_stored"` // all of them; the lists have the first
	Gone      int64              `json:"n_not_listed"`
	Unnamed   int64              `json:"n_unnamed,omitempty"` // that were read and are not listed, and whose ids are not known any more

	Repository string `json:"repository,omitempty"` // of the cursor
}

// WindowIDs is what is known of the ids of a window.
type WindowIDs struct {
	Listed   map[string]bool // by the provider now
	Nameless int64           // items that it lists without an id
	Stored   map[string]bool // which of the listed are stored, or known not to be records
	Held     []HeldRecord    // the records that the window brought
	Seen     int64           // how many ids were read then
	ReadAt   patra.Instant   // when that was
}

// HeldRecord is a stored record that a window brought.
type HeldRecord struct {
	ID       string
	Deleted  bool
	LastSeen patra.Instant
}

// CompareIDs names the ids that the provider lists and the store does not have, and those of the window's records that it does not
// list any more. A record that is stored as deleted, or that was seen in another window since, is no difference.
func CompareIDs(w WindowIDs) (notStored, notListed []string, unnamed int64) {
	for id := range w.Listed {
		if !w.Stored[id] {
			notStored = append(notStored, id)
		}
	}
	gone, elsewhere := map[string]bool{}, map[string]bool{}
	for _, r := range w.Held {
		switch {
		case w.Listed[r.ID]:
		case r.Deleted, r.LastSeen > w.ReadAt:
			elsewhere[r.ID] = true
		default:
			gone[r.ID] = true
		}
	}
	known := int64(len(w.Listed)-len(notStored)+len(gone)+len(elsewhere)) + w.Nameless
	slices.Sort(notStored)
	return notStored, slices.Sorted(maps.Keys(gone)), max(w.Seen-known, 0)
}
