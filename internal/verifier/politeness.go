package verifier

import (
	"context"
	"math"
	"sort"
	"time"
)

// breath is how long a process may need to learn what another was just told.
const breath = 400 * time.Millisecond

// longestWait is the most that we grant a provider.
const longestWait = time.Hour

func askRate(_ context.Context, s *Scene, v *Invariant) error {
	switch {
	case s.seen == nil:
		return v.skip(noLog)
	case s.Rate <= 0:
		return v.skip("nobody said what is permitted (-rate, -burst)")
	}
	v.Looked = int64(len(s.seen.requests))
	for _, requests := range s.seen.byKey() {
		tooMany(requests, s.Rate, s.Burst, v)
		crowded(requests, s.Rate, s.Forgiven, v)
	}
	return nil
}

// tooMany looks at every stretch of time at once: the requests of one never exceed the burst and the rate's share of it
// exactly if the number of a request less the share up to it never rises by more than the burst above its lowest.
func tooMany(requests []seen, rate float64, burst int, v *Invariant) {
	lowest := 0.0
	for i, e := range requests {
		level := float64(i) - rate*float64(e.received-requests[0].received)/1e6
		lowest = min(lowest, level)
		if level-lowest+1 > float64(burst)+1e-6 {
			v.found("request %s came above the limit of %g a second", e.id, rate)
		}
	}
}

// jitter is how much longer than another one a request may be on its way to the provider.
const jitter = 50 * time.Millisecond

// crowded looks for a half-open second with more requests than the rate. A rate that is no whole number is looked at in
// the time in which the next whole number is permitted. So many in each may be forgiven: those of processes that were
// stopped on their way.
func crowded(requests []seen, rate float64, forgiven int, v *Invariant) {
	permitted := int(math.Ceil(rate - 1e-9))
	stretch := float64(permitted)/rate*1e6 - float64(jitter.Microseconds())
	for i := permitted + forgiven; i < len(requests); i++ {
		if took := requests[i].received - requests[i-permitted-forgiven].received; float64(took) < stretch {
			v.found("request %s is number %d within %s, and %g a second are permitted", requests[i].id, permitted+forgiven+1,
				time.Duration(took)*time.Microsecond, rate)
		}
	}
}

func askRetryAfter(_ context.Context, s *Scene, v *Invariant) error {
	if s.seen == nil {
		return v.skip(noLog)
	}
	for _, requests := range s.seen.byKey() {
		tooEarly(requests, v)
	}
	return nil
}

// tooEarly looks for requests that were granted when it was in the books that the provider wants to be left alone. Whoever
// was killed before took the news along, and whoever had been granted a request before may have slept on the way: neither
// is in the books, and both come late to the provider, not early.
func tooEarly(requests []seen, v *Invariant) {
	for _, said := range requests {
		if said.until == 0 {
			continue
		}
		v.Looked++
		until := min(said.until, said.answered+longestWait.Microseconds())
		if said.finished == 0 {
			continue
		}
		first := sort.Search(len(requests), func(i int) bool { return requests[i].received > said.answered })
		for _, e := range requests[first:] {
			if e.received >= until {
				break
			}
			if e.acquired > max(said.finished, said.answered)+breath.Microseconds() {
				v.found("request %s was granted %s after a %d had asked for %s (%q)", e.id, time.Duration(e.acquired-said.answered)*time.Microsecond,
					said.status, time.Duration(until-said.answered)*time.Microsecond, said.retryAfter)
			}
		}
	}
}
