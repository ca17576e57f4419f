package patra_test

import (
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// A patrol that always takes the stalest sees every record once in its period, and never much more than its share.
func TestAPatrolSeesEveryRecordInItsPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known, runs := rapid.Int64Range(0, 1000).Draw(t, "known"), rapid.Int64Range(1, 60).Draw(t, "runs")
		size := patra.RefreshBatchSize(known, runs)
		if size*runs < known {
			t.Fatalf("%d runs of %d do not see %d records", runs, size, known)
		}
		if runs > 1 && size > 0 && (size-1)*runs >= known {
			t.Fatalf("%d of %d records in one of %d runs", size, known, runs)
		}
	})
}

func TestAPatrolRunsOnceADay(t *testing.T) {
	for text, want := range map[string]int64{"P30D": 30, "P2M": 60, "PT6H": 1, "P1D": 1, "P1Y": 360} {
		every, err := patra.ParsePeriod(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := patra.RefreshRuns(every); got != want {
			t.Errorf("%s is %d runs, want %d", text, got, want)
		}
	}
}

func TestPicksOfDifferentRecordsAreDifferentWork(t *testing.T) {
	a, b := patra.RecordSelector{By: patra.PickNamed, IDs: []string{"1", "2"}}, patra.RecordSelector{By: patra.PickNamed, IDs: []string{"1", "3"}}
	if a.Campaign() == b.Campaign() || a.Campaign() != (patra.RecordSelector{By: patra.PickNamed, IDs: []string{"1", "2"}}).Campaign() {
		t.Error(a.Campaign(), b.Campaign())
	}
	for by, key := range map[patra.SelectorKind]string{patra.PickStale: patra.PickedIDs, patra.PickMapping: patra.PickedIDs, patra.PickSignals: patra.NamedIDs, patra.PickNamed: patra.NamedIDs} {
		if got := (patra.RecordSelector{By: by}).Key(); got != key || patra.ForeignIDs(got) {
			t.Errorf("%s is %s", by, got)
		}
	}
}
