package gate

import (
	"math"
	"time"

	"patra"
)

const (
	// coldShare is the part of the rate with which a warm-up begins.
	coldShare = 0.1
	// longCooldown is a cooldown after which there is a warm-up, however long that is.
	longCooldown = 60 * patra.Second
)

// warmSince is when the warm-up begins or began, for one who asks from some moment on: there was a pause that is longer than
// the warm-up, or a cooldown of a minute or more, or nobody ever asked.
func warmSince(is patra.RateState, warmup time.Duration, from patra.Instant) patra.Instant {
	if from > is.Arrival.Add(warmup) || is.Cooldown >= is.Arrival+longCooldown {
		return from
	}
	return is.WarmSince
}

// Warm is when a cost is paid off that is paid from some moment on, while the rate climbs in a straight line from a tenth
// to all of it.
func Warm(at, since patra.Instant, warmup time.Duration, perSecond float64, cost int) patra.Instant {
	whole, passed, price := warmup.Seconds(), float64(at-since)/float64(patra.Second), float64(cost)
	if passed >= whole {
		return at + patra.Instant(cost)*interval(perSecond)
	}
	slope := (1 - coldShare) * perSecond / whole
	begin := coldShare*perSecond + slope*max(passed, 0)
	takes := 0.0
	if cold := (begin + perSecond) / 2 * (whole - max(passed, 0)); price <= cold {
		takes = (math.Sqrt(begin*begin+2*slope*price) - begin) / slope
	} else {
		takes = whole - max(passed, 0) + (price-cold)/perSecond
	}
	return at + patra.Instant(min(math.Ceil(takes*float64(patra.Second)), float64(maxInterval)))
}

// WarmRate is how fast grants are given at a moment of a warm-up.
func WarmRate(at, since patra.Instant, warmup time.Duration, perSecond float64) float64 {
	if !cold(at, since, warmup) {
		return perSecond
	}
	passed := max(at.Sub(since).Seconds(), 0) / warmup.Seconds()
	return perSecond * (coldShare + (1-coldShare)*passed)
}

// cold reports whether a moment lies within a warm-up.
func cold(at, since patra.Instant, warmup time.Duration) bool {
	return warmup > 0 && at < since.Add(warmup)
}
