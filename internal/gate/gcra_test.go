package gate_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// keeps judges grants of which each may be a little early, because intervals are rounded to a microsecond.
func keeps(grants []patra.Instant, perSecond float64, burst int) error {
	return errors.Join(gatetest.Judge(grants, perSecond*(1+2e-6*perSecond), burst), gatetest.JudgeSeconds(grants, perSecond, 0))
}

// The rule holds however requests come and even when the clock steps back.
func TestTurnsNeverExceedTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		now, turns := patra.Instant(0), gate.Turns{Next: patra.Instant(rapid.Int64Range(-10, 10).Draw(t, "arrival"))}
		var grants []patra.Instant
		for _, gap := range rapid.SliceOfN(rapid.Float64Range(-2, 5), 1, 120).Draw(t, "gaps in intervals") {
			now += patra.Instant(gap * float64(patra.Second) / perSecond)
			var at patra.Instant
			at, turns = turns.Take(now, perSecond, burst, 1)
			if at < now {
				t.Fatalf("granted at %d, before it was asked for at %d", at, now)
			}
			grants = append(grants, at)
		}
		if err := keeps(grants, perSecond, min(burst, int(math.Ceil(perSecond)))); burst <= int(math.Ceil(perSecond)) && err != nil {
			t.Fatal(err)
		}
	})
}

func TestARateThatDoesNotDivideTheSecondIsKeptToo(t *testing.T) {
	var grants []patra.Instant
	turns := gate.Turns{}
	for range 10_000 {
		var at patra.Instant
		at, turns = turns.Take(0, 3, 1, 1)
		grants = append(grants, at)
	}
	if err := keeps(grants, 3, 1); err != nil {
		t.Error(err)
	}
}

// After a pause a whole burst may leave at once, and takes the place of the requests that follow: they come when they
// would have come without it.
func TestAnIdleGateLetsAWholeBurstPassAndThenRepaysIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 12).Draw(t, "burst")
		interval := patra.Instant(math.Ceil(float64(patra.Second) / perSecond))
		now := patra.Instant(rapid.Int64Range(0, 1<<50).Draw(t, "now")) + patra.Instant(burst)*interval
		turns := gate.Turns{}
		for n := range 3 * burst {
			var at patra.Instant
			at, turns = turns.Take(now, perSecond, burst, 1)
			want := now + patra.Instant(n)*interval
			if n < burst {
				want = now
			}
			if at != want {
				t.Fatalf("turn %d is at %d, want %d", n, at-now, want-now)
			}
		}
	})
}

// A short pause permits only as many at once as it let pass by.
func TestAShortPauseSavesUpAShortBurst(t *testing.T) {
	turns := gate.Turns{}
	_, turns = turns.Take(0, 10, 1, 1)
	now := patra.Instant(350_000) // the turns at 100, 200 and 300 ms were not taken, the last of them is its own
	for n, want := range []patra.Instant{now, now, now, now + 300_000} {
		var at patra.Instant
		if at, turns = turns.Take(now, 10, 10, 1); at != want {
			t.Errorf("turn %d is at %d, want %d", n, at, want)
		}
	}
}
