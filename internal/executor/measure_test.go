package executor_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/observe"
	"patra/internal/sim"
)

// What is counted of a harvest is what the provider saw: every request once, whether it gave a page or not; and when all is over
// nobody is at any task.
func TestRequestsAreMeasured(t *testing.T) {
	var sent, refused, broken atomic.Int64
	unwell := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch n := sent.Add(1); {
			case n%5 == 2:
				refused.Add(1)
				w.WriteHeader(http.StatusTooManyRequests)
			case n%7 == 3:
				broken.Add(1)
				io.WriteString(w, "{") // it ends too soon
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, unwell, fast(t))
	numbers := observe.NewMetrics("test")
	x := h.executor(2)
	x.Config.Strain = patra.WalkLimits{} // it is not cut smaller
	x.Observe, x.Measure = numbers.Event, numbers.Event
	var mu sync.Mutex
	now, most := 0, 0
	x.Measure = func(e executor.Event) {
		numbers.Event(e)
		mu.Lock()
		defer mu.Unlock()
		switch e.Kind {
		case executor.EventBegun:
			now++
		case executor.EventOver:
			now--
		}
		most = max(most, now)
	}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	if now != 0 || most < 1 || most > 2 {
		t.Errorf("%d tasks at the end, %d at most", now, most)
	}
	rec := httptest.NewRecorder()
	numbers.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	said := rec.Body.String()
	at := `{endpoint="works",op="HARVEST",source="crossref"}`
	for name, want := range map[string]int64{
		"patra_ingest_http_latency_ms_count" + at:                                               sent.Load(),
		"patra_ingest_batch_latency_ms_count" + at:                                              sent.Load() - refused.Load() - broken.Load(),
		"patra_ingest_batches_total" + at:                                                       sent.Load() - refused.Load() - broken.Load(),
		"patra_ingest_429_total" + at:                                                           refused.Load(),
		"patra_ingest_retries_total" + at:                                                       refused.Load() + broken.Load(),
		"patra_ingest_executor_concurrency" + at:                                                0,
		`patra_ingest_errors_total{endpoint="works",level="L1",op="HARVEST",source="crossref"}`: refused.Load() + broken.Load(),
	} {
		if line := name + " " + strconv.FormatInt(want, 10); !strings.Contains(said, "\n"+line+"\n") {
			t.Errorf("there is no %s in\n%s", line, said)
		}
	}
	if refused.Load() == 0 || broken.Load() == 0 {
		t.Errorf("%d were refused and %d broken", refused.Load(), broken.Load())
	}
}
