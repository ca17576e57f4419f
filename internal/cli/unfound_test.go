package cli

import (
	"slices"
	"testing"
	"time"

	"patra"
)

// A summary names the ids that were not found in what was asked for, and none of a dispute about another time.
func TestOnlyTheDisputesOfTheWindowAreNamed(t *testing.T) {
	day := func(n int) patra.Window {
		return patra.Window{From: patra.Date(2026, time.May, n), To: patra.Date(2026, time.May, n+1)}
	}
	dispute := func(w patra.Window, ids ...string) patra.EffectiveEntry {
		return patra.EffectiveEntry{CoverageEntry: &patra.CoverageEntry{Window: w, State: patra.StateDisputed, Remarks: []patra.CoverageNote{{Missing: ids}}}}
	}
	got := unfoundIn(patra.NewCoverage(day(2)), []patra.EffectiveEntry{dispute(day(1), "before"), dispute(day(2), "a", "b"), dispute(day(3), "after")})
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}
