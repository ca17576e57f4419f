package gate_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/gate"
	"patra/internal/sim"
)

var anySign = rapid.SampledFrom([]gate.Feedback{gate.Answered, gate.Refused, gate.Unavailable})

func drawTempo(t *rapid.T, limit int64, now patra.Instant) patra.AdaptiveRate {
	ago := func(name string) patra.Instant {
		return now - patra.Instant(rapid.Int64Range(0, 10_000_000).Draw(t, name))
	}
	return patra.AdaptiveRate{Rate: rapid.Int64Range(0, 2*limit).Draw(t, "rate"), Ceiling: rapid.Int64Range(0, 2*limit).Draw(t, "ceiling"), AdaptedAt: ago("adapted"), RefusedAt: ago("refused")}
}

// rateOf is the tempo as a rate.
func rateOf(t patra.AdaptiveRate, limit int64) int64 {
	if t.Rate == 0 {
		return limit
	}
	return min(t.Rate, limit)
}

func TestATempoStaysBetweenTheLeastAndThePermittedRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, now := rapid.Int64Range(1, 1_000_000).Draw(t, "limit"), patra.Instant(1<<50)
		was, sign := drawTempo(t, limit, now), anySign.Draw(t, "sign")
		is := gate.Adapt(was, limit, sign, now-patra.Instant(rapid.Int64Range(0, 20_000_000).Draw(t, "took")), now)
		before, after := rateOf(was, limit), rateOf(is, limit)
		switch {
		case after > limit, after < min(before, limit, 100):
			t.Fatalf("%d of %d", after, limit)
		case sign != gate.Answered && after > max(before, min(limit, 100)):
			t.Fatalf("a refusal raised %d to %d", before, after)
		case sign == gate.Answered && after < before:
			t.Fatalf("an answer lowered %d to %d", before, after)
		case sign == gate.Unavailable && is.Ceiling != was.Ceiling:
			t.Fatalf("an outage moved the ceiling from %d to %d", was.Ceiling, is.Ceiling)
		}
	})
}

// Whoever was faster before an answer is not slower after it, and more time is not less climb. A step may be due to the
// one and not yet to the other, so one thousandth does not count.
func TestClimbingIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, now := rapid.Int64Range(100, 100_000).Draw(t, "limit"), patra.Instant(1<<50)
		was := drawTempo(t, limit, now)
		was.Rate, was.RefusedAt = max(was.Rate, 1), 0
		later := now + patra.Instant(rapid.Int64Range(0, 5_000_000).Draw(t, "later"))
		if a, b := rateOf(gate.Adapt(was, limit, gate.Answered, now, now), limit), rateOf(gate.Adapt(was, limit, gate.Answered, later, later), limit); b < a {
			t.Fatalf("%+v becomes %d now and %d later", was, a, b)
		}
		faster := was
		faster.Rate += rapid.Int64Range(0, limit).Draw(t, "faster")
		if a, b := rateOf(gate.Adapt(was, limit, gate.Answered, now, now), limit), rateOf(gate.Adapt(faster, limit, gate.Answered, now, now), limit); b < a*9/10 {
			t.Fatalf("%+v becomes %d, and %+v becomes %d", was, a, faster, b)
		}
	})
}

func TestARefusalHalvesTheRateAndTheNextOnesAtOnceDoNot(t *testing.T) {
	now := patra.Instant(1 << 50)
	is := gate.Adapt(patra.AdaptiveRate{}, 20_000, gate.Refused, now, now)
	first := is
	for n := range 20 {
		at := now.Add(time.Duration(n) * 300 * time.Millisecond)
		// The answers take up to six seconds, and all of these requests left before the first one came back.
		if is = gate.Adapt(is, 20_000, gate.Refused, now.Add(-time.Millisecond), at); is != first {
			t.Fatalf("%+v", is)
		}
	}
	if is.Rate != 10_000 || is.Ceiling != 20_000 {
		t.Errorf("%+v", is)
	}
	at := now.Add(700 * time.Millisecond)
	if is = gate.Adapt(is, 20_000, gate.Refused, at, at); is.Rate != first.Rate || is.RefusedAt != first.RefusedAt {
		t.Errorf("the same second: %+v", is)
	}
	at = now.Add(1100 * time.Millisecond)
	if is = gate.Adapt(is, 20_000, gate.Refused, at, at); is.Rate != 5_000 {
		t.Errorf("%+v", is)
	}
	for n := range 100 {
		at = now.Add(time.Duration(n+3) * 2 * time.Second)
		is = gate.Adapt(is, 20_000, gate.Refused, at, at)
	}
	if is.Rate != 100 || is.Ceiling != 20_000 {
		t.Errorf("without an answer between them, refusals lead to %+v", is)
	}
}

