package patra

import (
	"math/bits"
	"time"
)

// BreakerRule is when an endpoint is left alone, and for how long.
type BreakerRule struct {
	Failures int64         // in a row, of everybody who asks there; 0: more failed lately than chance brings
	Shortest time.Duration // the first time; a length between the two is drawn, so that processes do not come back together
	Longest  time.Duration
}

const (
	// BreakerCap is the longest that an endpoint is left alone, however often it failed.
	BreakerCap = 15 * time.Minute
	// ProbeTime is how long the one that tries may take. After that it counts as lost, and another may try.
	ProbeTime = 3 * time.Minute

	// breakerRecent is how many of the last requests are looked at, and breakerShare how many hundredths of them may fail.
	breakerRecent, breakerShare = 20, 80
	// breakerSilent failures in a row in breakerSilence or longer are enough where requests are few: of one in five that
	// fails by chance, so many come in a row once in 400,000 requests.
	breakerSilent, breakerSilence = 8, 10 * time.Second
	// breakerUnreached is how many connections in a row must be refused: no server listens there.
	breakerUnreached = 3
	// breakerMemory is for how long a failure counts.
	breakerMemory = 10 * time.Minute
)

// EndpointFailure is a request that failed, as the breaker of its endpoint sees it.
type EndpointFailure struct {
	Probe     int64   // the version of the breaker under which the request was allowed to try, or 0
	Answered  int64   // requests that were answered since the same process last told of a failure
	Unreached bool    // the host refused the connection, or its name has no address
	Dice      float64 // between 0 and 1: draws how long an open breaker waits
}

// RecentRequests are the last requests of an endpoint as far as its breaker knows them: a bit for each, the latest one lowest.
type RecentRequests struct {
	Failed    uint32  `json:"failed,omitempty"`
	Seen      int     `json:"seen,omitempty"`
	Since     Instant `json:"since,omitempty"`     // the first of the failures in a row
	At        Instant `json:"at,omitempty"`        // the last failure
	Unreached int64   `json:"unreached,omitempty"` // connections that were refused, in a row
}

// Failures is how many of them failed.
func (r RecentRequests) Failures() int { return bits.OnesCount32(r.Failed) }

// Unreachable reports whether no server answered: connections were refused, or the host name has no address.
func (r RecentRequests) Unreachable() bool { return r.Unreached >= breakerUnreached }

// add is what is known after one more failure, and the answers before it.
func (r RecentRequests) add(now Instant, f EndpointFailure, first bool) RecentRequests {
	if now > r.At.Add(breakerMemory) {
		r = RecentRequests{}
	}
	if first || f.Answered > 0 || r.Since == 0 {
		r.Since, r.Unreached = now, 0
	}
	answered := int(min(f.Answered, breakerRecent))
	r.Failed = (r.Failed<<answered<<1 | 1) & (1<<breakerRecent - 1)
	r.Seen, r.At = min(r.Seen+answered+1, breakerRecent), now
	if r.Unreached++; !f.Unreached {
		r.Unreached = 0
	}
	return r
}

// tooMany reports whether more failed than chance brings, the last so many in a row.
func (r RecentRequests) tooMany(now Instant, inARow int64) bool {
	return r.Unreachable() || r.Seen == breakerRecent && r.Failures()*100 > breakerShare*breakerRecent ||
		inARow >= breakerSilent && now >= r.Since.Add(breakerSilence)
}

// Breaker keeps everybody from asking an endpoint that does not answer. It is a shared row, so one process that has
// learnt it spares all others the lesson.
type Breaker struct {
	State    Status
	Failures int64        // in a row
	Trips    int64        // how often it opened since it was closed
	Until    Instant      // OPEN: nobody asks before it. HALF_OPEN: whoever tries is given up for lost
	Version  int64        // names the one that may try
	Prober   BreakerProbe // HALF_OPEN: the run that tries
	Recent   RecentRequests
}

// BreakerProbe is the run of a task that tries a breaker. The next run of the same task has a higher fence.
type BreakerProbe struct {
	Task  int64 `json:"task"`
	Fence int64 `json:"fence"`
}

