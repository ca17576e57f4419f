package observe_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/observe"
)

func TestWhatHappensIsCounted(t *testing.T) {
	m := observe.NewMetrics("test")
	c := &patra.Claim{Task: patra.Task{Source: "crossref", Endpoint: "works", Operation: patra.Harvest}}
	for _, e := range []executor.Event{
		{Kind: executor.EventBegun},
		{Kind: executor.EventBegun},
		{Kind: executor.EventPage, Counts: patra.Counts{Insert: 3, Update: 2, Same: 1, Stale: 1, Dup: 1, Quarantine: 1}, Exchange: patra.Exchange{SentAt: 1_000_000, FinishedAt: 1_040_000, Status: 200}, Took: 70 * time.Millisecond},
		{Kind: executor.EventPage, Counts: patra.Counts{Insert: 4}},
		{Kind: executor.EventNoPage, Fault: &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeRateLimited}, Exchange: patra.Exchange{SentAt: 1_000_000, FinishedAt: 1_004_000, Status: 429}},
		{Kind: executor.EventNoPage, Fault: &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema}, Exchange: patra.Exchange{SentAt: 1_000_000, FinishedAt: 1_004_000, Status: 200}},
		{Kind: executor.EventNoPage, Fault: &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeAuth}}, // it was not sent
		{Kind: executor.EventRetry, Fault: &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeRateLimited}},
		{Kind: executor.EventRestart, Fault: &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeTokenExpired}},
		{Kind: executor.EventHeal, Healing: &patra.Healing{Action: patra.HealRestart}},
		{Kind: executor.EventFailed, Fault: &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema}},
		{Kind: executor.EventDone},
		{Kind: executor.EventOver},
	} {
		e.Claim = c
		m.Event(e)
	}
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`patra_ingest_batches_total{endpoint="works",op="HARVEST",source="crossref"} 2`,
		`patra_ingest_items_total{action="insert",endpoint="works",op="HARVEST",source="crossref"} 7`,
		`patra_ingest_items_total{action="update",endpoint="works",op="HARVEST",source="crossref"} 2`,
		`patra_ingest_items_total{action="skip",endpoint="works",op="HARVEST",source="crossref"} 3`,
		`patra_ingest_errors_total{endpoint="works",level="L1",op="HARVEST",source="crossref"} 2`,
		`patra_ingest_errors_total{endpoint="works",level="L3",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_errors_total{endpoint="works",level="L4",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_http_latency_ms_bucket{endpoint="works",op="HARVEST",source="crossref",le="10"} 2`,
		`patra_ingest_http_latency_ms_bucket{endpoint="works",op="HARVEST",source="crossref",le="50"} 3`,
		`patra_ingest_http_latency_ms_count{endpoint="works",op="HARVEST",source="crossref"} 3`,
		`patra_ingest_batch_latency_ms_sum{endpoint="works",op="HARVEST",source="crossref"} 70`,
		`patra_ingest_batch_latency_ms_count{endpoint="works",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_executor_concurrency{endpoint="works",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_tasks_total{end="FAILED",endpoint="works",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_429_total{endpoint="works",op="HARVEST",source="crossref"} 1`,
		`patra_ingest_retries_total{endpoint="works",op="HARVEST",source="crossref"} 2`,
		`patra_ingest_self_heal_events_total{endpoint="works",op="HARVEST",source="crossref",type="RESTART"} 1`,
		`patra_ingest_tasks_total{end="DONE",endpoint="works",op="HARVEST",source="crossref"} 1`,
	} {
		if !strings.Contains(rec.Body.String(), line+"\n") {
			t.Errorf("there is no %s in\n%s", line, rec.Body)
		}
	}
}
