package view

import (
	"slices"
	"testing"
)

// What a window brought is held against what the provider lists now.
func TestCompareIDs(t *testing.T) {
	set := func(ids ...string) map[string]bool {
		all := map[string]bool{}
		for _, id := range ids {
			all[id] = true
		}
		return all
	}
	held := func(id string) HeldRecord { return HeldRecord{ID: id, LastSeen: 5} }
	for name, c := range map[string]struct {
		w                    WindowIDs
		notStored, notListed []string
		unnamed              int64
	}{
		"the same":              {WindowIDs{Listed: set("a", "b"), Stored: set("a", "b"), Held: []HeldRecord{held("a"), held("b")}, Seen: 2, ReadAt: 9}, nil, nil, 0},
		"one left, one arrived": {WindowIDs{Listed: set("a", "c"), Stored: set("a"), Held: []HeldRecord{held("a"), held("b")}, Seen: 2, ReadAt: 9}, []string{"c"}, []string{"b"}, 0},
		"stored by another":     {WindowIDs{Listed: set("a", "b"), Stored: set("a", "b"), Held: []HeldRecord{held("a")}, Seen: 1, ReadAt: 9}, nil, nil, 0},
		"seen elsewhere since":  {WindowIDs{Listed: set("a"), Stored: set("a"), Held: []HeldRecord{held("a"), {ID: "b", LastSeen: 10}}, Seen: 2, ReadAt: 9}, nil, nil, 0},
		"stored as deleted":     {WindowIDs{Listed: set("a"), Stored: set("a"), Held: []HeldRecord{held("a"), {ID: "b", Deleted: true}}, Seen: 2, ReadAt: 9}, nil, nil, 0},
		"left without a name":   {WindowIDs{Listed: set("a"), Stored: set("a"), Held: []HeldRecord{held("a")}, Seen: 3, ReadAt: 9}, nil, nil, 2},
		"items without an id":   {WindowIDs{Listed: set("a"), Nameless: 1, Stored: set("a"), Held: []HeldRecord{held("a")}, Seen: 2, ReadAt: 9}, nil, nil, 0},
	} {
		notStored, notListed, unnamed := CompareIDs(c.w)
		if !slices.Equal(notStored, c.notStored) || !slices.Equal(notListed, c.notListed) || unnamed != c.unnamed {
			t.Errorf("%s: %v, %v, %d", name, notStored, notListed, unnamed)
		}
	}
}
