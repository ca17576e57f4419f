package engine

import (
	"testing"

	"patra"
	"patra/internal/view"
)

// Only a list of all ids in one answer proves a window that is compared. What merely agrees ends a dispute.
func TestWhatAComparisonProves(t *testing.T) {
	proved := &patra.WindowProof{Witness: patra.WitnessSeam}
	byPerson := []patra.CoverageNote{{By: "ada"}}
	for _, c := range []struct {
		name    string
		state   patra.Completeness
		proof   *patra.WindowProof
		notes   []patra.CoverageNote
		by      string
		differs bool
		census  bool
		want    patra.Completeness
	}{
		{"a count that agrees proves nothing", patra.StateRead, nil, nil, view.CheckByCounts, false, false, ""},
		{"a count that agrees ends a dispute", patra.StateDisputed, nil, nil, view.CheckByCounts, false, false, patra.StateRead},
		{"a walk that agrees proves nothing", patra.StateRead, nil, nil, view.CheckByIDs, false, false, ""},
		{"a walk that agrees ends a dispute", patra.StateDisputed, nil, nil, view.CheckByIDs, false, false, patra.StateRead},
		{"a whole list proves what was read", patra.StateRead, nil, nil, view.CheckByIDs, false, true, patra.StateSealed},
		{"a whole list proves what was in dispute", patra.StateDisputed, nil, nil, view.CheckByIDs, false, true, patra.StateSealed},
		{"a whole list proves what an older version sealed", patra.StateSealed, nil, nil, view.CheckByIDs, false, true, patra.StateSealed},
		{"what has a proof keeps it", patra.StateSealed, proved, nil, view.CheckByIDs, false, true, ""},
		{"what a person accepted stays accepted", patra.StateSealed, nil, byPerson, view.CheckByIDs, false, true, ""},
		{"what differs is a dispute", patra.StateSealed, proved, nil, view.CheckByIDs, true, false, patra.StateDisputed},
		{"and stays one", patra.StateDisputed, nil, nil, view.CheckByCounts, true, false, ""},
	} {
		w := comparedWindow{CoverageEntry: &patra.CoverageEntry{State: c.state, Proof: c.proof, Remarks: c.notes}}
		if got, why := settled(w, view.CheckDifference{By: c.by}, c.differs, c.census); got != c.want || (got == "") != (why == "") {
			t.Errorf("%s: %q, %q", c.name, got, why)
		}
	}
}
