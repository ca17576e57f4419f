package gatetest

import (
	"fmt"
	"slices"

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
