package gate

import (
	"time"

	"patra"
)

// Headroom is how the limit of a provider is used: a little below its rate. What is kept in hand is not lost: it is how
// late a request may be without coming too close to those after it.
type Headroom struct {
	PerSecond float64
	Burst     int
	Slack     time.Duration // how much later than its turn a request may reach the provider
}

const (
	// windowShare is the part of a second that is kept in hand, most of it for requests that are late.
	windowShare = 0.02
	// Where no burst is permitted, every single interval needs room for lateness: this share of it, or this time if that
	// is too little for any timer, but not more than the second share.
	loneShare, loneLeast, loneMost = 0.03, 10_000.0, 0.2
)

// PaceOf is the pace for a limit. If turns keep to it and no request comes more than Slack after its turn, then
//
//   - in any half-open second perSecond requests come, at most: n+1 of them are n intervals apart, which is a second and
//     the slack;
//   - in any stretch of time T requests that cost at most burst + perSecond*T come: a burst is taken early from the turns
//     that follow it, and lateness takes no more than the burst leaves beside the heaviest request.
//
// What a request costs beyond one is paid after it, so requests of different costs have no bursts.
func PaceOf(l patra.RateLimit) Headroom {
	heaviest := max(l.Heaviest, 1)
	n, length := l.Window()
	every, window := float64(patra.Second)/l.PerSecond, patra.Instant((length+time.Microsecond-1)/time.Microsecond)
	p := Headroom{Burst: 1}
	if l.Burst > heaviest {
		p.PerSecond = l.PerSecond / (1 + windowShare)
		if heaviest == 1 {
			p.Burst = min(l.Burst, n)
		}
	} else {
		p.PerSecond = float64(patra.Second) / (every + max(every*loneShare, min(loneLeast, every*loneMost)))
	}
	pace := interval(p.PerSecond)
	slack := min(patra.Instant(n)*pace-window, patra.Instant(l.Burst-heaviest+1)*pace-interval(l.PerSecond))
	p.Slack = time.Duration(min(slack, maxInterval)) * time.Microsecond
	return p
}

// mostPatience bounds how old a look at the cooldown may be when a request leaves.
const mostPatience = time.Second

// Patience is how much later than its moment a grant may be used. The rest of the slack is for reading the clock, and for
// clocks that are adjusted.
func (p Headroom) Patience() time.Duration { return min(p.Slack*3/4, mostPatience) }
