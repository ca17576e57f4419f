package gate_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// keeps judges grants of which each may be a little early, because intervals are rounded to a microsecond.
func keeps(grants []patra.Instant, perSecond float64, burst int) error {
	return gatetest.Judge(grants, perSecond*(1+2e-6*perSecond), burst)
}

// The rule holds however requests come and even when the clock steps back.
func TestGrantNeverExceedsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		now, arrival := patra.Instant(0), patra.Instant(rapid.Int64Range(-10, 10).Draw(t, "arrival"))
		var grants []patra.Instant
		for _, gap := range rapid.SliceOfN(rapid.Float64Range(-2, 5), 1, 120).Draw(t, "gaps in intervals") {
			now += patra.Instant(gap * float64(patra.Second) / perSecond)
			var at patra.Instant
			at, arrival = gate.NextPermit(arrival, now, perSecond, burst, 1)
			if at < now {
				t.Fatalf("granted at %d, before it was asked for at %d", at, now)
			}
			grants = append(grants, at)
		}
		if err := keeps(grants, perSecond, burst); err != nil {
			t.Fatal(err)
		}
	})
}

func TestARateThatDoesNotDivideTheSecondIsKeptToo(t *testing.T) {
	var grants []patra.Instant
	arrival := patra.Instant(0)
	for range 10_000 {
		var at patra.Instant
		at, arrival = gate.NextPermit(arrival, 0, 3, 1, 1)
		grants = append(grants, at)
	}
	if err := gatetest.Judge(grants, 3, 1); err != nil {
		t.Error(err)
	}
}

func TestAnIdleGateLetsAWholeBurstPassAndThenKeepsThePace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		now := patra.Instant(rapid.Int64Range(1, 1<<50).Draw(t, "now"))
		interval := patra.Instant(math.Ceil(float64(patra.Second) / perSecond))
		arrival := patra.Instant(0)
		for n := range 3 * burst {
			var at patra.Instant
			at, arrival = gate.NextPermit(arrival, now, perSecond, burst, 1)
			if want := now + patra.Instant(max(0, n-burst+1))*interval; at != want {
				t.Fatalf("grant %d is at %d, want %d", n, at-now, want-now)
			}
		}
	})
}
