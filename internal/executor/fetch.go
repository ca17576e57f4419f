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

// fetch waits for its turn, sends the announced request and reads the whole answer.
func (r *run) fetch(ctx context.Context, page patra.OpenPage, call source.Call) (answer, error) {
	if err := r.await(ctx, page); err != nil {
		return answer{}, err
	}
	if r.draining() {
		return answer{}, errDrained
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return answer{}, err
	}
	for k, v := range call.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set(correlation, page.RequestID)
	if len(call.Body) == 0 {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	if r.program.Spec.Stateful() {
		egress.Once(req)
	}
	if page.Phase == patra.PhaseDetail {
		return r.send(r.secondClient, req)
	}
	return r.send(r.client, req)
}

// await waits for the grant. If a cooldown began meanwhile, the grant is void and a new one is asked for: all who waited
// would otherwise come at its very end.
func (r *run) await(ctx context.Context, page patra.OpenPage) error {
	granted := page.AcquiredAt.Add(time.Duration(page.Waited) * time.Microsecond)
	wait := time.Until(granted.Time())
	for {
		if err := r.sleep(ctx, wait); err != nil {
			return err
		}
		left, err := r.Gate.Remaining(ctx, page.GateKey)
		if err != nil || left == 0 {
			return err
		}
		rate := r.program.Spec.Rate
		if wait, err = r.Gate.Reserve(ctx, page.GateKey, rate.PerSecond, rate.Burst); err != nil {
			return err
		}
	}
}

func (r *run) send(client *http.Client, req *http.Request) (a answer, err error) {
	a.exchange.SentAt = patra.InstantOf(time.Now())
	resp, err := client.Do(req)
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = egress.ReadBody(resp, r.program.Spec.HTTP.MaxBody)
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
