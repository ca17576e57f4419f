package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/source"
)

// correlation is the header that ties a request at the provider to our row of it.
const correlation = "X-Ingest-Correlation-Id"

// wire is the way of requests to a provider: through the gate, out, and back as whole answers. Runs and probes share it.
type wire struct {
	gate  Gate
	drain <-chan struct{} // closed when nothing more should be sent; nil is never
}

// answer is a whole response.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	exchange patra.Exchange

	retryAfter time.Duration
}

// digest is what is kept of an answer beside its body.
func (a answer) digest() json.RawMessage {
	kept := map[string]any{"status": a.status}
	for _, name := range []string{"Content-Type", "Date", "Retry-After", "X-Rate-Limit-Limit", "X-Rate-Limit-Interval", "X-Api-Pool"} {
		if v := a.header.Get(name); v != "" {
			kept[name] = v
		}
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return b
}

// failedPage is a request that gave no page, with all that is known of it.
type failedPage struct {
	fault      *patra.Fault
	exchange   patra.Exchange
	response   json.RawMessage
	retryAfter time.Duration
}

// Error implements error.
func (f *failedPage) Error() string { return f.fault.Error() }

// Unwrap gives the fault.
func (f *failedPage) Unwrap() error { return f.fault }

// reserve charges one request to the gate. It tells when it was charged, and how long it has to wait from then.
func (w wire) reserve(ctx context.Context, spec *source.Spec) (at patra.Instant, wait time.Duration, err error) {
	wait, err = w.gate.Reserve(ctx, spec.Source, spec.Rate.PerSecond, spec.Rate.Burst)
	return patra.InstantOf(time.Now()), wait, err
}

// await waits until a grant. If a cooldown began meanwhile, the grant is void and a new one is asked for: all who waited
// would otherwise come at its very end.
func (w wire) await(ctx context.Context, spec *source.Spec, granted patra.Instant) error {
	wait := time.Until(granted.Time())
	for {
		if err := w.sleep(ctx, wait); err != nil {
			return err
		}
		left, err := w.gate.Remaining(ctx, spec.Source)
		if err != nil || left == 0 {
			return err
		}
		if _, wait, err = w.reserve(ctx, spec); err != nil {
			return err
		}
	}
}

// sleep waits, unless the work in hand is to stop.
func (w wire) sleep(ctx context.Context, d time.Duration) error {
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

func (w wire) draining() bool {
	select {
	case <-w.drain:
		return true
	default:
		return false
	}
}

// send sends a request that was granted and reads the whole answer.
func (w wire) send(ctx context.Context, spec *source.Spec, client *http.Client, call source.Call, requestID string) (a answer, err error) {
	req, err := request(ctx, call, requestID)
	if err != nil {
		return a, err
	}
	if spec.Stateful() {
		egress.Once(req)
	}
	a.exchange.SentAt = patra.InstantOf(time.Now())
	resp, err := client.Do(req)
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = egress.ReadBody(resp, spec.HTTP.MaxBody)
		resp.Body.Close()
	}
	a.exchange.FinishedAt = patra.InstantOf(time.Now())
	a.exchange.Status, a.exchange.Bytes, a.exchange.Outcome = a.status, int64(len(a.body)), patra.OutcomeOK
	if err != nil {
		return a, a.failed(wireFault(egress.Cause(err), a.status))
	}
	a.retryAfter = source.RetryAfter(a.status, a.header, time.Now())
	return a, nil
}

func request(ctx context.Context, call source.Call, requestID string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	for k, v := range call.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set(correlation, requestID)
	if len(call.Body) == 0 {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	return req, nil
}

// rest is how long to wait after the n-th failure of a request. When the provider asks us to slow down, or says when it
// will be there again, everybody waits: to a provider, all our workers are one client.
func (w wire) rest(ctx context.Context, spec *source.Spec, failed *failedPage, n int) (time.Duration, error) {
	wait := max(backoff(spec.Retry.Backoff, n), failed.retryAfter)
	if failed.fault.Code != patra.CodeRateLimited && failed.retryAfter == 0 {
		return wait, nil
	}
	return wait, w.gate.Cooldown(ctx, spec.Source, wait)
}

func (a *answer) failed(f *patra.Fault) error {
	a.exchange.Outcome, a.exchange.Level = outcomes[f.Code], f.Level
	if a.exchange.Outcome == "" {
		a.exchange.Outcome = patra.OutcomeHTTPError
	}
	return &failedPage{fault: f, exchange: a.exchange, response: a.digest(), retryAfter: a.retryAfter}
}

var outcomes = map[string]string{
	patra.CodeNetwork: patra.OutcomeNetError, patra.CodeTimeout: patra.OutcomeTimeout, patra.CodeTooLarge: patra.OutcomeTooLarge, patra.CodeBadBody: patra.OutcomeCut,
}

// wireFault classifies a failure below HTTP. The error text never contains the URL.
func wireFault(err error, status int) *patra.Fault {
	f := &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeNetwork, Status: status, Text: err.Error(), Err: err}
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, egress.ErrTooLarge):
		f.Level, f.Code = patra.LevelRequest, patra.CodeTooLarge
	case errors.Is(err, egress.ErrRefused):
		f.Level = patra.LevelRequest
	case errors.Is(err, context.DeadlineExceeded) || (isNet && netErr.Timeout()):
		f.Code = patra.CodeTimeout
	case errors.Is(err, io.ErrUnexpectedEOF) && status != 0:
		f.Code, f.Text = patra.CodeBadBody, "the body ended before its announced length"
	}
	return f
}
