package gate

import (
	"time"

	"patra"
)

// Feedback is what an answer says about how fast we are.
type Feedback int

// The signs that there are.
const (
	Answered    Feedback = iota // not too fast
	Refused                     // too fast
	Unavailable                 // the provider has other troubles, and says when to come back
	Failed                      // it has other troubles
)

const (
	// leastRate is the slowest that a refusal makes us, in thousandths of a request a second.
	leastRate = 100
	// oneRefusal: refusals within this time are one sign, and so are all of requests that left before the first one came
	// back. Many may be on their way when a provider has had enough.
	oneRefusal = time.Second
	// mostClimb is the time that one answer may count for, or one and a half intervals if that is longer: a pause proves
	// nothing.
	mostClimb = 500 * time.Millisecond

	// The seconds in which a whole ceiling would be climbed: up to half of it, which is where we are when a provider was
	// down; from there to the knee, where we know our way; and beyond it, where we feel for the next refusal.
	afterOutage, toTheKnee, feeling = 40, 5, 600
	// surely is the rate, in thousandths, from which feeling is as fast as that. A slower one gets fewer answers in the
	// same time, and a refusal is to be rare among answers; but it never takes more than mostCare times as long.
	surely, mostCare = 5000, 4
	// stride is the part of the ceiling, in hundredths, by which it must be left behind for feeling to be twice as fast,
	// three times at two strides, and so on: the refusal has not come, so the provider has changed.
	stride = 1
	// leap is how far from the ceiling, in hundredths of it, we are so fast that a refusal comes late.
	leap = 110
)

// Adapt is the tempo after an answer, where limit is the permitted rate in thousandths, and sent is when the request left.
//
// A refusal halves the rate, and the ceiling is where that happened. Answers bring it back: in seconds to the knee, nine
// tenths of the ceiling, as plain halving would waste a quarter of what a provider gives. From there to the ceiling it takes
// a minute, and three hundred answers as far as there is time, so that refusals are few; and beyond it we are faster and
// faster, to find a capacity that has grown. A provider that is down halves the rate too, but that says nothing about its
// capacity: the ceiling stays where it was. The same holds for refusals without an answer between them: whoever counts by
// the minute refuses everything for the rest of it.
//
// Failures here and there are bad luck, and no reason to be slower. What a lower rate does not help against is no limit either.
func Adapt(t patra.AdaptiveRate, limit int64, s Feedback, sent, now patra.Instant) patra.AdaptiveRate {
	limit = max(limit, 1)
	rate := limit
	if t.Rate > 0 {
		rate = min(t.Rate, limit)
	}
	if s == Failed && now < t.Trial.Limit {
		s = Refused
	}
	if !before(t, sent, now) {
		t.Trial = noted(t.Trial, s, now)
	}
	if s != Answered {
		return lowered(t, rate, limit, s, sent, now)
	}
	if rate == limit {
		return patra.AdaptiveRate{RefusedAt: t.RefusedAt, Trial: t.Trial}
	}
	if before(t, sent, now) || waits(t.Trial) {
		return t
	}
	step := climb(rate, limit, t.Ceiling, max(now-t.AdaptedAt, 0))
	if step == 0 { // the time counts for the next answer
		return t
	}
	if rate += step; rate >= limit {
		return patra.AdaptiveRate{RefusedAt: t.RefusedAt, Trial: t.Trial}
	}
	t.Rate, t.AdaptedAt = rate, now
	return t
}

// lowered is the tempo after a refusal or a failure.
func lowered(t patra.AdaptiveRate, rate, limit int64, s Feedback, sent, now patra.Instant) patra.AdaptiveRate {
	if before(t, sent, now) || t.RefusedAt != 0 && now >= t.RefusedAt && now < t.RefusedAt.Add(oneRefusal) {
		return t
	}
	if t.AdaptedAt > t.RefusedAt && !waits(t.Trial) { // it follows a raise: what was seen was not seen at one rate
		t.Trial.Halved, t.Trial.Before, t.Trial.Seen = min(t.Trial.Halved, atOnce-1), 0, 0
	}
	is := patra.AdaptiveRate{Rate: max(rate/2, min(leastRate, limit)), Ceiling: t.Ceiling, AdaptedAt: now, RefusedAt: now, Trial: t.Trial}
	switch judge(t.Trial, s) {
	case hold:
		return t
	case random:
		t.Ceiling, t.AdaptedAt, t.Trial = 0, now, chanceTrial(t.Trial, now)
		return t
	case outage:
		if s == Unavailable {
			is.Trial.Asked++
		}
	case halve:
		is.Trial = halvedTrial(t.Trial, s, now)
		if s == Refused && (t.Ceiling == 0 || t.AdaptedAt > t.RefusedAt) {
			is.Ceiling = ceilingAt(rate, t.Ceiling)
		}
	}
	return is
}

// before reports whether a request left before the last refusal came back: it says nothing about the rate since.
func before(t patra.AdaptiveRate, sent, now patra.Instant) bool {
	return t.RefusedAt != 0 && now >= t.RefusedAt && sent <= t.RefusedAt // a clock that was set back is not waited for
}

// ceilingAt is the ceiling after a refusal. If it came when we had left the old one far behind, the truth is somewhere
// between: half-way is a good guess.
func ceilingAt(rate, was int64) int64 {
	if was > 0 && rate > was*leap/100 {
		return (was + rate) / 2
	}
	return rate
}

// climb is by how much an answer raises a rate, some time after the last step.
func climb(rate, limit, ceiling int64, passed patra.Instant) int64 {
	top := min(ceiling, limit)
	knee := top * 9 / 10
	if ceiling == 0 { // we were never too fast
		top, knee = limit, limit
	}
	counts := min(passed, max(patra.Instant(mostClimb/time.Microsecond), patra.Second*1500/patra.Instant(rate)))
	switch {
	case rate < top/2: // at most twice as fast as before, as one answer after an outage is not yet the end of it
		return max(1, min(share(top, counts, afterOutage), rate, top/2-rate))
	case rate < knee:
		return max(1, min(share(top, counts, toTheKnee), knee-rate))
	}
	seconds := feeling * min(max(surely*100/rate, 100), mostCare*100) / 100
	// Below a tenth of the limit something else than the rate is likely to be the reason: a provider that refuses at random
	// would bring us to the least rate otherwise.
	eager := top + max(limit-10*top, 0) + max(rate-top, 0)*100/stride
	// A step so small that it needs more time than one answer counts for does no harm.
	return min(share(eager, passed, seconds), max(1, share(eager, counts, seconds)))
}

// share is the part of a rate that is climbed in some time, if all of it is climbed in so many seconds.
func share(rate int64, passed patra.Instant, seconds int64) int64 {
	return int64(float64(rate) * float64(passed) / float64(seconds*int64(patra.Second)))
}
