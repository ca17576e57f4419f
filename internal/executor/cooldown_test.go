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
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/query"
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
					if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		<-time.After(30 * time.Second)
		if len(came) > 0 {
			t.Errorf("%d requests came inside the cooldown", len(came))
		}
		if _, _, _, err := s.UpdateGate(t.Context(), spec.Source, patra.GateUpdate{EndCooldown: true}, "", "me"); err != nil {
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

// ending is a cooldown that a person ends, seen by a provider.
type ending struct {
	workers int
	each    int           // requests of each
	before  time.Duration // how long they have asked already when the cooldown begins
	lasts   time.Duration // until it is ended
	lent    bool          // Redis gives the grants
}

func (e ending) play(t *testing.T) (came []patra.Instant, began patra.Instant) {
	s := storetest.Engines()[0].Open(t, store.WithClock(time.Now))
	enter := func() *gate.Shared {
		if !e.lent {
			return gate.NewShared(s)
		}
		keeper, err := gate.OpenRedis(gatetest.RedisURL(t), gate.WithClock(time.Now))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { keeper.Close() })
		return gate.NewShared(gate.NewLent(s, keeper, gate.DefaultLeaseTerms(), nil))
	}
	var mu sync.Mutex
	works := newWorks().Handler()
	client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		came = append(came, patra.InstantOf(time.Now()))
		mu.Unlock()
		works.ServeHTTP(w, r)
	}))
	spec := specOf(t, paged(offsets, "P1M"))
	spec.Rate.PerSecond, spec.Rate.Burst = 2, 1
	began = patra.InstantOf(time.Now())
	gates := []*gate.Shared{enter(), enter()}
	var all sync.WaitGroup
	for n := range e.workers {
		all.Go(func() {
			p := &executor.Prober{Store: s, Gate: gates[n%2], Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
			for range e.each {
				if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	<-time.After(e.before)
	if err := gates[0].Cooldown(t.Context(), spec.Source, 10*time.Hour); err != nil {
		t.Fatal(err)
	}
	<-time.After(e.lasts)
	if _, _, _, err := s.UpdateGate(t.Context(), spec.Source, patra.GateUpdate{EndCooldown: true}, "", "me"); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	return came, began
}

// Whatever was given out before and behind a cooldown that a person ends, and whoever gave it, the provider sees no more
// than it permits, and nobody waits for the time at which it would have ended.
func TestTheEndOfACooldownBreaksNoLimit(t *testing.T) {
	for name, e := range map[string]ending{
		"a queue from before it":           {workers: 16, each: 2, before: 600 * time.Millisecond, lasts: 1500 * time.Millisecond},
		"a queue, and it is ended at once": {workers: 16, each: 2, before: 600 * time.Millisecond, lasts: time.Millisecond},
		"a queue behind it":                {workers: 8, each: 3, lasts: 30 * time.Second},
		"lent, a queue from before it":     {workers: 16, each: 2, before: 600 * time.Millisecond, lasts: 1500 * time.Millisecond, lent: true},
		"lent, a queue behind it":          {workers: 8, each: 20, lasts: 30 * time.Second, lent: true},
	} {
		t.Run(name, func(t *testing.T) {
			if e.lent {
				gatetest.RedisURL(t)
			}
			synctest.Test(t, func(t *testing.T) {
				came, began := e.play(t)
				if len(came) != e.workers*e.each {
					t.Fatalf("%d requests came", len(came))
				}
				if last := came[len(came)-1].Sub(began); last > 3*time.Minute {
					t.Errorf("the last request came after %s", last)
				}
				if err := gatetest.Judge(came, 2, 1); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
