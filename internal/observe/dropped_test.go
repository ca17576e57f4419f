package observe_test

import (
	"log/slog"
	"strings"
	"testing"

	"patra/internal/observe"
)

// Spans that nobody takes are a number.
func TestDroppedSpansAreCounted(t *testing.T) {
	m := observe.NewMetrics("test")
	if said := scrape(m); !strings.Contains(said, "\npatra_trace_spans_dropped_total 0\n") {
		t.Error("without traces there is no number")
	}
	traces, err := observe.NewTraces(t.Context(), observe.TraceOptions{URL: "http://127.0.0.1:1", Sample: 1, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	m.WatchTraces(traces)
	for range 3 {
		_, span := traces.Tracer().Start(t.Context(), "PlannerTrigger")
		span.End()
	}
	traces.Close(t.Context())
	if said := scrape(m); !strings.Contains(said, "\npatra_trace_spans_dropped_total 3\n") {
		t.Errorf("%d were dropped, and the numbers do not say so", traces.Dropped())
	}
}
