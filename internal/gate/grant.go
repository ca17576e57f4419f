package gate

import (
	"math"

	"patra"
)

// maxInterval keeps the arithmetic far from overflow, whatever somebody writes as a rate.
const maxInterval = 365 * patra.Day

// interval is the time between two requests, rounded up: rounding never grants more than was permitted.
func interval(perSecond float64) patra.Instant {
	return patra.Instant(min(math.Ceil(float64(patra.Second)/perSecond), float64(maxInterval)))
}

// Grant is the rate rule (the generic cell rate algorithm, which is a token bucket with one number of state). In
// any stretch of time T the grants cost at most burst + perSecond*T, or one of them alone more than the burst.
func Grant(arrival, now patra.Instant, perSecond float64, burst, cost int) (at, next patra.Instant) {
	every := interval(perSecond)
	next = max(arrival, now) + patra.Instant(cost)*every
	at = max(now, next-patra.Instant(burst)*every)
	return at, next
}
