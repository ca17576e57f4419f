package storetest

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"patra"
)

// gateTurns: many processes change one row, which none of them made before; no change is lost, and none touches another
// key.
func gateTurns(t *testing.T, e Engine) {
	url := e.URL(t)
	first := e.Connect(t, url)
	if _, err := first.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const processes, turns = 4, 20
	notes := patra.RateDetails{Told: 7, Slots: []patra.Slot{{ID: "x", Until: 8}}, Loan: patra.StateLease{Epoch: 9}}
	var all sync.WaitGroup
	for range processes {
		s := e.Connect(t, url)
		all.Go(func() {
			for range turns {
				err := s.UpdateGateState(t.Context(), "a", func(now patra.Instant, took time.Duration, is patra.RateState) patra.RateState {
					if took < 0 || now < Origin {
						t.Errorf("the clock says %s after %s", now, took)
					}
					is.Limit++
					is.Burst, is.Arrival, is.Cooldown = 2, now, now+1
					is.Tempo = patra.AdaptiveRate{Rate: 3, Ceiling: 4, AdaptedAt: 5, RefusedAt: 6}
					is.RateDetails = notes
					return is
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	is, now, err := first.GateState(t.Context(), "a")
	if err != nil || is.Limit != processes*turns || is.Arrival > now || is.Cooldown != is.Arrival+1 || is.Burst != 2 || is.Tempo != (patra.AdaptiveRate{Rate: 3, Ceiling: 4, AdaptedAt: 5, RefusedAt: 6}) || !reflect.DeepEqual(is.RateDetails, notes) {
		t.Errorf("%+v at %s, %v", is, now, err)
	}
	if is, _, err := first.GateState(t.Context(), "b"); err != nil || !reflect.DeepEqual(is, patra.RateState{}) {
		t.Errorf("a key that nobody used is %+v, %v", is, err)
	}
	for _, key := range []string{"a#key", "ab", "a-b"} {
		if err := first.UpdateGateState(t.Context(), key, func(_ patra.Instant, _ time.Duration, is patra.RateState) patra.RateState { return is }); err != nil {
			t.Fatal(err)
		}
	}
	if keys, now, err := first.Gates(t.Context(), "a"); err != nil || len(keys) != 2 || keys[0].Key != "a" || keys[1].Key != "a#key" || keys[0].Limit != processes*turns || now < Origin {
		t.Errorf("the keys of a source are %+v, %v", keys, err)
	}
}
