package patra_test

import (
	"testing"

	"patra"
)

// A cursor that waits for one bad day has all later answers behind it, and computes its frontiers at every closing.
func BenchmarkPaintBehindABlockedHead(b *testing.B) {
	answers := make([]patra.CoverageEntry, 10_000)
	for i := range answers {
		from := patra.Instant(i+1) * patra.Day
		answers[i] = patra.CoverageEntry{ID: int64(i), Window: patra.Window{From: from, To: from + patra.Day}, State: patra.StateSealed, ClosedAt: patra.Instant(i)}
	}
	for b.Loop() {
		if got := patra.CoverageByState(answers)[patra.StateSealed]; len(got) != 1 {
			b.Fatal(got)
		}
	}
}
