package patra

import (
	"cmp"
	"slices"
	"time"
)

// ThrottleReason is one reason why requests are given out more slowly than a source permits.
type ThrottleReason struct {
	Code      string  `json:"code"`
	PerSecond float64 `json:"per_second,omitempty"` // not more than this; 0 where it changes all the time
	Since     Instant `json:"since,omitzero"`
}

// The reasons.
const (
	SlowRefused = "REFUSED" // the provider refused us, and the rate comes back step by step
	SlowTold    = "TOLD"    // the provider says that it permits less
	SlowSet     = "SET"     // a person lowered it
	SlowWarmup  = "WARMUP"  // after a pause it comes to full speed step by step
)

// ThrottleReasons lists why requests are given out more slowly than the source permits, what slows most first.
func (s RateState) ThrottleReasons(warmup time.Duration, now Instant) []ThrottleReason {
	var all []ThrottleReason
	lower := func(code string, milli int64, since Instant) {
		if milli > 0 && milli < s.Limit {
			all = append(all, ThrottleReason{code, float64(milli) / 1000, since})
		}
	}
	lower(SlowRefused, s.Tempo.Rate, s.Tempo.RefusedAt)
	lower(SlowTold, s.Told, 0)
	lower(SlowSet, s.Set, 0)
	slices.SortStableFunc(all, func(a, b ThrottleReason) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	if s.WarmSince > 0 && now < s.WarmSince.Add(warmup) {
		all = append(all, ThrottleReason{Code: SlowWarmup, Since: s.WarmSince})
	}
	return all
}

// InFlight is how many requests are on their way.
func (s RateState) InFlight(now Instant) (n int) {
	for _, slot := range s.Slots {
		if slot.Until > now {
			n++
		}
	}
	return n
}

// MaxInFlight is how many requests may be on their way where the source permits so many: as many as it and the provider agree
// on; 0 is any number.
func (s RateState) MaxInFlight(permitted int) int {
	if permitted == 0 || s.ToldConcurrency == 0 {
		return max(permitted, s.ToldConcurrency)
	}
	return min(permitted, s.ToldConcurrency)
}

// Leased reports whether somebody else keeps the state for a while.
func (l StateLease) Leased(now Instant) bool { return l.Until > now }
