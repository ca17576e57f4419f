package gate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// A process that took grants behind a cooldown forgets them when it hears that a person ended it: they lie where the
// cooldown would have ended, and whoever got one would wait for that.
func TestGrantsBehindACooldownThatWasEndedAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
		g, l := gate.NewShared(s), patra.RateLimit{Key: "source", PerSecond: 50, Burst: 20}
		reserve := func() time.Duration {
			wait, err := g.Reserve(t.Context(), l, 1)
			if err != nil {
				t.Fatal(err)
			}
			return wait
		}
		remaining := func() time.Duration {
			left, err := g.CooldownRemaining(t.Context(), "source")
			if err != nil {
				t.Fatal(err)
			}
			return left
		}
		if err := g.Cooldown(t.Context(), "source", 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if left := remaining(); left != 10*time.Minute {
			t.Errorf("%s remain", left)
		}
		for range 30 {
			if wait := reserve(); wait < 9*time.Minute {
				t.Errorf("granted after %s, inside a cooldown", wait)
			}
			<-time.After(time.Millisecond)
		}
		if _, _, _, err := s.UpdateGate(t.Context(), "source", patra.GateUpdate{EndCooldown: true}, "", "me"); err != nil {
			t.Fatal(err)
		}
		if left := remaining(); left > 0 {
			t.Errorf("%s remain", left)
		}
		for range 10 {
			if wait := reserve(); wait > 3*time.Second {
				t.Errorf("granted after %s, although the cooldown is over", wait)
			}
		}
	})
}
