package gate

import (
	"math"
	"time"

	"patra"
)

// maxInterval keeps the arithmetic far from overflow, whatever somebody writes as a rate.
const maxInterval = 365 * patra.Day

// interval is the time between two requests, rounded up: rounding never grants more than was permitted.
func interval(perSecond float64) patra.Instant {
	return patra.Instant(min(math.Ceil(float64(patra.Second)/perSecond), float64(maxInterval)))
}

// Turns are the turns of one key, one interval apart. The zero value is a key that was never used.
//
// They are a token bucket that repays its bursts: after a pause some turns may be taken early, as many as the pause let
// pass by and at most a burst, but the turns that follow them stay where they are. A plain token bucket (the generic cell
// rate algorithm) gives the burst and the rate in the first second; here, any n+1 requests of one cost span at least n
// intervals, and so do n+1 of any cost.
type Turns struct {
	Next  patra.Instant // the first turn that is free
	Early patra.EarlyTurns
}

// Take takes the next turn for a request of a cost, whose turn lasts so many intervals. It may be used from at on.
func (t Turns) Take(now patra.Instant, perSecond float64, burst, cost int) (at patra.Instant, next Turns) {
	every, turn := interval(perSecond), t.Next
	if idle := now - t.Next; idle >= 0 {
		turn = now
		t.Early = patra.EarlyTurns{}
		if ahead := min(patra.Instant(burst-1), idle/every); ahead > 0 {
			t.Early = patra.EarlyTurns{From: now, Until: now + ahead*every}
		}
	}
	at = turn
	if burst > 1 && turn <= t.Early.Until {
		at = min(turn, max(now, t.Early.From))
	}
	t.Next = turn + patra.Instant(cost)*every
	return at, t
}

// Wait is how long whoever asked now would wait for a grant, as a row stands. It is for people who look: nothing is charged.
func Wait(l patra.RateLimit, is patra.RateState, now patra.Instant) time.Duration {
	if l.PerSecond <= 0 {
		return 0
	}
	d := permitCache{RateLimit: l, cost: 1, pace: PaceOf(l)}
	is.Limit, is.Burst = milli(l.PerSecond), l.Burst
	rate, burst := d.speed(is)
	from := max(now, is.Cooldown)
	if !is.Loan.Leased(now) { // else somebody else knows better
		d.afterLoan(now, &is)
	}
	if l.Warmup > 0 {
		is.WarmSince = warmSince(is, l.Warmup, from)
	}
	at, _ := d.grant(is, from, rate, burst)
	return at.Sub(now)
}
