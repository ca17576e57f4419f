package executor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"patra"
	"patra/internal/executor"
	"patra/internal/observe"
	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// headersOf keeps what a provider is told beside the question.
type headersOf struct {
	mu           sync.Mutex
	names, trace []string
}

func (s *headersOf) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.names, s.trace = append(s.names, r.Header.Get("X-Ingest-Correlation-Id")), append(s.trace, r.Header.Get("traceparent"))
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// Providers are strangers: they hear of our runs and traces only if somebody wants that. Either way the same is asked for,
// kept and hashed.
func TestProvidersAreToldOnlyWhatSomebodyWants(t *testing.T) {
	kept := map[bool][]string{}
	for _, propagate := range []bool{false, true} {
		seen, spans := &headersOf{}, tracetest.NewSpanRecorder()
		h := newHarness(t, sim.Config{Seed: 3}, seen.wrap, fast(t))
		x := h.executor(2)
		x.Tracer = sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
		x.Config.Propagate = propagate
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.exact()
		calls := map[string]bool{}
		for _, s := range spans.Ended() {
			if s.Name() == executor.SpanCall {
				calls["00-"+s.SpanContext().TraceID().String()+"-"+s.SpanContext().SpanID().String()+"-01"] = true
			}
		}
		rows := h.rows(`SELECT run_id, batch_no, request_digest FROM ing_task_run_batch`)
		if len(seen.names) == 0 || len(seen.names) != len(rows) || len(calls) != len(rows) {
			t.Fatalf("%d requests, %d pages, %d spans", len(seen.names), len(rows), len(calls))
		}
		told := map[string]bool{}
		for _, row := range rows {
			told[fmt.Sprintf("ing-%s-%s", row[0], row[1])] = true
			kept[propagate] = append(kept[propagate], strings.ReplaceAll(row[2], h.base, "BASE"))
		}
		for i, name := range seen.names {
			if propagate && (!told[name] || !calls[seen.trace[i]]) {
				t.Errorf("the provider is told %q and %q", name, seen.trace[i])
			}
			if !propagate && (seen.trace[i] != "" || !regexp.MustCompile(`^[A-Z2-7]{26}$`).MatchString(name)) {
				t.Errorf("the provider is told %q and %q, though nobody wants that", name, seen.trace[i])
			}
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, h.url))
	}
	first := func(all []string) []string { // tokens are drawn by the provider
		return slices.DeleteFunc(slices.Sorted(slices.Values(all)), func(s string) bool { return !strings.Contains(s, "cursor=%2A") })
	}
	if without, with := first(kept[false]), first(kept[true]); len(without) == 0 || !slices.Equal(without, with) {
		t.Errorf("what is kept of a request depends on what is told:\n%v\n%v", without, with)
	}
}

func (h *harness) rows(query string) (all [][]string) {
	h.t.Helper()
	rows, err := storetest.Inspect(h.t, h.url).Query(query)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		columns, _ := rows.Columns()
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// Of the pages that went well as many get a line as somebody wants, always the same ones. What goes wrong is always told.
func TestALogHasAShareOfWhatWentWellAndAllThatDidNot(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 3, PerDay: 400, Faults: sim.Faults{ExpireToken: 0.05}}, nil, fast(t, "maxAttempts: 5", "maxAttempts: 50"))
	var b bytes.Buffer
	x := h.executor(2)
	x.Log = observe.NewLog(&b, observe.LogOptions{JSON: true, Level: slog.LevelInfo})
	x.Config.LogSample = 0.3
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, got, heals, claimed := map[string]bool{}, map[string]bool{}, 0, 0
	for line := range strings.Lines(b.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		switch l["msg"] {
		case "page is kept":
			got[l["correlation_id"].(string)] = true
		case "healing":
			heals++
		case "task is claimed":
			claimed++
		}
	}
	pages := h.rows(`SELECT run_id, batch_no FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`)
	for _, row := range pages {
		var run, batch int64
		fmt.Sscan(row[0]+" "+row[1], &run, &batch)
		if patra.InLogSample(0.3, run, batch) {
			want[patra.CorrelationID(run, batch)] = true
		}
	}
	if !maps.Equal(got, want) || len(got) == 0 || len(got) > len(pages)/2 {
		t.Errorf("%d of %d pages have a line, and %d should", len(got), len(pages), len(want))
	}
	if kept := h.rows(`SELECT id FROM ing_healing`); len(kept) == 0 || heals != len(kept) {
		t.Errorf("%d of %d healing actions are told", heals, len(kept))
	}
	if runs := h.rows(`SELECT id FROM ing_task_run`); claimed != len(runs) {
		t.Errorf("%d of %d claims are told", claimed, len(runs))
	}
}
