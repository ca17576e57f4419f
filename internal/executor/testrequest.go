package executor

import (
	"context"
	"errors"

	"patra"
	"patra/internal/source"
)

// TestResponse is the answer to one request, for somebody who wants to see how a source answers.
type TestResponse struct {
	source.Page
	Status  int
	Bytes   int
	Headers map[string]string // as far as anybody may see them
	Body    []byte            // without our secrets
}

// Try sends one request that belongs to no plan, and reads the page that comes. What is wrong is a *patra.Fault.
func (p *Prober) Try(ctx context.Context, program *source.Program, call source.Call, baseURL string) (TestResponse, error) {
	w, spec := p.wire(baseURL), program.Spec
	for attempt := 1; ; attempt++ {
		tried, err := p.try(ctx, w, program, call)
		failed, ok := errors.AsType[*pageError](err)
		if !ok {
			return tried, err
		}
		if !failed.renewed(attempt) {
			return tried, failed.fault
		}
		p.Log.InfoContext(ctx, "page is asked for again", "source", spec.Source, "endpoint", spec.Endpoint, "op", string(spec.Operation), "code", failed.fault.Code, "attempt", attempt)
	}
}

func (p *Prober) try(ctx context.Context, w transport, program *source.Program, call source.Call) (tried TestResponse, err error) {
	spec := program.Spec
	if _, err := w.identify(ctx, spec); err != nil {
		return tried, notSentError(err)
	}
	_, err = w.sendStandalone(ctx, w.costOf(spec), patra.RequestProbe, func(requestID string, pass *permit) (response, error) {
		got, err := w.send(ctx, spec, p.Client(spec, w.base), call, requestID, pass)
		tried.Status, tried.Bytes, tried.Headers, tried.Body = got.status, len(got.body), got.headers(), got.body
		if err == nil {
			if tried.Page, err = program.Read(got.status, got.body, spec.First()); err != nil {
				err = got.failed(patra.AsFault(err))
			}
		}
		return got, err
	})
	return tried, err
}
