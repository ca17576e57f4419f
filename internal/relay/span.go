package relay

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// SpanRelay is the name of the span of one attempt to send events to a sink. It is a trace of its own: what is sent at once
// comes from many plans.
const SpanRelay = "Relay"

var nowhere = noop.NewTracerProvider().Tracer("")

// span begins the span of an attempt.
func (t *leaderTerm) span(ctx context.Context, events int) (context.Context, trace.Span) {
	if t.Tracer == nil {
		return nowhere.Start(ctx, SpanRelay)
	}
	return t.Tracer.Start(ctx, SpanRelay, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attribute.String("sink", t.sink.Name), attribute.Int("events", events), attribute.Int64("after", t.role.Position)))
}

// sentSpan ends it.
func sentSpan(span trace.Span, errs []error) {
	if span.IsRecording() {
		taken := 0
		for _, err := range errs {
			if err == nil {
				taken++
			}
		}
		span.SetAttributes(attribute.Int("published", taken), attribute.Int("failed", len(errs)-taken))
		if taken < len(errs) {
			span.SetStatus(codes.Error, "NOT_TAKEN")
		}
	}
	span.End()
}
