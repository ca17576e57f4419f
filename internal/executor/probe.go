package executor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// RequestLedger keeps the rows of requests that belong to no run.
type RequestLedger interface {
	OpenRequest(ctx context.Context, now patra.Instant, open patra.RequestOpen) (int64, error)
	CloseRequest(ctx context.Context, id int64, x patra.Exchange) error
}

// ErrCannotProbe means that asking how much there is would already be the harvest: the source cannot count, and a first
// page of it cannot be asked for twice.
var ErrCannotProbe = errors.New("the source cannot say how much there is without beginning a walk")

// probeAttempts bounds how patiently a count is asked for: planning can do without.
const probeAttempts = 3

// Prober asks providers how much there is. Its requests go the way of all others: through the gate, with a row of their
// own before they are sent, and again as often as the source allows. It must not be copied.
type Prober struct {
	Store  RequestLedger
	Gate   Gate
	Client func(*source.Spec, string) *http.Client
	Vars   source.Vars
	Log    *slog.Logger
	Allow  func(context.Context) error // asked before each request; nil is always

	Credentials *Credentials // nil: nobody is named
	Tracer      trace.Tracer // nil: nothing is traced
	Propagate   bool         // providers are told which trace a request belongs to

	ready sync.Map // fingerprint + base URL -> *target
}

// Probe asks about one window: for a count, if the source can count, else for a first page.
func (p *Prober) Probe(ctx context.Context, spec *source.Spec, query query.Node, window patra.Window, baseURL string) (patra.Probe, error) {
	if !spec.CanCount() && spec.Stateful() {
		return patra.Probe{}, ErrCannotProbe
	}
	call, err := p.call(spec, query, window, baseURL)
	if err != nil {
		return patra.Probe{}, err
	}
	t, err := p.target(spec, baseURL)
	if err != nil {
		return patra.Probe{}, err
	}
	var probe patra.Probe
	err = p.askAgain(ctx, t, baseURL, call, func(got response) (err error) {
		probe, err = parseCount(t.program, got)
		return err
	})
	return probe, err
}

// Precision asks a provider how finely it filters, where the source knows how to ask.
func (p *Prober) Precision(ctx context.Context, spec *source.Spec, baseURL string) (patra.Unit, error) {
	call, err := spec.BuildPrecision(baseURL, p.Vars)
	if err != nil {
		return "", err
	}
	t, err := p.target(spec, baseURL)
	if err != nil {
		return "", err
	}
	var unit patra.Unit
	err = p.askAgain(ctx, t, baseURL, call, func(got response) (err error) {
		unit, err = t.program.Precision(got.status, got.body)
		return err
	})
	return unit, err
}

// askAgain sends one request as often as it takes and the source allows, and has its answer read.
func (p *Prober) askAgain(ctx context.Context, t *sourceClient, baseURL string, call source.Call, read func(response) error) error {
	w, spec := p.wire(baseURL), t.program.Spec
	for attempt := 1; ; attempt++ {
		err := p.ask(ctx, w, t, call, read)
		failed, ok := errors.AsType[*pageError](err)
		if !ok {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, err := w.retryDelay(ctx, spec, failed, attempt) // others are told to wait, even if this was the last attempt
		if err != nil {
			return err
		}
		if failed.fault.Level != patra.LevelRetry || attempt >= min(spec.Retry.MaxAttempts, probeAttempts) && !failed.renewed(attempt) {
			return failed.fault
		}
		p.Log.InfoContext(ctx, "count is asked for again", "source", spec.Source, "endpoint", spec.Endpoint, "op", string(spec.Operation), "code", failed.fault.Code, "attempt", attempt)
		if err := w.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *Prober) call(spec *source.Spec, query query.Node, window patra.Window, baseURL string) (source.Call, error) {
	if spec.CanCount() {
		return spec.BuildCount(query, window, baseURL, p.Vars)
	}
	return spec.Build(query, window, spec.First(), baseURL, p.Vars)
}

// target finds or makes the program and the client for a source.
func (p *Prober) target(spec *source.Spec, baseURL string) (*sourceClient, error) {
	snap, err := spec.Snapshot()
	if err != nil {
		return nil, err
	}
	key := snap.Fingerprint + " " + baseURL
	if t, ok := p.ready.Load(key); ok {
		return t.(*sourceClient), nil
	}
	made, err := newTarget(spec, baseURL, p.Client)
	if err != nil {
		return nil, err
	}
	t, _ := p.ready.LoadOrStore(key, made)
	return t.(*sourceClient), nil
}

func (p *Prober) wire(baseURL string) transport {
	return transport{gate: p.Gate, rows: p.Store, dial: p.Client, credentials: p.Credentials, vars: p.Vars, base: baseURL, allow: p.Allow, grants: newGrants(), tracer: p.Tracer, propagate: p.Propagate}
}

// ask sends one request and has read what it says.
func (p *Prober) ask(ctx context.Context, w transport, t *sourceClient, call source.Call, read func(response) error) error {
	spec := t.program.Spec
	if _, err := w.identify(ctx, spec); err != nil { // a token is asked for before the turn of the request comes
		return notSentError(err)
	}
	_, err := w.sendStandalone(ctx, w.costOf(spec), patra.RequestProbe, func(requestID string, pass *permit) (response, error) {
		got, err := w.send(ctx, spec, t.client, call, requestID, pass)
		if err == nil {
			if err = read(got); err != nil {
				err = got.failed(patra.AsFault(err))
			}
		}
		return got, err
	})
	return err
}

// parseCount reads the answer to a probe.
func parseCount(program *source.Program, got response) (patra.Probe, error) {
	spec := program.Spec
	probe := patra.Probe{Trust: spec.Response.Total.Trust, Bytes: int64(len(got.body))}
	if spec.CanCount() {
		page, err := program.CountPage(got.status, got.body)
		probe.Total = page.Total
		if err == nil && spec.ShowsEvidence() {
			probe.Shown = shownOn(program, &page, got)
		}
		return probe, err
	}
	page, err := program.Read(got.status, got.body, spec.First())
	if err != nil && patra.AsFault(err).Code != patra.CodeDeepPaging { // that there is more than can be had is an answer
		return probe, err
	}
	probe.Items, probe.HasNext, probe.Total = len(page.Items), page.HasNext || err != nil, page.Total
	for _, raw := range page.Items {
		o, err := program.Item(raw, got.exchange.SentAt)
		if err == nil && o.UpdatedAt != nil && (probe.Last == nil || *o.UpdatedAt > *probe.Last) {
			probe.Last = o.UpdatedAt
		}
		if err == nil && spec.ShowsEvidence() {
			probe.Shown = append(probe.Shown, shownBy(o)...)
		}
	}
	return probe, nil
}

// shownOn are the records of an answer that have a time.
func shownOn(program *source.Program, page *source.Page, got response) (shown patra.ShownIDs) {
	for o, err := range program.Records(page, got.exchange.SentAt) {
		if err == nil {
			shown = append(shown, shownBy(o)...)
		}
	}
	return shown
}

func shownBy(o patra.Observation) patra.ShownIDs {
	if o.ID == "" || o.UpdatedAt == nil {
		return nil
	}
	return patra.ShownIDs{{ID: o.ID, At: *o.UpdatedAt}}
}