// Answers of requests that left before a refusal prove nothing about the rate since.
func TestAnAnswerFromBeforeARefusalProvesNothing(t *testing.T) {
	now := patra.Instant(1 << 50)
	is := gate.Adapt(patra.AdaptiveRate{}, 20_000, gate.Refused, now, now)
	if after := gate.Adapt(is, 20_000, gate.Answered, now-1, now+patra.Second); after != is {
		t.Errorf("%+v", after)
	}
	if after := gate.Adapt(is, 20_000, gate.Answered, now+1, now+patra.Second); after.Rate <= is.Rate {
		t.Errorf("%+v", after)
	}
}

// From wherever we are, answers bring us to nine tenths of the last good rate in seconds, slowly to all of it, and to the
// limit in the end.
func TestAnswersBringTheTempoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, now := rapid.Int64Range(1000, 100_000).Draw(t, "limit"), patra.Instant(1<<50)
		was := drawTempo(t, limit, now-20*patra.Second)
		was.Rate, was.Ceiling = max(was.Rate, 100), 0
		is := gate.Adapt(was, limit, gate.Refused, now, now)
		top, passed := min(is.Ceiling, limit), time.Duration(0)
		climb := func(until func() bool) time.Duration {
			began := passed
			for !until() {
				step := max(250*time.Millisecond, time.Duration(1000*float64(time.Second)/float64(rateOf(is, limit))))
				passed += step
				at := now.Add(passed)
				is = gate.Adapt(is, limit, gate.Answered, at, at)
				if passed > 24*time.Hour {
					t.Fatalf("after a day it is still %+v", is)
				}
			}
			return passed - began
		}
		if took := climb(func() bool { return rateOf(is, limit) >= top*9/10 }); top >= 1000 && took > 15*time.Second {
			t.Fatalf("it took %s to come to the knee of %d", took, top)
		}
		if took := climb(func() bool { return rateOf(is, limit) >= top }); top >= max(1000, limit/10) && took < 55*time.Second || took > 8*time.Minute {
			t.Fatalf("it took %s to come from the knee to the ceiling of %d", took, top)
		}
		if took := climb(func() bool { return is.Rate == 0 || is.Rate > 2*top }); took > 4*time.Minute {
			t.Fatalf("it took %s to come from %d to twice as much of %d", took, top, limit)
		}
		climb(func() bool { return is.Rate == 0 })
	})
}

// One answer after a day is one answer: not much more than half a second's climb.
func TestAPauseProvesNothing(t *testing.T) {
	now := patra.Instant(1 << 50)
	is := gate.Adapt(patra.AdaptiveRate{}, 20_000, gate.Refused, now, now)
	if after := gate.Adapt(is, 20_000, gate.Answered, now+patra.Day, now+patra.Day); after.Rate != 12_000 {
		t.Errorf("after a day and one answer the rate is %d", after.Rate)
	}
}

// Eight processes that tell of answers are not eight times as fast as one.
func TestTheClimbGoesByTheTime(t *testing.T) {
	after := func(processes int) int64 {
		now := patra.Instant(1 << 50)
		is := gate.Adapt(patra.AdaptiveRate{}, 20_000, gate.Refused, now, now)
		for n := range 4 * 30 * processes { // half a minute, four times a second each
			at := now.Add(time.Duration(n+1) * 250 * time.Millisecond / time.Duration(processes))
			is = gate.Adapt(is, 20_000, gate.Answered, at, at)
		}
		return is.Rate
	}
	if one, eight := after(1), after(8); eight > one*102/100 || eight < one*95/100 {
		t.Errorf("after half a minute one process is at %d, and eight are at %d", one, eight)
	}
}

// rule is a way to adapt.
type rule func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate

func ours(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
	return gate.Adapt(t, limit, s, now, now)
}

// follow asks a capacity as fast as a rule says, one request after the other, and tells what part of the capacity was used
// and what part of the requests was refused, after ten minutes.
func follow(r rule, limit int64, c *sim.Capacity, over time.Duration) (used, refused float64) {
	c.Began = time.Unix(1<<30, 0)
	now, from := c.Began, c.Began.Add(10*time.Minute)
	var is patra.AdaptiveRate
	var before sim.Answers
	for now.Before(c.Began.Add(over)) {
		status, _ := c.Ask(now)
		sign := gate.Answered
		if status == 429 {
			sign = gate.Refused
		}
		is = r(is, limit, sign, patra.InstantOf(now))
		now = now.Add(time.Duration(float64(time.Second) * 1000 / float64(rateOf(is, limit))))
		if now.Before(from) {
			before = c.Seen()
		}
	}
	given, denied := float64(c.Seen().Given-before.Given), float64(c.Seen().Refused-before.Refused)
	return given / c.Offered(from, now), denied / (given + denied)
}

