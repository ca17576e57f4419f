package gate_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// This is the promise: whatever each request needs from its grant to the provider, as long as that is not more than the
// slack, the provider sees no more than it permits in any stretch of time and in any half-open second.
func TestRequestsThatAreLateByNoMoreThanTheSlackKeepTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 40).Draw(t, "burst")
		pace := gate.PaceOf(patra.RateLimit{PerSecond: perSecond, Burst: burst})
		now, turns := patra.Instant(0), gate.Turns{}
		var seen []patra.Instant
		for range rapid.IntRange(burst, 4*burst+20).Draw(t, "requests") {
			now += patra.Instant(rapid.Float64Range(0, 1.2).Draw(t, "gap") * float64(patra.Second) / perSecond)
			var at patra.Instant
			at, turns = turns.Take(now, pace.PerSecond, pace.Burst, 1)
			late := rapid.SampledFrom([]time.Duration{0, 0, pace.Slack / 2, pace.Slack}).Draw(t, "late")
			seen = append(seen, at.Add(late))
		}
		if err := errors.Join(gatetest.Judge(seen, perSecond, burst), gatetest.JudgeSeconds(seen, perSecond, 0)); err != nil {
			t.Fatal(err)
		}
	})
}

// More than the slack is too much: the first request of a burst is late, those after it are not.
func TestTheSlackIsNoLargerThanItMayBe(t *testing.T) {
	for _, l := range []struct {
		perSecond float64
		burst     int
	}{{1, 1}, {3, 3}, {20, 5}, {50, 20}} {
		pace := gate.PaceOf(patra.RateLimit{PerSecond: l.perSecond, Burst: l.burst})
		var seen []patra.Instant
		turns := gate.Turns{Next: 1} // no pause before it, and so no burst
		for n := range 3 * l.burst * 10 {
			var at patra.Instant
			at, turns = turns.Take(0, pace.PerSecond, pace.Burst, 1)
			if n == 0 {
				at = max(at, patra.Instant(pace.Slack/time.Microsecond)*11/10)
			}
			seen = append(seen, at)
		}
		if gatetest.JudgeSeconds(seen, l.perSecond, 0) == nil {
			t.Errorf("%v: requests that are later than the slack do no harm, so there is more slack than %s", l, pace.Slack)
		}
	}
}

func TestAPaceUsesNearlyAllThatIsPermitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond, burst := rapid.Float64Range(0.01, 1000).Draw(t, "per second"), rapid.IntRange(1, 40).Draw(t, "burst")
		pace := gate.PaceOf(patra.RateLimit{PerSecond: perSecond, Burst: burst})
		least := 0.98
		switch {
		case burst == 1 && perSecond > 3:
			least = 0.83
		case burst == 1:
			least = 0.97
		}
		if used := pace.PerSecond / perSecond; used > 1 || used < least-1e-3 || pace.Burst < 1 || pace.Burst > burst {
			t.Fatalf("%v a second and a burst of %d become %+v", perSecond, burst, pace)
		}
		if p := pace.Patience(); p <= 0 || p > pace.Slack*3/4 {
			t.Fatalf("a grant may be late by %s of %s", p, pace.Slack)
		}
	})
}
