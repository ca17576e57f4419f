package patra

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestWhatAPersonDoesToAKey(t *testing.T) {
	const now = Instant(1 << 50)
	slow := RateState{Limit: 3000, Burst: 3, Arrival: now + 120*Second, Cooldown: now + 100*Second, Tempo: Tempo{Rate: 500, RefusedAt: now - 5}, RateNotes: RateNotes{Set: 1000, Told: 2000, ToldConcurrency: 1}}
	for _, c := range []struct {
		name string
		turn GateTurn
		was  RateState
		want func(*RateState)
	}{
		{"a rate", GateTurn{PerSecond: 1.5}, RateState{Limit: 3000}, func(s *RateState) { s.Set = 1500 }},
		{"a very low rate", GateTurn{PerSecond: 0.0001}, RateState{}, func(s *RateState) { s.Set = 1 }},
		{"the default", GateTurn{Default: true}, slow, func(s *RateState) { s.Set = 0 }},
		{"a cooldown", GateTurn{Cooldown: time.Minute}, RateState{}, func(s *RateState) { s.Cooldown = now + 60*Second }},
		{"a shorter cooldown than there is", GateTurn{Cooldown: time.Minute}, slow, func(*RateState) {}},
		{"the end of a cooldown", GateTurn{EndCooldown: true}, slow, func(s *RateState) { s.Cooldown, s.Arrival, s.Ended = now, now+5*Second/2, 1 }},
		{"the end of one behind which there is a warm-up", GateTurn{EndCooldown: true}, RateState{Cooldown: now + 100*Second, RateNotes: RateNotes{WarmSince: now + 100*Second}}, func(s *RateState) {
			s.Cooldown, s.WarmSince, s.Ended = now, now, 1
		}},
		{"the end of one behind which it is lent", GateTurn{EndCooldown: true}, RateState{Cooldown: now + 100*Second, RateNotes: RateNotes{Loan: Loan{Name: "n", Until: now + 104*Second}}}, func(s *RateState) {
			s.Cooldown, s.Ended, s.Loan.Until, s.Loan.RecalledAt = now, 1, now+3*Second/2, now
		}},
		{"the end of none", GateTurn{EndCooldown: true}, RateState{Cooldown: now - 5, Arrival: now + 60*Second}, func(*RateState) {}},
		{"the end of one that ends by itself", GateTurn{EndCooldown: true}, RateState{Cooldown: now + 5*Second, Arrival: now + 6*Second}, func(*RateState) {}},
		{"forgetting", GateTurn{Forget: true}, slow, func(s *RateState) {
			s.Tempo, s.Told, s.ToldConcurrency, s.Cooldown, s.Arrival, s.Ended = Tempo{}, 0, 0, now, now+5*Second/2, 1
		}},
		{"what is lent", GateTurn{PerSecond: 1}, RateState{RateNotes: RateNotes{Loan: Loan{Until: now + 5}}}, func(s *RateState) { s.Set, s.Loan.RecalledAt = 1000, now }},
		{"what was lent and may be prolonged", GateTurn{PerSecond: 1}, RateState{RateNotes: RateNotes{Loan: Loan{Name: "n", Until: now - 5}}}, func(s *RateState) { s.Set, s.Loan.RecalledAt = 1000, now }},
	} {
		want := c.was
		c.want(&want)
		if is := c.turn.Apply(c.was, now); !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %+v, want %+v", c.name, is, want)
		}
	}
	detail, _ := json.Marshal(map[string]any{"changes": GateTurn{PerSecond: 1, EndCooldown: true}.Deeds()})
	rows, err := AuditEntry{Seq: 3, At: 5, Target: "k", Reason: "why", Actor: "who", Detail: detail}.GateChanges()
	if err != nil || len(rows) != 2 || rows[1] != (GateChange{ID: 3, At: 5, Key: "k", Action: GateSetRate, Value: "1", Reason: "why", Actor: "who"}) || rows[0].Action != GateEndCooldown {
		t.Errorf("%+v", rows)
	}
}

func TestWhyARateIsLower(t *testing.T) {
	const now = Instant(1 << 50)
	s := RateState{Limit: 3000, Tempo: Tempo{Rate: 1500, RefusedAt: now - 7}, RateNotes: RateNotes{Set: 1000, Told: 5000, WarmSince: now - 5*Second, Slots: []Slot{{Until: now}, {Until: now + 1}}, ToldConcurrency: 2}}
	want := []Slower{{SlowSet, 1, 0}, {SlowRefused, 1.5, now - 7}, {Code: SlowWarmup, Since: now - 5*Second}}
	if got := s.Slower(10*time.Second, now); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := s.Slower(5*time.Second, now); len(got) != 2 {
		t.Errorf("warm already: %+v", got)
	}
	if got := (RateState{Limit: 3000}).Slower(time.Minute, now); len(got) != 0 {
		t.Errorf("nothing slows it: %+v", got)
	}
	if s.Taken(now) != 1 || s.Width(0) != 2 || s.Width(1) != 1 || s.Width(3) != 2 || (RateState{}).Width(3) != 3 || (RateState{}).Width(0) != 0 {
		t.Error("requests on their way are counted wrongly")
	}
}
