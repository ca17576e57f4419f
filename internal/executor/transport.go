package executor

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/egress"
	"patra/internal/source"
)

// correlation is the header that ties a request at the provider to our row of it. What it holds means nothing to others,
// unless somebody wants them to know more.
const correlation = "X-Ingest-Correlation-Id"

// transport is the way of requests to a provider: through the gate, out, and back as whole answers. Runs and probes share it.
type transport struct {
	gate        Gate
	rows        RequestLedger
	dial        func(*source.Spec, string) *http.Client
	credentials *Credentials
	vars        source.Vars
	base        string                      // what stands in for the source's own address
	drain       <-chan struct{}             // closed when nothing more should be sent; nil is never
	allow       func(context.Context) error // asked before a request that belongs to no run; nil is always
	grants      *reservations
	tracer      trace.Tracer // nil: nothing is traced
	propagate   bool         // the provider is told which trace a request belongs to
}

// response is a whole response.
type response struct {
	status   int
	header   http.Header
	body     []byte
	sum      string            // the hash of the body as it came; empty: there is none
	clean    bool              // there were no secrets in it
	kept     *patra.StoredBody // nil: it is not kept
	exchange patra.Exchange

	retryAfter time.Duration
	auth       source.Auth
	who        *requestAuth // nil: nobody was named
}

// pageError is a request that gave no page, with all that is known of it.
type pageError struct {
	fault      *patra.Fault
	exchange   patra.Exchange
	response   json.RawMessage
	sum        string
	kept       *patra.StoredBody
	retryAfter time.Duration
}

// Error implements error.
func (f *pageError) Error() string { return f.fault.Error() }

// Unwrap gives the fault.
func (f *pageError) Unwrap() error { return f.fault }

// sent reports whether the request left us. One that did not has consumed nothing.
func (f *pageError) sent() bool { return f.exchange.SentAt != 0 }

// sleep waits, unless the work in hand is to stop.
func (w transport) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.drain:
		return errDrained
	case <-time.After(d):
		return nil
	}
}

func (w transport) draining() bool {
	select {
	case <-w.drain:
		return true
	default:
		return false
	}
}

// send sends a request that was granted and reads the whole answer. Who we are is added last: what is kept of a request
// was made before, and holds no secret.
func (w transport) send(ctx context.Context, spec *source.Spec, client *http.Client, call source.Call, name string, p *permit) (response, error) {
	who, err := w.identify(ctx, spec)
	if err != nil {
		return response{}, notSentError(err)
	}
	req, err := request(ctx, call, name)
	if err != nil {
		return response{}, err
	}
	if err := who.show(req, spec, call.Body); err != nil {
		return response{}, notSentError(err)
	}
	if spec.Stateful() {
		egress.Once(req)
	}
	a, err := p.exchange(ctx, req, client, spec, who)
	if len(a.body) > 0 {
		a.sum = patra.HashBytes(a.body) // as it came
	}
	a.body, a.clean = who.hideBody(a.body)
	return a, err
}

// exchange sends a finished request and reads the whole answer.
func (p *permit) exchange(ctx context.Context, req *http.Request, client *http.Client, spec *source.Spec, who *requestAuth) (a response, err error) {
	a.auth, a.who = spec.Auth, who
	ctx, span := p.callSpan(ctx, req, who)
	defer func() { endCall(span, &a, err) }()
	if err := p.checkLateness(ctx); err != nil {
		return a, err
	}
	defer p.renewSlot(ctx)()
	a.exchange.SentAt = patra.InstantOf(time.Now())
	resp, err := client.Do(p.guard(ctx, req))
	if p.err != nil {
		return a, p.err
	}
	a.exchange.SentAt = max(a.exchange.SentAt, p.left)
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = egress.ReadBody(resp, spec.HTTP.MaxBody)
		resp.Body.Close()
	}
	a.exchange.FinishedAt = patra.InstantOf(time.Now())
	a.exchange.Status, a.exchange.Bytes, a.exchange.Outcome = a.status, int64(len(a.body)), patra.OutcomeOK
	if err != nil {
		fault := wireFault(egress.Cause(err), a.status)
		// The provider is not there, or what it says about how we ask has arrived, and only the rest has not.
		if (a.status != 0 || fault.Level == patra.LevelRetry) && ctx.Err() == nil {
			if err := p.reportToGate(ctx, spec, &a); err != nil {
				return a, err
			}
		}
		return a, a.failed(fault)
	}
	if err := p.reportToGate(ctx, spec, &a); err != nil && a.status != http.StatusOK {
		return a, err // a page in hand is worth more than the count of it
	}
	return a, nil
}

// reportToGate lets the gate know what an answer says about how we ask.
func (p *permit) reportToGate(ctx context.Context, spec *source.Spec, a *response) error {
	now, took := time.Now(), time.Duration(a.exchange.FinishedAt-a.exchange.SentAt)*time.Microsecond
	told, wait := spec.Rate.Headers.Parse(a.header, now)
	told.Quota = spec.ParseQuotaHeaders(a.header, now)
	wait = max(wait, source.RetryAfter(a.status, a.header, now, spec.Retry.AfterOn...))
	a.exchange.RetryAfter, a.retryAfter = wait, withJitter(wait, mathrand.Float64())
	return p.gate.Report(ctx, p.RateLimit, patra.RateFeedback{Status: a.status, RetryAfter: a.retryAfter, Took: took, Told: told})
}

