package executor

import (
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"patra"
)

// BenchmarkUntracedPage is what tracing costs a page of whoever traces nothing: a page takes a thousand times as long.
func BenchmarkUntracedPage(b *testing.B) {
	r := &run{Executor: &Executor{}, claim: &patra.Claim{}}
	req := httptest.NewRequest("GET", "http://127.0.0.1/works?x=1", nil)
	b.ReportAllocs()
	for b.Loop() {
		ctx, page := r.batchSpan(b.Context(), patra.OpenPage{})
		_, call := r.callSpan(ctx, req, nil)
		endCall(call, &response{}, nil)
		_, writing := tracerOf(r.Executor.Tracer).Start(trace.ContextWithSpan(ctx, page), SpanCommit)
		writing.End()
		keptSpan(page, patra.PageResult{}, patra.Counts{})
		page.End()
	}
}
