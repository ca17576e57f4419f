package patra_test

import (
	"slices"
	"testing"

	"patra"
)

// A window that was read without a proof is read again after one, six and twenty-four hours, and only where a proof is to be had.
func TestAWindowWithoutAProofIsRetriedThreeTimes(t *testing.T) {
	day := patra.Window{From: patra.Date(2026, 1, 1), To: patra.Date(2026, 1, 2)}
	read := func(id int64, at patra.Instant, planned patra.Witness) patra.CoverageEntry {
		return patra.CoverageEntry{ID: id, Window: day, State: patra.StateRead, ClosedAt: at, Proof: &patra.WindowProof{Planned: planned}}
	}
	begin := patra.Date(2026, 2, 1)
	for _, c := range []struct {
		name    string
		answers []patra.CoverageEntry
		after   patra.Instant
		due     bool
	}{
		{"not before an hour", []patra.CoverageEntry{read(1, begin, patra.WitnessMetAgain)}, patra.Hour - 1, false},
		{"after an hour", []patra.CoverageEntry{read(1, begin, patra.WitnessMetAgain)}, patra.Hour, true},
		{"then not before six", []patra.CoverageEntry{read(1, begin-patra.Day, patra.WitnessSeam), read(2, begin, patra.WitnessSeam)}, 6*patra.Hour - 1, false},
		{"after six", []patra.CoverageEntry{read(1, begin-patra.Day, patra.WitnessSeam), read(2, begin, patra.WitnessSeam)}, 6 * patra.Hour, true},
		{"not a fourth time", []patra.CoverageEntry{read(1, begin-3, patra.WitnessSeam), read(2, begin-2, patra.WitnessSeam), read(3, begin-1, patra.WitnessSeam), read(4, begin, patra.WitnessSeam)}, 100 * patra.Day, false},
		{"not where there is no witness", []patra.CoverageEntry{read(1, begin, patra.WitnessNone)}, patra.Day, false},
		{"not what is sealed by now", []patra.CoverageEntry{read(1, begin-1, patra.WitnessSeam), {ID: 2, Window: day, State: patra.StateSealed, ClosedAt: begin}}, patra.Day, false},
	} {
		want := patra.Coverage(nil)
		if c.due {
			want = patra.NewCoverage(day)
		}
		if got := patra.ReadRetries(c.answers, begin+c.after); !slices.Equal(got, want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
