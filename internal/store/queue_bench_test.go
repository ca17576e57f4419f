package store_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// benchNumber is how much of something a benchmark takes, if the environment says nothing else.
func benchNumber(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// BenchmarkClaim takes tasks from a long queue, with one worker and with sixteen at once: every claim is a whole one, with its lease
// and its run. `make bench` asks for a million tasks.
func BenchmarkClaim(b *testing.B) {
	queued, claims := benchNumber("BENCH_QUEUED", 20_000), benchNumber("BENCH_CLAIMS", 500)
	for _, e := range storetest.Engines() {
		b.Run(benchName(e), func(b *testing.B) {
			url := e.URL(b)
			s := e.Migrated(b, url)

			storetest.FillWork(b, storetest.Inspect(b, url), storetest.Bulk{Batches: 1000, Records: 100, Queued: int64(queued)})
			var turn int
			for range benchNumber("BENCH_ROUNDS", 1) {
				for _, workers := range []int{1, 16} {
					b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
						for b.Loop() {
							began := time.Now()
							took := claimAll(b, s, turn, workers, claims)
							turn += claims
							b.ReportMetric(float64(len(took))/time.Since(began).Seconds(), "claims/s")
							reportTimes(b, took)
						}
					})
				}
			}
		})
	}
}

// claimAll takes n tasks in several hands, and gives the time of each claim. A worker gives its task back before it takes the next: no
// more run at any time than there are workers, and the queue stays as long as it is.
func claimAll(b *testing.B, s *store.Store, turn, workers, n int) []time.Duration {
	b.Helper()
	took := make([][]time.Duration, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			owner := store.NewOwner()
			for i := w; i < n; i += workers {
				began := time.Now()
				c, err := s.Claim(b.Context(), patra.ClaimRequest{Owner: owner, Lease: time.Hour, Turn: uint64(turn + i)})
				if err != nil || c == nil {
					b.Errorf("claim %d: %v, %v", i, c, err)
					return
				}
				took[w] = append(took[w], time.Since(began))
				if err := s.Finish(b.Context(), c, patra.InstantOf(time.Now()), patra.RunResult{Status: patra.Queued, GiveBack: true}); err != nil {
					b.Errorf("give back %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(took...)
}

// BenchmarkLedger is what a page costs without its records: the row before the request, and the commit after it.
func BenchmarkLedger(b *testing.B) {
	pages := benchNumber("BENCH_CLAIMS", 500)
	for _, e := range storetest.Engines() {
		w := storetest.NewWorld(b, e, 1)
		c := w.Take()
		var ordinal int64
		for range benchNumber("BENCH_ROUNDS", 1) {
			b.Run(benchName(e), func(b *testing.B) {
				for b.Loop() {
					var took []time.Duration
					for range pages {
						ordinal++
						began := time.Now()
						w.Page(c, ordinal, true)
						took = append(took, time.Since(began))
					}
					reportTimes(b, took)
				}
			})
		}
	}
}

// benchName is what an engine is called in reports: the server here is a MariaDB.
func benchName(e storetest.Engine) string {
	if e.Name == "sqlite" {
		return "sqlite"
	}
	return "mariadb"
}

// reportTimes tells the average and the 95th of a hundred.
func reportTimes(b *testing.B, took []time.Duration) {
	b.Helper()
	if len(took) == 0 {
		return
	}
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	slices.Sort(took)
	b.ReportMetric(float64(sum.Microseconds())/1000/float64(len(took)), "avg-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
