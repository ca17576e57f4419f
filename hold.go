package patra

import "time"

// Why a task waits. They are stored with it.
const (
	WaitScheduled = "SCHEDULED" // it is due later, after a failure
	WaitPaused    = "PAUSED"
	WaitBreaker   = "BREAKER"
	WaitHalted    = "HALTED"
	WaitPartition = "PARTITION" // as many of its partition run as may
	WaitGate      = "GATE"      // all that the provider permits is given out
	WaitCooldown  = "COOLDOWN"  // the provider asked to be left alone
	WaitQuota     = "QUOTA"     // what the provider permits in an hour, a day or a month is used up
)

// HoldCancelled is why a run must not go on: somebody called its task off.
const HoldCancelled = "CANCELLED"

// WaitConcurrency is why a running task waits for others: as many requests as may be are on their way. No task is stored
// with it.
const WaitConcurrency = "CONCURRENCY"

// Admission is the answer to whoever is about to send a request. The zero value is: go.
type Admission struct {
	Code    string        `json:"code,omitempty"` // empty: go
	Wait    time.Duration `json:"-"`              // how long to wait at least; 0 is until somebody ends it
	Control *Control      `json:"control,omitempty"`

	Probe int64 `json:"-"` // not 0: this request is the one that may try a half-open breaker
	Watch bool  `json:"-"` // the breaker counts failures, so it must hear of a success
	Doubt bool  `json:"-"` // slices that failed are counted, so a slice that succeeds must be reported
	Rise  bool  `json:"-"` // the limit of the partition may be lifted by a step
}

// Allowed reports whether the request may be sent.
func (h Admission) Allowed() bool { return h.Code == "" }

// HalfOpenRest is how long those rest who meet a breaker that somebody else is trying: until then its answer is there.
const HalfOpenRest = 5 * time.Second

// Admit is what the controls of a place say to a request at a moment. A breaker whose time is over says BREAKER with no
// wait: somebody may try, and the caller sees to it that it is only one.
func Admit(controls []Control, now Instant) Admission {
	var hold Admission
	for i := range controls {
		c := &controls[i]
		if c.Kind == KindBreaker && c.State == Closed && c.Failures > 0 {
			hold.Watch = true
		}
		hold.Doubt = hold.Doubt || c.counting()
		if c.Kind == KindLimit && c.State == Limited && c.Until <= now {
			hold.Rise = true
		}
		// Of two quotas that are used up, the one that is so for longer counts.
		if h := c.holds(now); holdRank[h.Code] > holdRank[hold.Code] || h.Code == WaitQuota && hold.Code == WaitQuota && h.Wait > hold.Wait {
			hold.Code, hold.Wait, hold.Control = h.Code, h.Wait, c
		}
	}
	return hold
}

// holdRank: what only a person can end is said before what ends by itself.
var holdRank = map[string]int{"": 0, WaitBreaker: 1, WaitQuota: 2, WaitPaused: 3, WaitHalted: 4, HoldCancelled: 5}

func (c *Control) holds(now Instant) Admission {
	switch {
	case c.Kind == KindPause && c.State == Paused:
		return Admission{Code: WaitPaused}
	case c.Kind == KindHalt && c.State == Halted:
		return Admission{Code: WaitHalted}
	case c.Kind == KindBreaker && c.State == Open:
		return Admission{Code: WaitBreaker, Wait: c.Until.Sub(now)}
	case c.Kind == KindQuota && c.State == UsedUp && c.Until > now:
		return Admission{Code: WaitQuota, Wait: c.Until.Sub(now)}
	case c.Kind == KindBreaker && c.State == HalfOpen:
		return Admission{Code: WaitBreaker, Wait: min(HalfOpenRest, c.Until.Sub(now))}
	}
	return Admission{}
}

// AdmissionControls is what a claim has to know of the controls of places: which partitions get no task, and which get fewer than
// configured.
type AdmissionControls []Control

// Blocked reports whether a partition gets no task now.
func (g AdmissionControls) Blocked(p WorkScope, now Instant) bool {
	h := Admit(g.of(p), now)
	return !h.Allowed() && (h.Code != WaitBreaker || h.Wait > 0)
}

// Hold is what holds a partition back now.
func (g AdmissionControls) Hold(p WorkScope, now Instant) Admission { return Admit(g.of(p), now) }

// Limit is how many tasks of a partition may run: no more than configured, and fewer where a limit is in force. 0 is any
// number.
func (g AdmissionControls) Limit(p WorkScope, configured int64, now Instant) int64 {
	for _, c := range g.of(p) {
		if c.Kind != KindLimit || c.State != Limited {
			continue
		}
		if at := c.Limit().Now(now); at > 0 && (configured <= 0 || at < configured) {
			return at
		}
	}
	return configured
}

func (g AdmissionControls) of(p WorkScope) (all []Control) {
	for _, t := range p.Targets() {
		for _, c := range g {
			if c.Target == t {
				all = append(all, c)
			}
		}
	}
	return all
}
