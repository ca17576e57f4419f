package observe

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/executor"
)

// TraceOptions set where traces go.
type TraceOptions struct {
	URL     string  // of a collector that takes OTLP over HTTP
	Sample  float64 // share of the runs that are traced
	Version string  // of the program
	Log     *slog.Logger
}

// Traces sends the spans of a process to a collector. It never holds up whoever makes them: they wait in a queue of a
// certain length, and those that find it full, or that the collector does not take, are dropped and counted.
type Traces struct {
	provider *sdk.TracerProvider
	queue    *spanQueue
}

// NewTraces begins to send. Whether there is a collector shows later; without one the work goes on as if nobody traced it.
func NewTraces(ctx context.Context, o TraceOptions) (*Traces, error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint(o.URL)), otlptracehttp.WithTimeout(exportTime), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 2 * time.Second, MaxElapsedTime: exportTime}))
	if err != nil {
		return nil, err
	}
	t := &Traces{queue: newSpanQueue(exporter, o.Log)}
	t.provider = sdk.NewTracerProvider(sdk.WithSpanProcessor(t.queue), sdk.WithSampler(runSampler{o.Sample}),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "patra"), attribute.String("service.version", o.Version))))
	return t, nil
}

// endpoint is where spans are sent: a collector has one place for them, if nobody names another.
func endpoint(text string) string {
	if u, err := url.Parse(text); err == nil && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("/v1/traces").String()
	}
	return text
}

// Tracer makes spans.
func (t *Traces) Tracer() trace.Tracer { return t.provider.Tracer("patra") }

// Dropped is how many spans nobody will see.
func (t *Traces) Dropped() int64 { return t.queue.dropped.Load() }

// Close sends what is in the queue, for a few seconds at most, and gives up on the rest.
func (t *Traces) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // that it took too long is counted and said already
}

// runSampler traces every plan and a share of the runs: a plan of a hundred thousand slices has one trace, and with a small
// share it can still be looked at. Whoever asked for a plan and does not trace it themselves is not traced here either.
type runSampler struct{ share float64 }

// ShouldSample decides when a span begins.
func (s runSampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	result := sdk.SamplingResult{Decision: sdk.RecordAndSample, Tracestate: parent.TraceState()}
	if parent.IsValid() && !parent.IsSampled() || p.Name == executor.SpanTrigger && !patra.InLogSample(s.share, runOf(p.Attributes)) {
		result.Decision = sdk.Drop
	}
	return result
}

// Description names the rule.
func (s runSampler) Description() string { return "plans and a share of the runs" }

func runOf(attrs []attribute.KeyValue) int64 {
	for _, a := range attrs {
		if a.Key == executor.RunID {
			return a.Value.AsInt64()
		}
	}
	return 0
}

const (
	mostSpans  = 8192 // in the queue: some megabytes
	spansAtA   = 512  // at once to the collector
	sendEvery  = time.Second
	exportTime = 5 * time.Second // for one attempt to reach the collector, with what is tried again
	flushTime  = 3 * time.Second // at the end of the process
)

// spanQueue keeps spans until they are sent, by a goroutine of its own.
type spanQueue struct {
	to      sdk.SpanExporter
	log     *slog.Logger
	waiting chan sdk.ReadOnlySpan
	dropped atomic.Int64
	failing bool // the last attempt failed: it is said once

	ends   chan struct{} // closed when nothing more comes
	closed atomic.Bool
	done   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
}

func newSpanQueue(to sdk.SpanExporter, log *slog.Logger) *spanQueue {
	q := &spanQueue{to: to, log: log, waiting: make(chan sdk.ReadOnlySpan, mostSpans), ends: make(chan struct{}), done: make(chan struct{})}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.run()
	return q
}

// OnStart does nothing: a span is told of when it is over.
func (q *spanQueue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd puts a span into the queue, if there is room.
func (q *spanQueue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.closed.Load() {
		q.dropped.Add(1)
		return
	}
	select {
	case q.waiting <- s:
	default:
		q.dropped.Add(1)
	}
}

// run sends what is waiting, until nothing more comes.
func (q *spanQueue) run() {
	defer close(q.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	var batch []sdk.ReadOnlySpan
	for {
		select {
		case s := <-q.waiting:
			if batch = append(batch, s); len(batch) < spansAtA {
				continue
			}
		case <-tick.C:
		case <-q.ends:
			q.flush(batch)
			return
		}
		q.send(batch)
		batch = batch[:0]
	}
}

// flush sends all that is left.
func (q *spanQueue) flush(batch []sdk.ReadOnlySpan) {
	for {
		select {
		case s := <-q.waiting:
			if batch = append(batch, s); len(batch) == spansAtA {
				q.send(batch)
				batch = batch[:0]
			}
		default:
			q.send(batch)
			return
		}
	}
}

// send gives spans to the collector, or gives them up.
func (q *spanQueue) send(batch []sdk.ReadOnlySpan) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(q.ctx, exportTime)
	defer cancel()
	err := q.to.ExportSpans(ctx, batch)
	if err != nil {
		q.dropped.Add(int64(len(batch)))
	}
	switch {
	case err != nil && !q.failing:
		q.log.Warn("traces are dropped, as the collector does not take them", "reason", err.Error())
	case err == nil && q.failing:
		q.log.Info("the collector takes traces again", "dropped", q.dropped.Load())
	}
	q.failing = err != nil
}

// ForceFlush is not needed: the queue is emptied at the end.
func (q *spanQueue) ForceFlush(context.Context) error { return nil }

// Shutdown sends what is left until ctx ends, and counts what could not be sent.
func (q *spanQueue) Shutdown(ctx context.Context) error {
	if q.closed.Swap(true) {
		return nil
	}
	close(q.ends)
	select {
	case <-q.done:
	case <-ctx.Done():
		q.cancel() // what is on its way is given up
		<-q.done
	}
	q.cancel()
	if n := q.dropped.Load(); n > 0 {
		q.log.Warn("some of the traces were dropped", "dropped", n)
	}
	return q.to.Shutdown(context.WithoutCancel(ctx))
}
