package executor_test

import (
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/expr"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// Whoever waits for the end of a cooldown goes on within a second or so when a person ends it, and the provider sees no
// more than it permits then, nor at the time at which it would have ended.
func TestACooldownThatIsEndedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
		g := gate.NewShared(s)
		var mu sync.Mutex
		var came []patra.Instant
		works := newWorks().Handler()
		client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			came = append(came, patra.InstantOf(time.Now()))
			mu.Unlock()
			works.ServeHTTP(w, r)
		}))
		spec := specOf(t, paged(offsets, "P1M"))
		spec.Rate.PerSecond, spec.Rate.Burst = 2, 1
		if err := g.Cooldown(t.Context(), spec.Source, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		began := patra.InstantOf(time.Now())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				p := &executor.Prober{Store: s, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
				for range 2 {
					if _, err := p.Probe(t.Context(), spec, expr.All(), month, "http://provider"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		<-time.After(30 * time.Second)
		if len(came) > 0 {
			t.Errorf("%d requests came inside the cooldown", len(came))
		}
		if _, _, _, err := s.SteerGate(t.Context(), spec.Source, patra.GateTurn{EndCooldown: true}, "", "me"); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if len(came) != 8 || came[0] > began.Add(32*time.Second) || came[7] > began.Add(40*time.Second) {
			t.Errorf("%d requests came, the first after %s and the last after %s", len(came), came[0].Sub(began), came[len(came)-1].Sub(began))
		}
		if err := gatetest.Judge(came, 2, 1); err != nil {
			t.Error(err)
		}
	})
}
