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

// withJitter is a wait that a provider asked for, with 5 to 15 % more of it and at most ten seconds, so that others who were
// told the same do not come back with us at the same instant. dice is between 0 and 1.
func withJitter(wait time.Duration, dice float64) time.Duration {
	const most = 10 * time.Second
	return wait + min(time.Duration(float64(wait)*(0.05+0.1*dice)), most)
}
