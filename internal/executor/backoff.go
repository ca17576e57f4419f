package executor

import (
	"math"
	"math/rand/v2"
	"time"

	"patra/internal/source"
)

// backoff is how long to wait after the n-th failure: exponential, capped, with jitter so that workers that failed
// together do not come back together.
func backoff(b source.Backoff, n int) time.Duration {
	wait := float64(b.Initial) * math.Pow(b.Factor, float64(n-1))
	wait = min(wait, float64(b.Max))
	return time.Duration(wait * (1 + b.Jitter*(2*rand.Float64()-1)))
}
