package executor_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/source"
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
						x := benchmarked(b, latency)
						x.Config.Workers, x.Config.Prefetch = workers, ahead
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

// benchmarked is an executor with about 8,000 works before it, in four days.
func benchmarked(b *testing.B, latency time.Duration) *executor.Executor {
	b.Helper()
	works := sim.New(sim.Config{Seed: 1, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 2000, Exact: true, Faults: sim.Faults{Latency: latency}})
	server := httptest.NewServer(works.Handler())
	b.Cleanup(server.Close)
	text, err := sources.Files.ReadFile("europepmc.yaml")
	if err != nil {
		b.Fatal(err)
	}
	file, err := source.Load("europepmc.yaml", []byte(strings.NewReplacer("perSecond: 5, burst: 5", "perSecond: 100000, burst: 1000", "pageSize: 500", "pageSize: 200").Replace(string(text))))
	if err != nil {
		b.Fatal(err)
	}
	st, _, plan := planAll(b, file, nil, server.URL)
	return runner(b, st, plan)
}
