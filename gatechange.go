package patra

import (
	"fmt"
	"time"
)

// GateChange is what a person did to a key of the gate. Each is a row that people can find later.
type GateChange struct {
	ID     int64   `json:"id"`
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

// GateTurn is what a person wants of a key. The zero value wants nothing.
type GateTurn struct {
	PerSecond   float64 // not 0: nobody goes faster
	Default     bool    // as fast as the source permits
	Cooldown    time.Duration
	EndCooldown bool
	Forget      bool // what was learned from refusals and from what the provider said
}

// endsSoon is when a cooldown is too short to be ended. Whoever waits for its end looks once in a second whether it was
// ended, and must see that before its turn.
const endsSoon = 5 * Second

// EndsSoon reports whether a cooldown is left to end by itself.
func (s RateState) EndsSoon(now Instant) bool { return s.Cooldown > now && s.Cooldown <= now+endsSoon }

// Apply is the state after a person's turn. A loan is called back, because whoever has it does not see the change. The
// requests of a cooldown that is ended have their moments after it, and take others when they see that; so what was given
// out counts no more.
func (t GateTurn) Apply(s RateState, now Instant) RateState {
	switch {
	case t.PerSecond > 0:
		s.Set = max(1, int64(t.PerSecond*1000+0.5))
	case t.Default:
		s.Set = 0
	}
	if t.Forget {
		s.Tempo, s.Told, s.ToldConcurrency = Tempo{}, 0, 0
	}
	if (t.EndCooldown || t.Forget) && s.Cooldown > now && !s.EndsSoon(now) {
		s.Cooldown, s.Arrival = now, min(s.Arrival, now)
	}
	if t.Cooldown > 0 {
		s.Cooldown = max(s.Cooldown, now.Add(t.Cooldown))
	}
	if s.Loan.Lent(now) && s.Loan.RecalledAt == 0 {
		s.Loan.RecalledAt = now
	}
	return s
}

// Changes are the rows of a turn.
func (t GateTurn) Changes(key, reason, actor string) (all []GateChange) {
	add := func(when bool, action, value string) {
		if when {
			all = append(all, GateChange{Key: key, Action: action, Value: value, Reason: reason, Actor: actor})
		}
	}
	add(t.PerSecond > 0, GateSetRate, fmt.Sprintf("%g", t.PerSecond))
	add(t.Default, GateDefaultRate, "")
	add(t.Forget, GateForget, "")
	add(t.EndCooldown, GateEndCooldown, "")
	add(t.Cooldown > 0, GateCooldown, t.Cooldown.String())
	return all
}
