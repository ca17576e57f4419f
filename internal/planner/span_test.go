package planner

import (
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/store/storetest"
)

// tracedYard is a yard whose planner is traced.
func tracedYard(t *testing.T, code string) (*yard, *tracetest.SpanRecorder) {
	y, spans := newYard(t, storetest.Engines()[0], code), tracetest.NewSpanRecorder()
	y.planner.Tracer = sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
	y.planner.Prober = nil
	return y, spans
}

func named(spans *tracetest.SpanRecorder, name string) (found []sdk.ReadOnlySpan) {
	for _, s := range spans.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
}

// A plan of thousands of slices has a span for the first hundred, and says how many there are; also when it is cut in many
// parts.
func TestAPlanOfManySlicesHasFewSpans(t *testing.T) {
	y, spans := tracedYard(t, "crossref")
	e := y.file.Endpoints["works"]
	e.Window.Size, e.Window.Precision, e.Window.Align = patra.Period{Clock: time.Hour}, patra.UnitHour, patra.UnitHour
	y.file.Endpoints["works"] = e
	y.planner.Config.Inventory = 60
	res := y.plan(y.ask(patra.Backfill, -12, 0))
	for i := 0; res.Plan.Status != patra.Ready; i++ {
		if i == 100 {
			t.Fatal("it is never cut to its end")
		}
		y.work(res.Plan.CursorID, 60)
		plan, err := y.Store.Plan(t.Context(), res.Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		if res, err = y.planner.Continue(t.Context(), y.Clock.Instant(), plan); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(named(spans, SpanSlice)); res.Plan.SliceCount != 12*24 || n != sliceSpans {
		t.Errorf("%d slices have %d spans", res.Plan.SliceCount, n)
	}
	first, more := named(spans, SpanTrigger), named(spans, SpanContinue)
	if len(first) != 1 || len(more) < 4 {
		t.Fatalf("%d triggers, %d continuations", len(first), len(more))
	}
	for _, s := range more {
		if s.Parent().SpanID() != first[0].SpanContext().SpanID() {
			t.Error("what is cut later is not below the plan")
		}
	}
}

// Work that is cut again, tried again or asked for again stays in the trace of its plan; and who asks again is told which.
func TestALaterTriggerPointsAtTheTraceOfThePlan(t *testing.T) {
	y, spans := tracedYard(t, "crossref")
	res := y.plan(y.ask(patra.Harvest, 0, 3))
	y.fail(res.Plan.CursorID, 1)
	again := y.plan(y.ask(patra.Harvest, 0, 3))
	triggers := named(spans, SpanTrigger)
	if again.Plan.ID != res.Plan.ID || again.Retried != 1 || len(triggers) != 2 {
		t.Fatalf("plan %d, %d tried again, %d triggers", again.Plan.ID, again.Retried, len(triggers))
	}
	first, second := triggers[0].SpanContext(), triggers[1]
	if again.Plan.Trace == "" || again.Plan.Trace != res.Plan.Trace || second.SpanContext().TraceID() == first.TraceID() {
		t.Errorf("the plan is of %q, and later of %q", res.Plan.Trace, again.Plan.Trace)
	}
	if links := second.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != first.SpanID() {
		t.Errorf("the second trigger points at %v", links)
	}
	for range 3 {
		if c := y.TryTake(patra.ClaimRequest{CursorID: res.Plan.CursorID}); c == nil || c.Trace != res.Plan.Trace || c.InstanceID != res.Plan.InstanceID || c.Task.Priority != res.Plan.Priority {
			t.Errorf("a claim says %+v", c)
		}
	}
}

// What ended early is cut below the plan that it is of.
func TestAResliceIsBelowItsPlan(t *testing.T) {
	y, spans := tracedYard(t, "datacite")
	res := y.plan(y.ask(patra.Harvest, 0, 1))
	c := y.TryTake(patra.ClaimRequest{CursorID: res.Plan.CursorID})
	y.Page(c, 1, true)
	if err := y.Finish(t.Context(), c, y.Clock.Instant(), patra.RunResult{Status: patra.Partial, Early: &patra.EarlyEnd{ScanNo: c.Task.ScanNo, Order: patra.OrderNone, Reslice: patra.Reslice{Reason: patra.ResliceRequests}}}); err != nil {
		t.Fatal(err)
	}
	y.tend()
	cut := named(spans, SpanReslice)
	if len(cut) != 1 || cut[0].Parent().SpanID() != named(spans, SpanTrigger)[0].SpanContext().SpanID() {
		t.Errorf("%v", cut)
	}
}

// Whoever asks within a trace of their own finds the plan in it.
func TestACallersTraceGoesOn(t *testing.T) {
	y, spans := tracedYard(t, "crossref")
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{7}, SpanID: trace.SpanID{8}, TraceFlags: trace.FlagsSampled, Remote: true})
	res, err := y.planner.Plan(trace.ContextWithRemoteSpanContext(t.Context(), caller), y.Clock.Instant(), y.ask(patra.Harvest, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	trigger := named(spans, SpanTrigger)[0]
	if trigger.Parent().SpanID() != caller.SpanID() || trigger.SpanContext().TraceID() != caller.TraceID() {
		t.Errorf("the plan is below %v", trigger.Parent())
	}
	if want := "00-" + caller.TraceID().String() + "-" + trigger.SpanContext().SpanID().String() + "-01"; res.Plan.Trace != want {
		t.Errorf("%s, and it should be %s", res.Plan.Trace, want)
	}
}

// A planner that nobody traces keeps nothing of it.
func TestWithoutATracerAPlanHasNoTrace(t *testing.T) {
	y := newYard(t, storetest.Engines()[0], "crossref")
	if res := y.plan(y.ask(patra.Harvest, 0, 1)); res.Plan.Trace != "" {
		t.Errorf("%q", res.Plan.Trace)
	}
}
