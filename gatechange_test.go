package patra

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestWhatAPersonDoesToAKey(t *testing.T) {
	const now = Instant(1 << 50)
	slow := RateState{Limit: 3000, Burst: 3, Arrival: now + 120*Second, Cooldown: now + 100*Second, Tempo: AdaptiveRate{Rate: 500, RefusedAt: now - 5}, RateDetails: RateDetails{Set: 1000, Told: 2000, ToldConcurrency: 1}}
	for _, c := range []struct {
		name string
		turn GateUpdate
		was  RateState
		want func(*RateState)
	}{
		{"a rate", GateUpdate{PerSecond: 1.5}, RateState{Limit: 3000}, func(s *RateState) { s.Set = 1500 }},
		{"a very low rate", GateUpdate{PerSecond: 0.0001}, RateState{}, func(s *RateState) { s.Set = 1 }},
		{"the default", GateUpdate{Default: true}, slow, func(s *RateState) { s.Set = 0 }},
		{"a cooldown", GateUpdate{Cooldown: time.Minute}, RateState{}, func(s *RateState) { s.Cooldown = now + 60*Second }},
		{"a shorter cooldown than there is", GateUpdate{Cooldown: time.Minute}, slow, func(*RateState) {}},
		{"the end of a cooldown", GateUpdate{EndCooldown: true}, slow, func(s *RateState) { s.Cooldown, s.Arrival, s.Ended = now, now+5*Second/2, 1 }},
		{"the end of one behind which there is a warm-up", GateUpdate{EndCooldown: true}, RateState{Cooldown: now + 100*Second, RateDetails: RateDetails{WarmSince: now + 100*Second}}, func(s *RateState) {
			s.Cooldown, s.WarmSince, s.Ended = now, now, 1
		}},
		{"the end of one behind which it is lent", GateUpdate{EndCooldown: true}, RateState{Cooldown: now + 100*Second, RateDetails: RateDetails{Loan: StateLease{Name: "n", Until: now + 104*Second}}}, func(s *RateState) {
			s.Cooldown, s.Ended, s.Loan.Until, s.Loan.RecalledAt = now, 1, now+3*Second/2, now
		}},
		{"the end of none", GateUpdate{EndCooldown: true}, RateState{Cooldown: now - 5, Arrival: now + 60*Second}, func(*RateState) {}},
		{"the end of one that ends by itself", GateUpdate{EndCooldown: true}, RateState{Cooldown: now + 5*Second, Arrival: now + 6*Second}, func(*RateState) {}},
		{"forgetting", GateUpdate{Forget: true}, slow, func(s *RateState) {
			s.Tempo, s.Told, s.ToldConcurrency, s.Cooldown, s.Arrival, s.Ended = AdaptiveRate{}, 0, 0, now, now+5*Second/2, 1
		}},
		{"what is lent", GateUpdate{PerSecond: 1}, RateState{RateDetails: RateDetails{Loan: StateLease{Until: now + 5}}}, func(s *RateState) { s.Set, s.Loan.RecalledAt = 1000, now }},
		{"what was lent and may be prolonged", GateUpdate{PerSecond: 1}, RateState{RateDetails: RateDetails{Loan: StateLease{Name: "n", Until: now - 5}}}, func(s *RateState) { s.Set, s.Loan.RecalledAt = 1000, now }},
	} {
		want := c.was
		c.want(&want)
		if is := c.turn.Apply(c.was, now); !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %+v, want %+v", c.name, is, want)
		}
	}
	detail, _ := json.Marshal(map[string]any{"changes": GateUpdate{PerSecond: 1, EndCooldown: true}.Actions()})
	rows, err := AuditEntry{Seq: 3, At: 5, Target: "k", Reason: "why", Actor: "who", Detail: detail}.GateChanges()
	if err != nil || len(rows) != 2 || rows[1] != (GateChange{ID: 3, At: 5, Key: "k", Action: GateSetRate, Value: "1", Reason: "why", Actor: "who"}) || rows[0].Action != GateEndCooldown {
		t.Errorf("%+v", rows)
	}
}

func TestWhyARateIsLower(t *testing.T) {
	const now = Instant(1 << 50)
	s := RateState{Limit: 3000, Tempo: AdaptiveRate{Rate: 1500, RefusedAt: now - 7}, RateDetails: RateDetails{Set: 1000, Told: 5000, WarmSince: now - 5*Second, Slots: []Slot{{Until: now}, {Until: now + 1}}, ToldConcurrency: 2}}
	want := []ThrottleReason{{SlowSet, 1, 0}, {SlowRefused, 1.5, now - 7}, {Code: SlowWarmup, Since: now - 5*Second}}
	if got := s.ThrottleReasons(10*time.Second, now); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := s.ThrottleReasons(5*time.Second, now); len(got) != 2 {
		t.Errorf("warm already: %+v", got)
	}
	if got := (RateState{Limit: 3000}).ThrottleReasons(time.Minute, now); len(got) != 0 {
		t.Errorf("nothing slows it: %+v", got)
	}
	if s.InFlight(now) != 1 || s.MaxInFlight(0) != 2 || s.MaxInFlight(1) != 1 || s.MaxInFlight(3) != 2 || (RateState{}).MaxInFlight(3) != 3 || (RateState{}).MaxInFlight(0) != 0 {
		t.Error("requests on their way are counted wrongly")
	}
}
