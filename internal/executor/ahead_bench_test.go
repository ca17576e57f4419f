package executor_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/sources"
)

// Walks that can be resumed, one after the other and four side by side, with and without asking ahead, at a provider that is
// near and at one that is far away.
func BenchmarkAhead(b *testing.B) {
	for _, workers := range []int{1, 4} {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
			for _, ahead := range []bool{false, true} {
				b.Run(fmt.Sprintf("%d workers, %s away, ahead %v", workers, latency, ahead), func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						x := benchmarked(b, workers, latency, ahead)
						b.StartTimer()
						if err := x.Run(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// benchmarked is an executor with 8,000 works before it, in four days.
func benchmarked(b *testing.B, workers int, latency time.Duration, ahead bool) *executor.Executor {
	b.Helper()
	e := storetest.Engines()[0]
	s := e.Connect(b, e.URL(b))
	if _, err := s.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 1, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 2000, Exact: true, Faults: sim.Faults{Latency: latency}}).Handler()
	server := httptest.NewServer(provider)
	b.Cleanup(server.Close)
	text, err := sources.Files.ReadFile("europepmc.yaml")
	if err != nil {
		b.Fatal(err)
	}
	data, err := source.Load("europepmc.yaml", []byte(strings.NewReplacer("perSecond: 5, burst: 5", "perSecond: 100000, burst: 1000", "pageSize: 500", "pageSize: 200").Replace(string(text))))
	if err != nil {
		b.Fatal(err)
	}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	p := &planner.Planner{Store: s, Config: planner.Config{TaskAttempts: 3, Target: 100_000, MaxPages: 2000, MinStep: time.Hour}}
	plan, err := p.Plan(b.Context(), patra.InstantOf(time.Now()), planner.Request{Source: data, Contact: "t@example.org", From: &start, To: &end, BaseURL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	return &executor.Executor{Store: s, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler),
		Config: executor.Config{Owner: store.NewOwner(), Workers: workers, PlanID: plan.Plan.ID, Lease: time.Minute, Heartbeat: 20 * time.Second, Poll: 5 * time.Millisecond, Grace: time.Second, Prefetch: ahead, Memory: 1 << 30},
		Client: func(_ *source.Spec, base string) *http.Client {
			u, _ := url.Parse(base)
			return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
		},
		Done: func(ctx context.Context) (bool, error) {
			states, err := s.SliceStates(ctx, plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		}}
}
