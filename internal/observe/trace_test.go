package observe

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"patra/internal/executor"
)

// sluggish is a collector that answers when it is let, or not at all.
type sluggish struct {
	let  chan struct{} // nil: at once
	err  error
	mu   sync.Mutex
	took int
}

func (s *sluggish) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if s.let != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.let:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.took += len(spans)
	}
	return s.err
}

func (s *sluggish) Shutdown(context.Context) error { return nil }

// tracesTo are traces whose collector is given.
func tracesTo(to sdk.SpanExporter, share float64) (*Traces, *bytes.Buffer) {
	var b bytes.Buffer
	t := &Traces{queue: newSpanQueue(to, slog.New(slog.NewTextHandler(&b, nil)))}
	t.provider = sdk.NewTracerProvider(sdk.WithSpanProcessor(t.queue), sdk.WithSampler(runSampler{share}))
	return t, &b
}

// Whatever the collector does, making a span takes no time, what finds no room is counted, and the end is an end.
func TestACollectorNeverHoldsUpTheWork(t *testing.T) {
	const made = 3 * mostSpans
	for name, collector := range map[string]func() *sluggish{
		"hangs":   func() *sluggish { return &sluggish{let: make(chan struct{})} },
		"refuses": func() *sluggish { return &sluggish{err: errors.New("no")} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := collector()
				traces, said := tracesTo(to, 1)
				began := time.Now()
				for range made {
					_, span := traces.Tracer().Start(t.Context(), "x")
					span.End()
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("%d spans took %s", made, took)
				}
				traces.Close(t.Context())
				if took := time.Since(began); took > flushTime+time.Second {
					t.Errorf("the end took %s", took)
				}
				if traces.Dropped() != made || to.took != 0 {
					t.Errorf("%d are dropped, %d were taken", traces.Dropped(), to.took)
				}
				if n := strings.Count(said.String(), "the collector does not take them"); n != 1 {
					t.Errorf("it is said %d times:\n%s", n, said)
				}
			})
		})
	}
}

// What is made before the end is sent at the end.
func TestTheEndSendsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &sluggish{}
		traces, _ := tracesTo(to, 1)
		for range 1000 {
			_, span := traces.Tracer().Start(t.Context(), "x")
			span.End()
		}
		traces.Close(t.Context())
		if to.took != 1000 || traces.Dropped() != 0 {
			t.Errorf("%d were taken, %d dropped", to.took, traces.Dropped())
		}
		_, late := traces.Tracer().Start(t.Context(), "x")
		late.End()
	})
}

// All plans are traced and a share of the runs, with all that is below them. Whoever is not traced stays so.
func TestAShareOfTheRunsIsTraced(t *testing.T) {
	traces, _ := tracesTo(&sluggish{}, 0.1)
	defer traces.Close(t.Context())
	tracer := traces.Tracer()
	plan, _ := tracer.Start(t.Context(), "PlannerTrigger")
	if !trace.SpanContextFromContext(plan).IsSampled() {
		t.Error("a plan is not traced")
	}
	runs := 0
	for id := range int64(1000) {
		run, span := tracer.Start(plan, executor.SpanTrigger, trace.WithAttributes(attribute.Int64(executor.RunID, id)))
		below, _ := tracer.Start(run, "Batch")
		if trace.SpanContextFromContext(below).IsSampled() != span.SpanContext().IsSampled() || span.SpanContext().TraceID() != trace.SpanContextFromContext(plan).TraceID() {
			t.Fatal("what is below a run is traced with it, and in the trace of its plan")
		}
		if span.SpanContext().IsSampled() {
			runs++
		}
	}
	if runs < 60 || runs > 140 {
		t.Errorf("%d of 1000 runs are traced, and a tenth should be", runs)
	}
	silent := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, Remote: true}))
	if under, _ := tracer.Start(silent, "PlannerTrigger"); trace.SpanContextFromContext(under).IsSampled() {
		t.Error("a caller who does not trace is traced")
	}
}

func TestSpansGoWhereACollectorTakesThem(t *testing.T) {
	for url, want := range map[string]string{"http://127.0.0.1:4318": "http://127.0.0.1:4318/v1/traces", "http://h:1/": "http://h:1/v1/traces", "https://h/otlp/v1/traces": "https://h/otlp/v1/traces"} {
		if got := endpoint(url); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}
