package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/gate"
	"patra/internal/gate/gatetest"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// sqlGate makes gates over one store. Each who enters is another process: it has connections of its own.
func sqlGate(e storetest.Engine) func(testing.TB) func() gatetest.Gate {
	return func(t testing.TB) func() gatetest.Gate {
		url, clock := e.URL(t), store.WithClock(time.Now) // simulated, as everything is here
		if _, err := e.Connect(t, url, clock).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return func() gatetest.Gate { return gate.NewShared(e.Connect(t, url, clock)) }
	}
}

func TestSharedConformance(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		gatetest.Run(t, gatetest.Kind{Fresh: sqlGate(e), Sends: 250})
	})
}

// Ten thousand requests of four processes, by brute force.
func TestTenThousandRequestsThroughTheStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes for a while")
	}
	for _, c := range gatetest.Cases() {
		if c.Name == "in no stretch of time come more than 50 a second with a burst of 20 permits, however late they are" {
			gatetest.Check(t, c, gatetest.Kind{Fresh: sqlGate(storetest.Engines()[0]), Sends: 10_000})
			return
		}
	}
	t.Error("there is no such promise")
}

// When the row cannot be written nothing is granted, and the reason comes to light.
func TestAGateThatCannotWriteGrantsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		url := e.URL(t)
		s := e.Connect(t, url)
		g := gate.NewShared(s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if wait, err := g.Reserve(ctx, patra.RateLimit{Key: "source", PerSecond: 10, Burst: 1}, 1); err == nil { // there is no table
			t.Errorf("granted after %s", wait)
		}
		if left, err := g.CooldownRemaining(ctx, "source"); err == nil {
			t.Errorf("%s remain", left)
		}
		if err := g.Cooldown(ctx, "source", time.Second); err == nil {
			t.Error("a cooldown was begun")
		}
		if err := g.Report(ctx, patra.RateLimit{Key: "source"}, patra.RateFeedback{Status: 429, RetryAfter: time.Second}); err == nil {
			t.Error("a refusal was kept")
		}
	})
}

// What a provider says with every answer is written down once, and again when it says something else.
func TestWhatAProviderSaysIsWrittenOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		rows := &counted{Rows: e.Open(t)}
		l := patra.RateLimit{Key: "source", PerSecond: 10, Burst: 5, Concurrency: 4}
		g, other := gate.NewShared(rows), gate.NewShared(rows)
		says := func(g *gate.Shared, told patra.AdvertisedLimit, want int, rate int64, slots int) {
			t.Helper()
			before := rows.turns
			for range 50 {
				if err := g.Report(t.Context(), l, patra.RateFeedback{Status: 200, Told: told}); err != nil {
					t.Fatal(err)
				}
			}
			is, _, err := rows.GateState(t.Context(), l.Key)
			if n := rows.turns - before; n != want || err != nil || is.Told != rate || is.ToldConcurrency != slots {
				t.Errorf("told %+v 50 times, it was written %d times and became %d and %d, %v", told, n, is.Told, is.ToldConcurrency, err)
			}
		}
		says(g, patra.AdvertisedLimit{}, 0, 0, 0)
		says(g, patra.AdvertisedLimit{PerSecond: 50, Concurrency: 4}, 0, 0, 0) // it permits more than we ask for
		says(g, patra.AdvertisedLimit{Concurrency: 1000}, 0, 0, 0)
		says(g, patra.AdvertisedLimit{PerSecond: 3, Concurrency: 2}, 1, 3000, 2)
		says(g, patra.AdvertisedLimit{}, 0, 3000, 2)
		if _, err := other.Reserve(t.Context(), l, 1); err != nil { // from now on it knows
			t.Fatal(err)
		}
		says(other, patra.AdvertisedLimit{PerSecond: 3, Concurrency: 2}, 0, 3000, 2)
		says(other, patra.AdvertisedLimit{PerSecond: 5}, 1, 5000, 2)
		says(other, patra.AdvertisedLimit{PerSecond: 10, Concurrency: 9}, 1, 0, 0)
	})
}

// Answers may take long. Whatever left before a refusal came back says nothing new.
func TestRefusalsOfRequestsThatWereOnTheirWayAreOneSign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := storetest.Engines()[0]
		url, clock := e.URL(t), store.WithClock(time.Now)
		st := e.Connect(t, url, clock)
		if _, err := st.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		g, l := gate.NewShared(st), patra.RateLimit{Key: "source", PerSecond: 16, Burst: 1}
		if _, err := g.Reserve(t.Context(), l, 1); err != nil {
			t.Fatal(err)
		}
		for n, took := range []time.Duration{0, 3 * time.Second, 6 * time.Second, 9 * time.Second, time.Second} {
			<-time.After(2 * time.Second)
			if err := g.Report(t.Context(), l, patra.RateFeedback{Status: 429, Took: took}); err != nil {
				t.Fatal(err)
			}
			want := int64(8000)
			if n == 4 { // this one left later
				want = 4000
			}
			if is, _, err := st.GateState(t.Context(), l.Key); err != nil || is.Tempo.Rate != want {
				t.Errorf("refusal %d: the rate is %d, want %d, %v", n+1, is.Tempo.Rate, want, err)
			}
		}
	})
}

// Answers are counted only while we are below the limit, and then a few times a second.
func TestAnAnswerCostsNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		rows := &counted{Rows: e.Open(t)}
		g := gate.NewShared(rows)
		if _, err := g.Reserve(t.Context(), patra.RateLimit{Key: "source", PerSecond: 1000, Burst: 100}, 1); err != nil {
			t.Fatal(err)
		}
		answers := func() int {
			before := rows.turns
			for range 100 {
				if err := g.Report(t.Context(), patra.RateLimit{Key: "source"}, patra.RateFeedback{Status: 200}); err != nil {
					t.Fatal(err)
				}
			}
			return rows.turns - before
		}
		if n := answers(); n != 0 {
			t.Errorf("100 answers were written %d times", n)
		}
		if err := g.Report(t.Context(), patra.RateLimit{Key: "source"}, patra.RateFeedback{Status: 429}); err != nil {
			t.Fatal(err)
		}
		if n := answers(); n == 0 || n > 8 {
			t.Errorf("100 answers below the limit were written %d times", n)
		}
	})
}
