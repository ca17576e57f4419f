package executor

import (
	"context"
	"errors"

	"patra"
	"patra/internal/source"
)

// ReplayResponse is what a provider said when a page was asked for once more.
type ReplayResponse struct {
	Status int
	Body   []byte // without our secrets
	Sum    string // the hash of the body as it came
}

// Replay asks for a page that was read before, once, and gives the answer as it is, whatever it says. It goes the way of
// all requests: through the gate, and with a row of its own that belongs to no run. What kept an answer from coming is a
// *patra.Fault.
func (p *Prober) Replay(ctx context.Context, program *source.Program, call source.Call, position, baseURL string) (asked ReplayResponse, err error) {
	w, spec := p.wire(baseURL), program.Spec
	if _, err := w.identify(ctx, spec); err != nil {
		return asked, faultOf(notSentError(err))
	}
	var refused *pageError
	_, err = w.sendStandalone(ctx, w.costOf(spec), patra.RequestReplay, func(requestID string, pass *permit) (response, error) {
		got, err := w.send(ctx, spec, p.Client(spec, w.base), call, requestID, pass)
		if err != nil {
			return got, err
		}
		asked = ReplayResponse{got.status, got.body, got.sum}
		if _, err := program.Read(got.status, got.body, position); err != nil {
			failed := got.failed(patra.AsFault(err))
			refused, _ = errors.AsType[*pageError](failed)
		}
		return got, nil
	})
	if err == nil && refused != nil {
		_, err = w.retryDelay(ctx, spec, refused, 1) // one who asks us to slow down is heard by everybody
	}
	return asked, faultOf(err)
}

func faultOf(err error) error {
	if failed, ok := errors.AsType[*pageError](err); ok {
		return failed.fault
	}
	return err
}
