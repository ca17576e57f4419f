package patra

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// GateChange is what a person did to a key of the gate. The audit log has it.
type GateChange struct {
	ID     int64   `json:"id"` // its number in the log
	Key    string  `json:"key"`
	Action string  `json:"action"`
	Value  string  `json:"value,omitempty"` // the rate or the time that was set
	Reason string  `json:"reason,omitempty"`
	Actor  string  `json:"actor"`
	At     Instant `json:"at"`
}

// What a person can do to a key.
const (
	GateSetRate     = "SET_RATE"
	GateDefaultRate = "DEFAULT_RATE"
	GateCooldown    = "COOLDOWN"
	GateEndCooldown = "END_COOLDOWN"
	GateForget      = "FORGET"
)

// GateUpdate is what a person wants of a key. The zero value wants nothing.
type GateUpdate struct {
	PerSecond   float64 // not 0: nobody goes faster
	Default     bool    // as fast as the source permits
	Cooldown    time.Duration
	EndCooldown bool
	Forget      bool // what was learned from refusals and from what the provider said
}

const (
	// endsSoon is when a cooldown is too short to be ended: those who wait for it hear of that once in a second.
	endsSoon = 5 * Second
	// lastLook is how long after its last look for a cooldown a request may leave, and more than that: who looked before a
	// cooldown was written down does not hear that it has ended already.
	lastLook = 3 * Second / 2
)

// EndsSoon reports whether a cooldown is left to end by itself.
func (s RateState) EndsSoon(now Instant) bool { return s.Cooldown > now && s.Cooldown <= now+endsSoon }

// Apply is the state after a person's turn. A loan is called back, because whoever has it does not see the change, also one
// that is over: it would be prolonged with what was known there. All grants from before the end of a cooldown are void,
// whoever gave them and wherever they lie, and whoever holds one sees that before it sends; so what was given out counts no
// more. Those who look no more have used up everything until they have left.
func (t GateUpdate) Apply(s RateState, now Instant) RateState {
	switch {
	case t.PerSecond > 0:
		s.Set = max(1, int64(t.PerSecond*1000+0.5))
	case t.Default:
		s.Set = 0
	}
	if t.Forget {
		s.Tempo, s.Told, s.ToldConcurrency = AdaptiveRate{}, 0, 0
	}
	if (t.EndCooldown || t.Forget) && s.Cooldown > now && !s.EndsSoon(now) {
		s.Cooldown, s.Ended = now, s.Ended+1
		s.Arrival, s.Early = min(s.Arrival, now+lastLook+s.bucket()), EarlyTurns{}
		s.Loan.Until = min(s.Loan.Until, now+lastLook)
		s.WarmSince = min(s.WarmSince, now)
	}
	if t.Cooldown > 0 {
		s.Cooldown = max(s.Cooldown, now.Add(t.Cooldown))
	}
	if (s.Loan.Name != "" || s.Loan.Leased(now)) && s.Loan.RecalledAt == 0 {
		s.Loan.RecalledAt = now
	}
	return s
}

// bucket is how long it takes until a whole burst is permitted again. That the pace is a little slower than the limit is
// within lastLook, which is longer than any request needs.
func (s RateState) bucket() Instant {
	return Instant(s.Burst) * 1000 * Second / Instant(max(s.Limit, 1))
}

// GateAction is one part of a turn, as the audit log has it.
type GateAction struct {
	Action string `json:"action"`
	Value  string `json:"value,omitempty"`
}

// Actions are the parts of a turn.
func (t GateUpdate) Actions() (all []GateAction) {
	add := func(when bool, action, value string) {
		if when {
			all = append(all, GateAction{action, value})
		}
	}
	add(t.PerSecond > 0, GateSetRate, fmt.Sprintf("%g", t.PerSecond))
	add(t.Default, GateDefaultRate, "")
	add(t.Forget, GateForget, "")
	add(t.EndCooldown, GateEndCooldown, "")
	add(t.Cooldown > 0, GateCooldown, t.Cooldown.String())
	return all
}

// GateChanges is what an entry of the audit log says about a key of the gate, newest first.
func (e AuditEntry) GateChanges() (all []GateChange, err error) {
	var detail struct {
		Changes []GateAction `json:"changes"`
	}
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(detail.Changes) {
		all = append(all, GateChange{ID: e.Seq, Key: e.Target, Action: d.Action, Value: d.Value, Reason: e.Reason, Actor: e.Actor, At: e.At})
	}
	return all, nil
}
