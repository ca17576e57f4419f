package cli

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"patra/internal/config"
	"patra/internal/observe"
)

// tracer makes the spans of this process; nil if nobody wants them.
func (a *app) tracer(c config.Config) trace.Tracer {
	if !c.Trace.On() {
		return nil
	}
	a.tracing.Do(func() {
		log := a.logger(c)
		made, err := observe.NewTraces(context.Background(), observe.TraceOptions{URL: c.Trace.URL, Sample: c.Trace.Sample.Fraction(), Version: a.version, Log: log})
		if err != nil { // the address was looked at before, so that this is about its surroundings; the work goes on without
			log.Warn("nothing is traced", "reason", err.Error())
			return
		}
		a.traces = made
	})
	if a.traces == nil {
		return nil
	}
	return a.traces.Tracer()
}

// flushTraces sends what was traced and not sent yet.
func (a *app) flushTraces(ctx context.Context) {
	if a.traces != nil {
		a.traces.Close(ctx)
	}
}
