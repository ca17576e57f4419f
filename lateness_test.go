package patra_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
)

func TestTheLagFollowsTheLateArrivals(t *testing.T) {
	const base = 10 * time.Minute
	for _, c := range []struct {
		name             string
		last, configured time.Duration
		late, total      int64
		want             time.Duration
	}{
		{"many came late", base, base, 6, 1000, 15 * time.Minute},
		{"never above an hour", 58 * time.Minute, base, 60, 1000, time.Hour},
		{"few came late", 15 * time.Minute, base, 0, 1000, 14 * time.Minute},
		{"never below what is configured", base, base, 0, 1000, base},
		{"some came late", 15 * time.Minute, base, 3, 1000, 15 * time.Minute},
		{"too few to say", base, base, 50, 100, base},
		{"a source that asks for more keeps it", 24 * time.Hour, 24 * time.Hour, 60, 1000, 24 * time.Hour},
		{"a source that asks for more now", base, 30 * time.Minute, 3, 1000, 30 * time.Minute},
	} {
		if got := patra.AdaptLag(c.last, c.configured, patra.Lateness{Late: c.late, Total: c.total}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheLagStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.Map(rapid.IntRange(0, 200), func(n int) time.Duration { return time.Duration(n) * time.Minute })
		last, configured := minutes.Draw(t, "last"), minutes.Draw(t, "configured")
		l := patra.Lateness{Late: rapid.Int64Range(0, 100).Draw(t, "late"), Total: rapid.Int64Range(0, 10_000).Draw(t, "total")}
		if got := patra.AdaptLag(last, configured, l); got < configured || got > max(time.Hour, configured) {
			t.Fatalf("%s", got)
		}
	})
}

func TestALookbackReachesAlmostAllLateRecords(t *testing.T) {
	l := patra.Lateness{Days: map[int64]int64{0: 900, 1: 90, 5: 9, 40: 1}}
	if got := l.SuggestLookback(); got != 6 {
		t.Errorf("%d days", got)
	}
	if got := (patra.Lateness{}).SuggestLookback(); got != 0 {
		t.Errorf("%d days although nothing was late", got)
	}
}
