package gatetest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"patra"
)

// Judge looks at every pair of requests by brute force: between them, both included, there may be no more than the burst
// and the rate's share of the time.
func Judge(sent []patra.Instant, perSecond float64, burst int) error {
	sent = slices.Sorted(slices.Values(sent))
	for i, first := range sent {
		for j := i + burst; j < len(sent); j++ {
			n, took := j-i+1, float64(sent[j]-first)/float64(patra.Second)
			if most := float64(burst) + perSecond*took; float64(n) > most+1e-6 {
				return fmt.Errorf("%d requests within %.6f s at %v a second and a burst of %d, which allows %.3f", n, took, perSecond, burst, most)
			}
		}
	}
	return nil
}

// JudgeSeconds looks at every half-open second [t, t+1): it may have no more requests than perSecond. Where that is not
// a whole number, the time in which the next whole number is permitted counts in place of the second: 12.5 seconds for
// one at 0.08, 1.2 for three at 2.5. grace is how much closer requests may come at a provider than they were sent.
func JudgeSeconds(sent []patra.Instant, perSecond float64, grace time.Duration) error {
	sent = slices.Sorted(slices.Values(sent))
	most := int(math.Ceil(perSecond - 1e-9))
	span := patra.Instant(math.Ceil(float64(most)/perSecond*float64(patra.Second)-1e-3)) - patra.Instant(grace/time.Microsecond)
	for j := most; j < len(sent); j++ {
		if took := sent[j] - sent[j-most]; took < span {
			return fmt.Errorf("%d requests within %d us at %v a second, which allows %d in less than %d us",
				most+1, took, perSecond, most, span)
		}
	}
	return nil
}
