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

// NextPermit is the rate rule (the generic cell rate algorithm, which is a token bucket with one number of state). In
// any stretch of time T the grants cost at most burst + perSecond*T, or one of them alone more than the burst.
func NextPermit(arrival, now patra.Instant, perSecond float64, burst, cost int) (at, next patra.Instant) {
	every := interval(perSecond)
	next = max(arrival, now) + patra.Instant(cost)*every
	at = max(now, next-patra.Instant(burst)*every)
	return at, next
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
