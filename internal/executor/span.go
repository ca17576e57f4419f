package executor

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"patra"
)

// The names of spans. The trigger is below the plan that made the task, and each of the others is below the one before it.
const (
	SpanTrigger = "ExecutorTrigger"
	SpanPick    = "PickTask"
	SpanRun     = "Run"
	SpanBatch   = "Batch"     // one a page
	SpanCall    = "HTTP Call" // one a request
	SpanCommit  = "Commit"    // of a page
)

// RunID is the attribute by which it is decided whether a run is traced.
const RunID = "run_id"

// nowhere is the tracer of those who trace nothing.
var nowhere = noop.NewTracerProvider().Tracer("")

func tracerOf(t trace.Tracer) trace.Tracer {
	if t == nil {
		return nowhere
	}
	return t
}

// traced begins the spans of a run, below those of its plan, however long ago and wherever that was made. That a task was
// looked for is told when one is found: idle workers would fill a collector with nothing. The spans end with the second
// result.
func (x *Executor) traced(ctx context.Context, c *patra.Claim, looked time.Time) (context.Context, func()) {
	if x.Tracer == nil {
		return ctx, func() {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": c.Trace})
	ctx, trigger := x.Tracer.Start(ctx, SpanTrigger, trace.WithTimestamp(looked), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(lineageOf(c)...))
	ctx, pick := x.Tracer.Start(ctx, SpanPick, trace.WithTimestamp(looked), trace.WithAttributes(
		attribute.String("lease_owner", c.Owner), attribute.Int64("fence", c.Fence), attribute.Int64("attempt", c.Task.Attempts)))
	pick.End()
	ctx, run := x.Tracer.Start(ctx, SpanRun, trace.WithAttributes(lineageOf(c)...))
	return ctx, func() {
		run.End()
		trigger.End()
	}
}

// lineageOf says where a claim comes from and what it is about.
func lineageOf(c *patra.Claim) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("schedule_instance_id", c.InstanceID), attribute.Int64("plan_id", c.Task.PlanID), attribute.Int64("slice_id", c.Slice.ID), attribute.Int64("task_id", c.TaskID), attribute.Int64(RunID, c.RunID),
		attribute.String("source", c.Task.Source), attribute.String("endpoint", c.Task.Endpoint), attribute.String("op", string(c.Task.Operation)), attribute.Int("priority", c.Task.Priority),
		attribute.String("window", c.Slice.Window.String()),
	}
}

// batchSpan begins the span of a page. A paging token is told as a hash: some are as good as a session.
func (r *run) batchSpan(ctx context.Context, page patra.OpenPage) (context.Context, trace.Span) {
	ctx, span := tracerOf(r.Executor.Tracer).Start(ctx, SpanBatch)
	if span.IsRecording() {
		c := r.claim
		span.SetAttributes(attribute.Int64(RunID, c.RunID), attribute.Int64("task_id", c.TaskID), attribute.Int64("batch_no", page.BatchNo), attribute.Int64("batch_id", page.BatchID),
			attribute.String("correlation_id", patra.CorrelationID(c.RunID, page.BatchNo)), attribute.String("source", c.Task.Source), attribute.String("endpoint", c.Task.Endpoint), attribute.String("op", string(c.Task.Operation)),
			attribute.Int("priority", c.Task.Priority), attribute.String("phase", string(page.Phase)), attribute.Int64("scan", page.ScanNo), attribute.Int64("page", page.Ordinal), attribute.Int64("gate_wait_us", page.Waited))
		if page.Before != "" {
			span.SetAttributes(attribute.String("token", patra.HashBytes([]byte(page.Before))[:16]))
		}
	}
	return ctx, span
}

// keptSpan says how a page went that is written now.
func keptSpan(span trace.Span, res patra.PageResult, n patra.Counts) {
	if span.IsRecording() {
		span.SetAttributes(attribute.String("status", string(patra.Succeeded)), attribute.Bool("hasNext", res.HasNext), attribute.Int("http.status", res.Exchange.Status), attribute.Int64("bytes", res.Exchange.Bytes),
			attribute.Int64("records", n.Total()), attribute.Int64("quarantined", n.Quarantine))
	}
}

// failedSpan says what is wrong, in our words and never in those of a provider.
func failedSpan(span trace.Span, err error) {
	if err == nil || !span.IsRecording() {
		return
	}
	if errors.Is(err, errDrained) || errors.Is(err, context.Canceled) {
		span.SetAttributes(attribute.String("status", "STOPPED"))
		return
	}
	code := "ERROR"
	if held, ok := errors.AsType[*heldError](err); ok {
		code = held.Code
	} else if f, ok := errors.AsType[*patra.Fault](err); ok {
		code = f.Code
		span.SetAttributes(attribute.String("error.level", string(f.Level)))
		if f.Status != 0 {
			span.SetAttributes(attribute.Int("http.status", f.Status))
		}
	}
	span.SetAttributes(attribute.String("status", string(patra.Failed)), attribute.String("error.code", code))
	span.SetStatus(codes.Error, code)
}

// endedSpan says how a run ended.
func endedSpan(ctx context.Context, end patra.RunResult) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	if end.Fault != nil {
		failedSpan(span, end.Fault)
	}
	span.SetAttributes(attribute.String("status", string(end.Status)))
	if end.WaitCode != "" {
		span.SetAttributes(attribute.String("wait", end.WaitCode))
	}
}

// callSpan begins the span of a request, and tells the provider of it where that is wanted. Of the address it has what
// stands before a question mark: behind it there are keys and people.
func (w transport) callSpan(ctx context.Context, req *http.Request, who *requestAuth) (context.Context, trace.Span) {
	ctx, span := tracerOf(w.tracer).Start(ctx, SpanCall, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		at := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}
		span.SetAttributes(attribute.String("http.request.method", req.Method), attribute.String("server.address", req.URL.Hostname()), attribute.String("url.full", patra.Mask(who.redact(at.String()))))
	}
	if w.propagate {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	}
	return ctx, span
}

// endCall says what came back.
func endCall(span trace.Span, a *response, err error) {
	if span.IsRecording() {
		if a.status != 0 {
			span.SetAttributes(attribute.Int("http.status", a.status), attribute.Int64("bytes", a.exchange.Bytes))
		}
		failedSpan(span, err)
		if err == nil && a.status >= http.StatusBadRequest {
			span.SetStatus(codes.Error, http.StatusText(a.status))
		}
	}
	span.End()
}
