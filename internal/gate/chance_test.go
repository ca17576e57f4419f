package gate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
)

// given is how many requests are answered in some time by a provider of which each request goes wrong with a chance, whatever
// the rate is, and the lowest rate at which it was asked.
func given(limit int64, over time.Duration, share float64, wrong gate.Feedback) (answered int, least int64) {
	dice, now := rand.New(rand.NewPCG(3, 4)), patra.Instant(1<<50)
	var is patra.AdaptiveRate
	least = limit
	for end := now.Add(over); now < end; now += 1000 * patra.Second / patra.Instant(rateOf(is, limit)) {
		sign := gate.Answered
		if dice.Float64() < share {
			sign = wrong
		} else {
			answered++
		}
		is = ours(is, limit, sign, now)
		least = min(least, rateOf(is, limit))
	}
	return answered, least
}

// What goes wrong by chance is no limit: it does not lower the rate at all.
func TestFaultsByChanceDoNotLowerTheRate(t *testing.T) {
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2} {
		const limit = 5000
		if _, least := given(limit, time.Hour, share, gate.Failed); least < limit {
			t.Errorf("with %.0f %% of failures the rate fell to %d of %d", 100*share, least, limit)
		}
	}
}

// Refusals that come however slow we are lower the rate for as long as it takes to see that, and not to a standstill.
func TestRefusalsThatALowerRateDoesNotHelpAgainst(t *testing.T) {
	for _, share := range []float64{0.3, 0.4, 0.5} {
		for _, limit := range []int64{5000, 50_000} {
			all := float64(limit) / 1000 * 3600 * (1 - share)
			n, least := given(limit, time.Hour, share, gate.Refused)
			t.Logf("%.0f %% refused of %d: %.0f %% of what would be, and never below %d", 100*share, limit, 100*float64(n)/all, least)
			if float64(n) < 0.7*all {
				t.Errorf("%.0f %% refused: %d of %.0f were answered", 100*share, n, all)
			}
		}
	}
}

// A provider that fails when it is asked too fast, and says so in no other way, is found out: where fewer fail at a lower rate, a
// failure is a refusal.
func TestFailuresThatFollowTheRateAreALimit(t *testing.T) {
	const limit = 10_000
	bears := func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
		if s == gate.Refused {
			s = gate.Failed
		}
		return ours(t, limit, s, now)
	}
	for _, part := range []float64{0.2, 0.3, 0.4} {
		used, failed := follow(bears, limit, steady(10, 5, part).Capacity, time.Hour)
		t.Logf("it bears %.0f %%: %.1f %% used, %.1f %% failed", 100*part, 100*used, 100*failed)
		if used < 0.85 || failed > 0.1 {
			t.Errorf("it bears %.0f %%: %.1f %% used, %.1f %% failed", 100*part, 100*used, 100*failed)
		}
	}
}

// After a real limit nine tenths of what the provider bears are back within a minute, also where one request in twenty fails by
// chance.
func TestTheRateIsBackWithinAMinute(t *testing.T) {
	for _, limit := range []int64{1000, 5000, 50_000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			dice, now := rand.New(rand.NewPCG(5, 6)), patra.Instant(1<<50)
			is := ours(patra.AdaptiveRate{}, limit, gate.Refused, now)
			for end := now.Add(time.Minute); now < end; now += 1000 * patra.Second / patra.Instant(rateOf(is, limit)) {
				sign := gate.Answered
				if dice.IntN(20) == 0 {
					sign = gate.Failed
				}
				is = ours(is, limit, sign, now+1)
			}
			if rateOf(is, limit) < limit*9/10 {
				t.Errorf("after a minute the rate is %d of %d", rateOf(is, limit), limit)
			}
		})
	}
}

// Grants that were taken ahead are not thrown away for a failure that means nothing.
func TestAFailureByChanceKeepsTheGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, l := gate.NewLocal(), patra.RateLimit{Key: "source", PerSecond: 5, Burst: 5}
		dice, began, n := rand.New(rand.NewPCG(7, 8)), time.Now(), 0
		for ; time.Since(began) < 4*time.Minute; n++ {
			wait, err := g.Reserve(t.Context(), l, 1)
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(max(wait, 0))
			status := 200
			if dice.IntN(5) == 0 {
				status = 503
			}
			if err := g.Report(t.Context(), l, patra.RateFeedback{Status: status}); err != nil {
				t.Fatal(err)
			}
		}
		if n < 1150 {
			t.Errorf("%d of 1200 requests left where one in five fails", n)
		}
	})
}
