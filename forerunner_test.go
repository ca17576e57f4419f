package patra_test

import (
	"testing"

	"patra"
)

// Whoever takes the place of others says so of each of them, in the same words each time, and never of itself.
func TestForerunners(t *testing.T) {
	o := patra.Observation{ID: "b", ObservedAt: 7, MergedFrom: []string{"a", "b", "", "c"}}
	all := o.MergedFromRecords()
	if len(all) != 2 || all[0].ID != "a" || all[1].ID != "c" {
		t.Fatalf("%+v", all)
	}
	for _, f := range all {
		if !f.Deleted || f.MergedInto != "b" || f.ObservedAt != 7 || f.Event() != patra.EventMerged {
			t.Errorf("%+v", f)
		}
	}
	later := o
	later.ObservedAt, later.Hash = 9, "x"
	if again := later.MergedFromRecords(); again[0].Hash != all[0].Hash || all[0].Hash == all[1].Hash {
		t.Error("the same news has another hash, or other news has the same")
	}
}
