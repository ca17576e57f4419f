package gate

import (
	"time"

	"patra"
)

const (
	// leastRate is the slowest that a refusal makes us, in thousandths of a request a second.
	leastRate = 100
	// oneRefusal: refusals within this time are one sign. Many requests may be on their way when a provider has had
	// enough.
	oneRefusal = time.Second
	// mostClimb is the time that one answer may count for: a pause proves nothing.
	mostClimb = time.Second
)

// Adapt is the tempo after an answer, where limit is the permitted rate in thousandths. A refusal halves it. Answers
// bring it back: in two seconds or so to nine tenths of the rate at which we were refused, as plain halving would waste a
// quarter of what a provider gives; then by a hundredth of the limit a second, feeling for where it refuses us.
func Adapt(t patra.Tempo, limit int64, refused bool, now patra.Instant) patra.Tempo {
	limit = max(limit, 1)
	rate := limit
	if t.Rate > 0 {
		rate = min(t.Rate, limit)
	}
	if refused {
		if t.RefusedAt > 0 && now >= t.RefusedAt && now < t.RefusedAt.Add(oneRefusal) {
			return t
		}
		return patra.Tempo{Rate: max(rate/2, min(leastRate, limit)), Ceiling: rate, AdaptedAt: now, RefusedAt: now}
	}
	if rate == limit {
		return patra.Tempo{RefusedAt: t.RefusedAt}
	}
	passed := min(max(now-t.AdaptedAt, 0), patra.Instant(mostClimb/time.Microsecond))
	knee := min(t.Ceiling, limit) * 9 / 10
	if rate < knee {
		rate = min(knee, rate+share(t.Ceiling, passed, 5))
	} else {
		rate += share(limit, passed, 100)
	}
	if rate >= limit {
		return patra.Tempo{RefusedAt: t.RefusedAt}
	}
	t.Rate, t.AdaptedAt = rate, now
	return t
}

// share is the part of a rate that is climbed in some time, if all of it is climbed in so many seconds: rounded up, as small
// rates would never arrive.
func share(rate int64, passed patra.Instant, seconds int64) int64 {
	whole := seconds * int64(patra.Second)
	return max(1, (rate*int64(passed)+whole-1)/whole)
}
