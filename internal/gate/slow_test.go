package gate_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// A request that costs more than fits into the time that a slow gate looks ahead gets its grant all the same: without it
// nothing would ever be answered, and the gate would stay slow for ever.
func TestASlowGateLetsHeavyRequestsThrough(t *testing.T) {
	for _, warmup := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			g, l := gate.NewLocal(), patra.RateLimit{Key: "source", PerSecond: 1, Burst: 10, Heaviest: 10, Warmup: warmup}
			send := func() (wait time.Duration) {
				for range 1000 {
					more, err := g.Reserve(t.Context(), l, 10)
					later, ok := errors.AsType[*patra.ThrottledError](err)
					if !ok {
						if err != nil {
							t.Fatal(err)
						}
						return wait + more
					}
					wait += later.Wait
					<-time.After(later.Wait)
				}
				t.Fatal("never granted")
				return 0
			}
			<-time.After(send())
			if err := g.Report(t.Context(), l, patra.RateFeedback{Status: 429}); err != nil {
				t.Fatal(err)
			}
			if wait := send(); wait > 10*time.Minute {
				t.Errorf("granted after %s", wait)
			}
		})
	}
}

// What a desk knows of when to ask again is not worth more than the word of a person who ended the cooldown.
func TestWhoeverWasToldToAskAgainHearsOfTheEndOfACooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
		g, l := gate.NewShared(s), patra.RateLimit{Key: "source", PerSecond: 2, Burst: 1}
		if _, err := g.Reserve(t.Context(), l, 1); err != nil {
			t.Fatal(err)
		}
		if err := g.Report(t.Context(), l, patra.RateFeedback{Status: 429, RetryAfter: 10 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		var later *patra.ThrottledError
		for later == nil {
			if _, err := g.Reserve(t.Context(), l, 1); err != nil && !errors.As(err, &later) {
				t.Fatal(err)
			}
		}
		if later.Wait > 2*time.Second {
			t.Errorf("it is to ask again after %s, and hears of nothing until then", later.Wait)
		}
		if _, _, _, err := s.UpdateGate(t.Context(), "source", patra.GateUpdate{EndCooldown: true}, "", "me"); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if wait, err := g.Reserve(t.Context(), l, 1); err != nil || wait > 5*time.Second {
			t.Errorf("granted after %s: %v", wait, err)
		}
	})
}
