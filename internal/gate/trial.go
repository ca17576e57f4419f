package gate

import (
	"math/bits"
	"time"

	"patra"
)

const (
	// trialWindow is how many of the last requests at a rate are remembered, and trialLeast from how many on a share of them
	// says something.
	trialWindow, trialLeast = 50, 20
	// gone is the share, in hundredths, from which a provider is down. nearlyAll of a few: it bears far less.
	gone, nearlyAll, allOf = 90, 80, 5
	// manyFail is the share of failures, in hundredths, from which it is tried whether a lower rate helps. Fewer are chance:
	// one in five brings as many as that among fifty requests less than once in 500,000 times.
	manyFail = 50
	// atOnce is how often a refusal halves the rate without looking at what that helped.
	atOnce = 2
	// stillMany is the share, in hundredths, with which a rate that was halved is not raised.
	stillMany = 10
	// quiet is how many requests without a refusal end a trial.
	quiet = 10
	// Chance is believed for chanceFor, unless chanceMargin hundredths more go wrong; that failures are refusals, for
	// faultsFor.
	chanceFor, chanceMargin, faultsFor = 10 * time.Minute, 25, 10 * time.Minute
)

// verdict is what a refusal or a failure means.
type verdict int

const (
	hold   verdict = iota // nothing yet, or nothing at all
	halve                 // we are too fast
	outage                // the provider is down: being slower is kind, and says nothing about what it bears
	random                // a lower rate did not help
)

// noted is a trial with one more request at the present rate.
func noted(t patra.RateTrial, s Feedback, now patra.Instant) patra.RateTrial {
	if t.Chance > 0 && now >= t.Until {
		t.Chance, t.Until = 0, 0
	}
	if now >= t.Limit {
		t.Limit = 0
	}
	const mask = 1<<trialWindow - 1
	t.Refused, t.Failed, t.Seen = t.Refused<<1&mask, t.Failed<<1&mask, min(t.Seen+1, trialWindow)
	switch s {
	case Refused:
		t.Refused |= 1
	case Failed, Unavailable:
		t.Failed |= 1
	}
	if t.Seen >= quiet && hundredths(t.Refused|t.Failed, quiet) == 0 {
		t.Asked = 0
	}
	if t.Halved > 0 && t.Seen >= quiet && against(t) == 0 {
		if t.Faults {
			t.Limit = now.Add(faultsFor)
		}
		t.Halved, t.Before, t.Faults = 0, 0, false
	}
	return t
}

// against is which of the last requests speak for a limit.
func against(t patra.RateTrial) uint64 {
	if t.Faults {
		return t.Refused | t.Failed
	}
	return t.Refused
}

// hundredths is the share of the last n requests of a mask.
func hundredths(mask uint64, n int) int {
	if n == 0 {
		return 0
	}
	return 100 * bits.OnesCount64(mask&(1<<n-1)) / n
}

// helped reports whether a lower rate made a difference: half as many go wrong, or a third more go well.
func helped(before, after int) bool { return 2*after <= before || 3*(100-after) >= 4*(100-before) }

// judge says what one more refusal or failure means, after the requests before it.
func judge(t patra.RateTrial, s Feedback) verdict {
	all := t.Refused | t.Failed
	switch {
	case s == Unavailable && (t.Asked < atOnce || t.Seen >= allOf && hundredths(all, min(t.Seen, trialLeast)) >= gone):
		return outage
	case s == Failed && t.Seen >= trialLeast && hundredths(all, trialLeast) >= gone:
		return outage
	case s == Unavailable, s == Failed && !t.Faults && (t.Seen < trialWindow || hundredths(all, t.Seen) < manyFail):
		return hold
	}
	wrong := against(t)
	if s == Failed {
		wrong |= t.Failed
	}
	part := hundredths(wrong, t.Seen)
	switch {
	case t.Chance > 0 && (t.Seen < trialLeast || part <= t.Chance+chanceMargin):
		return hold
	case t.Chance > 0, t.Halved == 0, s != Failed && t.Halved < atOnce, t.Seen >= allOf && part >= nearlyAll:
		return halve
	case t.Seen < trialLeast:
		return hold
	case t.Halved >= atOnce && t.Before > 0 && !helped(t.Before, part):
		return random
	}
	return halve
}

// halvedTrial is the trial of a rate that was halved: what comes now is compared with what was before.
func halvedTrial(t patra.RateTrial, s Feedback, now patra.Instant) patra.RateTrial {
	next := patra.RateTrial{Halved: t.Halved + 1, Faults: t.Faults || s == Failed, Limit: t.Limit}
	wrong := against(t)
	if next.Faults {
		wrong |= t.Failed
	}
	if t.Seen >= trialLeast {
		next.Before = max(hundredths(wrong, t.Seen), 1)
		if t.Faults && t.Before > 0 && helped(t.Before, next.Before) {
			next.Limit = now.Add(faultsFor)
		}
	}
	return next
}

// chanceTrial is the trial of a provider of whose refusals so many come however slow we are.
func chanceTrial(t patra.RateTrial, now patra.Instant) patra.RateTrial {
	return patra.RateTrial{Chance: max(hundredths(against(t), t.Seen), 1), Until: now.Add(chanceFor)}
}

// waits reports whether a rate that was halved is not raised yet: first it must be seen whether that helped. One refusal alone is
// no reason to wait.
func waits(t patra.RateTrial) bool {
	if t.Halved == 0 || t.Halved < atOnce && !t.Faults {
		return false
	}
	return t.Seen < trialLeast || hundredths(against(t), t.Seen) >= stillMany
}
