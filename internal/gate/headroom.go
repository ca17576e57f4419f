package gate

import (
	"math"
	"time"

	"patra"
)

// Headroom is how the limit of a provider is used: a little below its rate, and with a part of its burst in hand. What is
// kept in hand is not lost: it is how late a request may be without coming too close to those after it.
type Headroom struct {
	PerSecond float64
	Burst     int
	Slack     time.Duration // how much later than its grant a request may reach the provider
}

const (
	// A clock may be adjusted while we run, by less than this. It is the price of keeping to the limit for ever.
	headroom = 0.99
	// cushion is how much lateness is worth a part of the burst: a slow commit, a busy processor, a new connection.
	cushion = 0.25 // seconds
	// Where no burst is permitted, only a lower rate makes room for lateness: this share of the interval, or this time
	// if that is too little for any timer, but not more than the second share.
	loneShare, loneLeast, loneMost = 0.03, 10_000.0, 0.2
)

// PaceOf is the pace for a limit. If grants keep to it and no request comes more than Slack after its grant, then in any
// stretch of time T requests that cost at most burst + perSecond*T come: if those after the first cost one more than the
// burst leaves, the first and the last are granted (burst+1-Burst) intervals apart, and lateness takes no more of that than
// leaves a whole one of the provider's. What the heaviest request costs must fit into the burst that is left.
func PaceOf(l patra.RateLimit) Headroom {
	heaviest := max(l.Heaviest, 1)
	every := float64(patra.Second) / l.PerSecond
	p := Headroom{PerSecond: l.PerSecond * headroom, Burst: l.Burst}
	kept := 0
	if l.Burst > heaviest {
		kept = min(l.Burst-heaviest, max(1, int(math.Ceil(min(l.PerSecond, 1e6)*cushion))))
		p.Burst -= kept
	} else {
		p.PerSecond = float64(patra.Second) / (every + max(every*loneShare, min(loneLeast, every*loneMost)))
	}
	slack := patra.Instant(kept+1)*interval(p.PerSecond) - interval(l.PerSecond)
	p.Slack = time.Duration(min(slack, maxInterval)) * time.Microsecond
	return p
}

// mostPatience bounds how old a look at the cooldown may be when a request leaves.
const mostPatience = time.Second

// Patience is how much later than its moment a grant may be used. The rest of the slack is for the way to the provider
// and for reading the clock.
func (p Headroom) Patience() time.Duration { return min(p.Slack/2, mostPatience) }
