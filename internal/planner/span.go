package planner

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"patra"
)

// The names of spans, each below the one before it. Whoever cuts more of a plan later, or cuts a slice again, has a span
// below the first.
const (
	SpanTrigger  = "PlannerTrigger"
	SpanCompile  = "CompileSpec"
	SpanSlice    = "Slice"
	SpanContinue = "Continue"
	SpanReslice  = "Reslice"
)

// sliceSpans is how many slices of a plan have a span: the first ones. A plan may have a hundred thousand, and how many it
// has is an attribute.
const sliceSpans = 100

var nowhere = noop.NewTracerProvider().Tracer("")

// span begins a span.
func (p *Planner) span(ctx context.Context, name string, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	if p.Tracer == nil {
		return nowhere.Start(ctx, name)
	}
	return p.Tracer.Start(ctx, name, trace.WithAttributes(attrs...))
}

// triggered begins the span of a request.
func (p *Planner) triggered(ctx context.Context, req Request) (context.Context, trace.Span) {
	if p.Tracer == nil {
		return p.span(ctx, SpanTrigger)
	}
	return p.span(ctx, SpanTrigger, attribute.String("source", req.Source.Code), attribute.String("endpoint", req.Endpoint), attribute.String("op", string(cmp.Or(req.Operation, patra.Harvest))),
		attribute.String("trigger", cmp.Or(req.By.Type, patra.TriggerManual)), attribute.String("job", req.By.Job), attribute.Bool("force", req.Force))
}

// under is a context below the trace of a stored plan.
func under(ctx context.Context, plan patra.Plan) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": plan.Trace})
}

// traceparent names the span of a context for those who come later; empty if there is none.
func traceparent(ctx context.Context) string {
	into := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, into)
	return into["traceparent"]
}

// found says that a trigger led to a plan of an earlier one: what it sets in motion is in the trace of that.
func found(span trace.Span, mine string, plan patra.Plan) {
	if plan.Trace == "" || plan.Trace == mine || !span.IsRecording() {
		return
	}
	if first := trace.SpanContextFromContext(under(context.Background(), plan)); first.IsValid() {
		span.AddLink(trace.Link{SpanContext: first})
	}
}

// finish ends the span of a plan with what came of it.
func finish(span trace.Span, res *Result, err error) {
	if span.IsRecording() {
		if res != nil {
			plan := res.Plan
			span.SetAttributes(attribute.Int64("schedule_instance_id", plan.InstanceID), attribute.Int64("plan_id", plan.ID), attribute.String("endpoint", plan.Endpoint), attribute.Int("priority", plan.Priority),
				attribute.String("window", plan.Window.String()), attribute.String("status", string(plan.Status)), attribute.String("reason", plan.Reason),
				attribute.Int64("slices", res.Added), attribute.Int64("slices_of_plan", plan.SliceCount), attribute.Int("probes", res.Probes), attribute.Int("retried", res.Retried))
		}
		fail(span, err)
	}
	span.End()
}

// fail says that something went wrong. The words are in the log and in the tables: they may have come from a provider.
func fail(span trace.Span, err error) {
	if err == nil || !span.IsRecording() {
		return
	}
	code := "ERROR"
	if problems, ok := errors.AsType[patra.Problems](err); ok && len(problems) > 0 {
		code = problems[0].Code
	}
	span.SetAttributes(attribute.String("error.code", code))
	span.SetStatus(codes.Error, code)
}

// sliceTracer gives the first slices of a plan a span each.
type sliceTracer struct {
	planner *Planner
	left    int
	since   time.Time // the cutting of the next one began
}

func (p *Planner) trail(cut int64) sliceTracer {
	if p.Tracer == nil {
		return sliceTracer{}
	}
	return sliceTracer{planner: p, left: int(max(0, sliceSpans-cut)), since: time.Now()}
}

// add tells of slices that were cut.
func (t *sliceTracer) add(ctx context.Context, plan patra.Plan, group []patra.Slice) {
	for _, sl := range group {
		if t.left == 0 {
			return
		}
		t.left--
		_, span := t.planner.Tracer.Start(ctx, SpanSlice, trace.WithTimestamp(t.since))
		if span.IsRecording() {
			span.SetAttributes(attribute.Int64("plan_id", plan.ID), attribute.String("source", plan.Source), attribute.String("endpoint", plan.Endpoint), attribute.String("op", string(plan.Operation)),
				attribute.String("window", sl.Window.String()), attribute.String("strategy", string(sl.Spec.Strategy)), attribute.String("slice_signature_hash", sl.Spec.Signature()))
			if sl.Estimate != nil {
				span.SetAttributes(attribute.Int64("estimate", sl.Estimate.Records), attribute.String("grounds", string(sl.Estimate.Grounds)))
			}
		}
		span.End()
		t.since = time.Now()
	}
}