// sendStandalone sends a request that belongs to no run: through the gate, and with a row of its own before it is sent. Waiting
// comes before the row: one that is called off while it waits was never a request.
func (w transport) sendStandalone(ctx context.Context, t requestCost, kind string, send func(requestID string, p *permit) (response, error)) (response, error) {
	g, err := w.reserve(ctx, t)
	if err != nil {
		return response{}, err
	}
	p, err := w.acquirePermit(ctx, t, g.moment())
	if err != nil {
		return response{}, err
	}
	defer p.release()
	if w.allow != nil {
		if err := w.allow(ctx); err != nil {
			return response{}, err
		}
	}
	open := patra.RequestOpen{RequestID: rand.Text(), Kind: kind, GateKey: g.key, Cost: int64(t.cost), Waited: g.wait.Microseconds(), AcquiredAt: g.at}
	id, err := w.rows.OpenRequest(ctx, patra.InstantOf(time.Now()), open)
	if err != nil {
		return response{}, err
	}
	got, err := send(open.RequestID, p)
	if failed, ok := errors.AsType[*pageError](err); ok {
		got.exchange = failed.exchange
	}
	// What became of a request is written down also when nobody waits for its answer any more.
	if lost := w.rows.CloseRequest(context.WithoutCancel(ctx), id, got.exchange); lost != nil {
		return got, lost
	}
	return got, err
}

func request(ctx context.Context, call source.Call, name string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	for k, v := range call.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set(correlation, name)
	if len(call.Body) == 0 {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	return req, nil
}

// retryDelay is how long to wait after the n-th failure of a request. When the provider asks us to slow down, or says when it
// will be there again, everybody waits: to a provider, all our workers are one client.
func (w transport) retryDelay(ctx context.Context, spec *source.Spec, failed *pageError, n int) (time.Duration, error) {
	wait := max(backoff(spec.Retry.Backoff, n), failed.retryAfter)
	if failed.toldToWait() {
		wait = failed.retryAfter // it knows better than we do
	}
	if failed.fault.Code != patra.CodeRateLimited && failed.retryAfter == 0 {
		return wait, nil
	}
	return wait, w.gate.Cooldown(ctx, w.costOf(spec).Key, wait)
}

// failed makes a failed page of an answer and what is wrong with it. Every fault of a provider comes through here, so
// this is where it loses what nobody may see.
func (a *response) failed(f *patra.Fault) error {
	told := a.who.judge(*f, a.status)
	if masked := patra.Mask(told.Text); masked != told.Text { // a provider's words may name people
		told.Text, told.Err = masked, nil
	}
	if told.Code == patra.CodeAuth && a.who == nil && a.auth.Optional {
		told.Text = a.auth.NotSent()
	}
	a.exchange.Outcome, a.exchange.Level = outcomes[told.Code], told.Level
	if a.exchange.Outcome == "" {
		a.exchange.Outcome = patra.OutcomeHTTPError
	}
	return &pageError{fault: &told, exchange: a.exchange, response: a.digest(), sum: a.sum, kept: a.kept, retryAfter: a.retryAfter}
}

// notSentError makes a failed page of what kept a request from being sent. Failures of the store or the gate are not the
// provider's, and stay what they are.
func notSentError(err error) error {
	a := response{exchange: patra.Exchange{FinishedAt: patra.InstantOf(time.Now())}}
	if failed, ok := errors.AsType[*pageError](err); ok { // of another request, without which this one cannot be
		a.retryAfter = failed.retryAfter
		return a.failed(failed.fault)
	}
	if fault, ok := errors.AsType[*patra.Fault](err); ok {
		return a.failed(fault)
	}
	return err
}

var outcomes = map[string]string{
	patra.CodeNetwork: patra.OutcomeNetError, patra.CodeCertificate: patra.OutcomeNetError, patra.CodeTimeout: patra.OutcomeTimeout, patra.CodeTooLarge: patra.OutcomeTooLarge, patra.CodeBadBody: patra.OutcomeCut,
}

// wireFault classifies a failure below HTTP. The error text never contains the URL.
func wireFault(err error, status int) *patra.Fault {
	f := &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Status: status, Text: err.Error(), Err: err}
	netErr, isNet := errors.AsType[net.Error](err)
	cert, isCert := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, egress.ErrTooLarge):
		f.Code = patra.CodeTooLarge
	case errors.Is(err, egress.ErrEncoding):
		f.Code, f.Path = patra.CodeEncoding, "Content-Encoding"
	case errors.Is(err, egress.ErrRefused):
		f.Level = patra.LevelRequest
	case isCert:
		f.Code, f.Text = patra.CodeCertificate, certificateFault(cert)
	case errors.Is(err, context.DeadlineExceeded) || (isNet && netErr.Timeout()):
		f.Code = patra.CodeTimeout
	case errors.Is(err, io.ErrUnexpectedEOF) && status != 0:
		f.Code, f.Text = patra.CodeBadBody, "the body ended before its announced length"
	}
	return f
}
