package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
)

// However much is asked for during a warm-up, no more leaves than a rate that climbs from a tenth permits, and not much
// less.
func TestAWarmUpClimbsInAStraightLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.Float64Range(0.05, 100).Draw(t, "per second")
		warmup := time.Duration(rapid.Float64Range(0.5, 300).Draw(t, "warm-up") * float64(time.Second))
		since := patra.Instant(1 << 50)
		permits := func(at patra.Instant) float64 { // since the beginning
			x, whole := float64(at-since)/float64(patra.Second), warmup.Seconds()
			cold := min(x, whole)
			return perSecond * (0.1*cold + 0.45*cold*cold/whole + max(0, x-whole))
		}
		paid, at := 0, since
		var sent []patra.Instant
		for at < since.Add(2*warmup) && paid < 3000 {
			cost := rapid.IntRange(1, 3).Draw(t, "cost")
			next := gate.Warm(at, since, warmup, perSecond, cost)
			if next <= at {
				t.Fatalf("%d is paid in no time", cost)
			}
			for range cost {
				sent = append(sent, next)
			}
			at, paid = next, paid+cost
			if most := permits(at); float64(paid) > most*(1+1e-5*(1+perSecond))+1e-6 || float64(paid) < most-0.01*(1+most) {
				t.Fatalf("%d is paid, and %.3f is permitted", paid, most)
			}
		}
		if len(sent) > 400 {
			sent = sent[:400]
		}
		if err := gatetest.Judge(sent, perSecond*(1+1e-5), 3); err != nil {
			t.Fatal(err)
		}
	})
}