// heir reports whether p has taken over the task of one that tried: that one has lost its lease, and whatever became of its
// request, nobody will hear of it.
func (p BreakerProbe) heir(of BreakerProbe) bool {
	return p.Task != 0 && p.Task == of.Task && p.Fence > of.Fence
}

// Counts reports whether a failure says something about the endpoint. That we are too fast, or ask for something that is
// not there, or do not understand what it says, or do not believe that it is who it says, does not: it answers.
func (f *Fault) Counts() bool {
	if f.IsStrange() {
		return false
	}
	switch f.Code {
	case CodeRateLimited, CodeTokenExpired, CodeInternal, CodeDisputed, CodeWebPage, CodeUnreadable, CodeSchema, CodeCertificate:
		return false
	}
	return f.Level == LevelRetry
}

// RecordFailure is the breaker after a failed request. Requests that were on their way when the breaker opened are not heard any
// more.
func (b Breaker) RecordFailure(r BreakerRule, now Instant, f EndpointFailure) Breaker {
	switch {
	case b.State == Closed:
		b.Recent = b.Recent.add(now, f, b.Failures == 0)
		if b.Failures++; f.Answered > 0 && r.Failures == 0 {
			b.Failures = 1
		}
		if r.Failures > 0 && b.Failures < r.Failures || r.Failures == 0 && !b.Recent.tooMany(now, b.Failures) {
			return b
		}
	case b.State != HalfOpen || f.Probe != b.Version:
		return b
	default:
		b.Failures++
	}
	b.State, b.Prober = Open, BreakerProbe{}
	b.Trips++
	b.Until = now.Add(r.cooldown(b.Trips, f.Dice))
	return b
}

// RecordSuccess is the breaker after a request that was answered, in whatever way. One that was closed knows how many failed before.
func (b Breaker) RecordSuccess(probe int64) Breaker {
	switch {
	case b.State == Closed:
		b.Recent.Since, b.Recent.Unreached = 0, 0
		return Breaker{State: Closed, Version: b.Version, Recent: b.Recent}
	case b.State == HalfOpen && probe == b.Version:
		return Breaker{State: Closed, Version: b.Version}
	}
	return b
}

// StartProbe is the breaker when a run wants to ask: one may, when its time is over, and one more when that one is lost.
func (b Breaker) StartProbe(now Instant, by BreakerProbe) (Breaker, bool) {
	if b.State == Closed || !b.MayProbe(now, by) {
		return b, b.State == Closed
	}
	b.State, b.Until, b.Prober = HalfOpen, now.Add(ProbeTime), by
	return b, true
}

// MayProbe reports whether a run may try a breaker that is not closed.
func (b Breaker) MayProbe(now Instant, by BreakerProbe) bool {
	return b.Until <= now || b.State == HalfOpen && by.heir(b.Prober)
}

// AbandonProbe is the breaker when the one that was to try has not asked, or nobody heard what came of it: the next may try at
// once.
func (b Breaker) AbandonProbe(now Instant, probe int64) Breaker {
	if b.State == HalfOpen && probe == b.Version {
		b.State, b.Until, b.Prober = Open, now, BreakerProbe{}
	}
	return b
}

// WillBackOffLonger reports whether a try that fails now would make the breaker wait longer than before. As long as it does, the
// task that tried is not to blame; after that nobody can tell an endpoint that is gone from a task that cannot succeed.
func (b Breaker) WillBackOffLonger(r BreakerRule) bool {
	return b.Trips < 32 && r.Shortest <= (BreakerCap-1)>>b.Trips // shifting the other way, a long wait would become a short one
}

func (r BreakerRule) cooldown(trips int64, dice float64) time.Duration {
	wait := r.Shortest + time.Duration(dice*float64(r.Longest-r.Shortest))
	for range min(trips-1, 32) {
		if wait *= 2; wait >= BreakerCap {
			break
		}
	}
	return min(wait, max(BreakerCap, r.Longest))
}

// Breaker is the row as the rules see it.
func (c Control) Breaker() Breaker {
	return Breaker{State: c.State, Failures: c.Failures, Trips: c.Detail.Trips, Until: c.Until, Version: c.Version, Prober: c.Detail.Prober, Recent: c.Detail.Recent}
}
