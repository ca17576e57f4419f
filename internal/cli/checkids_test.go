package cli

import (
	"slices"
	"strings"
	"testing"
)

// One record left and one arrived: the counts agree, and the ids do not.
func TestCheckNamesTheRecordThatLeftAndTheOneThatArrived(t *testing.T) {
	p := (&dayProvider{}).fill(3, 30)
	says := harvestOf(t, p, counting)
	says(exitOK, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-04")
	if got := says(exitOK, "coverage", "check", "mine"); !strings.Contains(got, "compared by ids, 0 differ") {
		t.Error(got)
	}
	p.mu.Lock()
	p.works["2026-05-02"] = append(slices.Clone(p.works["2026-05-02"][1:]), "newcomer")
	p.mu.Unlock()
	got := says(exitIncomplete, "coverage", "check", "mine")
	for _, want := range []string{"not stored  newcomer", "not listed  2026-05-02-0", "1 differs", "1 window differs"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	got = says(exitIncomplete, "coverage", "check", "mine", "-o", "json")
	for _, want := range []string{"\"not_stored\": [\n        \"newcomer\"", "\"not_listed\": [\n        \"2026-05-02-0\"", `"by": "IDS"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	var asked []int // counts for exactly the windows, one each
	p.counted = func(_ *dayProvider, days int) int { asked = append(asked, days); return 0 }
	if got := says(exitOK, "coverage", "check", "mine", "--compare", "counts"); !strings.Contains(got, "only counts were compared") || !slices.Equal(asked, []int{1, 1, 1}) {
		t.Error(got, asked)
	}
	// What differs can be put into dispute, and is read again.
	if got := says(exitIncomplete, "coverage", "check", "mine", "--mark"); !strings.Contains(got, "Next: patra coverage fill mine --disputed") {
		t.Error(got)
	}
	if got := says(exitOK, "coverage", "fill", "mine", "--disputed"); !strings.Contains(got, "1 new") {
		t.Error(got)
	}
	// The record that left is stored still, and still not listed: that is not forgotten.
	if got := says(exitIncomplete, "coverage", "check", "mine"); strings.Contains(got, "newcomer") || !strings.Contains(got, "not listed  2026-05-02-0") {
		t.Error(got)
	}
}

// Where a window has too many pages to be listed without being asked to, counts are compared, and the answer says so. Where a
// source cannot count either, the window is not compared.
func TestCheckSaysWhereOnlyCountsWereCompared(t *testing.T) {
	for trust, want := range map[string]string{"EXACT": "Of 1 window only counts were compared", "ESTIMATE": "1 window could not be compared"} {
		t.Run(trust, func(t *testing.T) {
			p := (&dayProvider{}).fill(2, 30)
			p.works["2026-05-02"] = (&dayProvider{}).fill(2, 500).works["2026-05-02"]
			says := harvestOf(t, p, strings.Replace(counting, "trust: EXACT", "trust: "+trust, 1))
			says(exitOK, "harvest", "mine", "--base-url", "URL", "--from", "2026-05-01", "--to", "2026-05-03")
			p.mu.Lock()
			p.works["2026-05-02"][0] = "newcomer"
			p.mu.Unlock()
			if got := says(exitOK, "coverage", "check", "mine"); !strings.Contains(got, want) {
				t.Errorf("%q does not say %q", got, want)
			}
			got := says(exitIncomplete, "coverage", "check", "mine", "--compare", "ids")
			if !strings.Contains(got, "not stored  newcomer") || !strings.Contains(got, "not listed  2026-05-02-0") {
				t.Error(got)
			}
		})
	}
}
