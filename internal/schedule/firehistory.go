package schedule

import (
	"cmp"
	"slices"

	"patra"
)

// maxSpans is how many separate stretches of fires are remembered exactly.
const maxSpans = 1000

// fireHistory is what a process knows about the fires of one job.
type fireHistory struct {
	mark  patra.Instant // fires up to here are done or made good
	fired []firedRange  // in order, without touching
}

// firedRange is a stretch of time in which every fire was done. A job that is on time has one, however long it runs.
type firedRange struct{ first, last patra.Instant }

// remember begins with the last fire that the store knows of. Without one nothing was missed, and the job waits.
func remember(start patra.Instant, last *patra.Instant) *fireHistory {
	if last == nil {
		return &fireHistory{mark: start}
	}
	return &fireHistory{mark: *last, fired: []firedRange{{*last, *last}}}
}

// due is the step: the fire that is to be done now, if there is one. However many were missed, it is the newest alone.
//
// When the clock goes back, what comes is due as usual, except what was done already. Waiting until the clock is at the
// mark again would be simpler, but a clock that was once a year ahead would silence the job for that year.
func (p *fireHistory) due(now patra.Instant, c Cron) (patra.Instant, bool) {
	p.mark = min(p.mark, now)
	at, ok := c.Last(now)
	if !ok || at <= p.mark {
		return 0, false
	}
	p.mark = at
	return at, p.note(at, c)
}

// note remembers a fire; false says that it was done before.
func (p *fireHistory) note(at patra.Instant, c Cron) bool {
	i, done := slices.BinarySearchFunc(p.fired, at, func(s firedRange, at patra.Instant) int {
		if s.first <= at && at <= s.last {
			return 0
		}
		return cmp.Compare(s.first, at)
	})
	switch {
	case done:
		return false
	case i > 0 && c.Next(p.fired[i-1].last) == at:
		p.fired[i-1].last = at
	default:
		p.fired = slices.Insert(p.fired, i, firedRange{at, at})
	}
	if len(p.fired) > maxSpans {
		// The gap between the two oldest is forgotten, and no fire: a gap so long ago is never asked about.
		p.fired[1].first = p.fired[0].first
		p.fired = slices.Delete(p.fired, 0, 1)
	}
	return true
}