// Whatever a provider bears, as long as it does not change, it is found: at least 85 of 100 of what it bears is used, and
// less than one of 100 requests is refused.
func TestAdaptConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Float64Range(1, 100).Draw(t, "limit")
		bears := max(0.4, limit*rapid.Float64Range(0.1, 0.99).Draw(t, "part"))
		burst := rapid.Float64Range(1, 5+limit).Draw(t, "burst")
		c := &sim.Capacity{Steps: []sim.Step{{PerSecond: bears}}, Burst: burst}
		if used, refused := follow(ours, int64(limit*1000), c, time.Hour); used < 0.85 || refused >= 0.01 {
			t.Fatalf("at %.2f of %.2f with a burst of %.1f, %.1f %% are used and %.2f %% refused", bears, limit, burst, 100*used, 100*refused)
		}
	})
}

// A provider that refuses one request in sixteen, however fast we are, does not bring us to a standstill.
func TestRefusalsAtRandom(t *testing.T) {
	const limit = 200_000
	dice, now, sent := rand.New(rand.NewPCG(1, 2)), patra.Instant(1<<50), 0
	var is patra.AdaptiveRate
	for began := now; now < began+3600*patra.Second; sent++ {
		sign := gate.Answered
		if dice.IntN(16) == 0 {
			sign = gate.Refused
		}
		is = ours(is, limit, sign, now)
		now += 1000 * patra.Second / patra.Instant(rateOf(is, limit))
	}
	rate := float64(sent) / 3600
	t.Logf("%.1f a second", rate)
	if rate < 3 {
		t.Errorf("only %.2f requests a second are left of 200", rate)
	}
}

// A rule that is wrong in one way or another does not follow a capacity.
func TestWrongRulesDoNotConverge(t *testing.T) {
	const limit = 10_000
	for name, r := range map[string]rule{
		"refusals are not heard": func(patra.AdaptiveRate, int64, gate.Feedback, patra.Instant) patra.AdaptiveRate {
			return patra.AdaptiveRate{}
		},
		"it never comes back": func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
			if s == gate.Answered {
				return t
			}
			return ours(t, limit, s, now)
		},
		"the ceiling is for ever": func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
			is := ours(t, limit, s, now)
			if s == gate.Answered && t.Ceiling > 0 {
				is.Ceiling, is.Rate = t.Ceiling, min(rateOf(is, limit), t.Ceiling*98/100)
			}
			return is
		},
		"no ceiling, and a tenth of the limit each second": func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
			rate := rateOf(t, limit)
			if s == gate.Refused {
				return patra.AdaptiveRate{Rate: max(rate/2, 100), AdaptedAt: now}
			}
			return patra.AdaptiveRate{Rate: min(limit, rate+limit*int64(now-t.AdaptedAt)/int64(10*patra.Second)), AdaptedAt: now}
		},
		"as it was: quickly to the knee, then a hundredth of the limit each second": func(t patra.AdaptiveRate, limit int64, s gate.Feedback, now patra.Instant) patra.AdaptiveRate {
			rate := rateOf(t, limit)
			if s == gate.Refused {
				return patra.AdaptiveRate{Rate: max(rate/2, 100), Ceiling: rate, AdaptedAt: now}
			}
			passed, knee := min(now-t.AdaptedAt, patra.Second), t.Ceiling*9/10
			if rate < knee {
				rate = min(knee, rate+t.Ceiling*int64(passed)/int64(5*patra.Second))
			} else {
				rate = min(limit, rate+limit*int64(passed)/int64(100*patra.Second))
			}
			return patra.AdaptiveRate{Rate: rate, Ceiling: t.Ceiling, AdaptedAt: now}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &sim.Capacity{Steps: []sim.Step{{PerSecond: 2}, {After: 20 * time.Minute, PerSecond: 6}, {After: 40 * time.Minute, PerSecond: 3}}, Burst: 5}
			used, refused := follow(r, limit, c, time.Hour)
			t.Logf("%.1f %% used, %.2f %% refused", 100*used, 100*refused)
			if used >= 0.85 && refused < 0.01 {
				t.Error("nobody noticed")
			}
			if used, refused := follow(ours, limit, &sim.Capacity{Steps: c.Steps, Burst: 5}, time.Hour); used < 0.85 || refused >= 0.01 {
				t.Errorf("ours: %.1f %% used, %.2f %% refused", 100*used, 100*refused)
			}
		})
	}
}
