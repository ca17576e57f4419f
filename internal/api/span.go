package api

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// SpanRequest is the name of the span of a request.
const SpanRequest = "API"

// traced gives a request that changes something a span, below that of the caller who names one: a plan that it makes
// belongs to the caller's trace. Looking is not traced: a dashboard looks every few seconds.
func (s *Server) traced(next http.Handler) http.Handler {
	if s.Tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := s.Tracer.Start(ctx, SpanRequest, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", r.Method)))
		defer span.End()
		seen := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		r = r.WithContext(ctx)
		next.ServeHTTP(seen, r)
		span.SetAttributes(attribute.String("http.route", r.Pattern), attribute.Int("http.status", seen.status)) // the pattern, as paths hold what people typed
		if seen.status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(seen.status))
		}
	})
}

// statusRecorder remembers the status of an answer.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers and writes.
func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a http.ResponseController reach what is inside.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
