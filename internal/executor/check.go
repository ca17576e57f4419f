package executor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// ReachabilityResult is how a provider answered somebody who only wanted to know whether it is there.
type ReachabilityResult struct {
	Status int
	Took   time.Duration
	// Ahead is by how much our clock is ahead of the provider's, as far as an answer's Date, which has whole seconds, and the
	// time that the answer took can tell; nil: it told no time.
	Ahead *time.Duration
}

// Check sends the cheapest request that a source has: for a count of one hour, or for a first page where it cannot count. It
// goes the way of all others, with a row of its own, and is not repeated. A fault says that the provider answered, and what
// is wrong with the answer; its status is 0 where nobody answered.
func (p *Prober) Check(ctx context.Context, spec *source.Spec, window patra.Window, baseURL string) (c ReachabilityResult, err error) {
	call, err := p.call(spec, query.All(), window, baseURL)
	if err != nil {
		return c, err
	}
	t, err := p.target(spec, baseURL)
	if err != nil {
		return c, err
	}
	w := p.wire(baseURL)
	if _, err := w.identify(ctx, spec); err != nil { // a token is asked for before the turn of the request comes
		return c, plain(notSentError(err))
	}
	_, err = w.sendStandalone(ctx, w.costOf(spec), patra.RequestCheck, func(requestID string, pass *permit) (response, error) {
		got, err := w.send(ctx, spec, t.client, call, requestID, pass)
		c.Status, c.Took = got.status, time.Duration(got.exchange.FinishedAt-got.exchange.SentAt)*time.Microsecond
		c.Ahead = ahead(got)
		if err == nil {
			if _, err = parseCount(t.program, got); err != nil {
				err = got.failed(patra.AsFault(err))
			}
		}
		return got, err
	})
	if failed, ok := errors.AsType[*pageError](err); ok {
		if _, rest := w.retryDelay(ctx, spec, failed, 1); rest != nil { // others are told to wait
			return c, rest
		}
	}
	return c, plain(err)
}

// plain is the fault of a page that failed.
func plain(err error) error {
	if failed, ok := errors.AsType[*pageError](err); ok {
		return failed.fault
	}
	return err
}

// ahead compares the answer's own time with ours. It was written between sending and receiving, and cut to whole seconds:
// what lies within that is no difference.
func ahead(a response) *time.Duration {
	at, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return nil
	}
	theirs := patra.InstantOf(at)
	var by time.Duration
	switch {
	case a.exchange.SentAt > theirs+patra.Second:
		by = time.Duration(a.exchange.SentAt-theirs-patra.Second) * time.Microsecond
	case a.exchange.FinishedAt < theirs:
		by = -time.Duration(theirs-a.exchange.FinishedAt) * time.Microsecond
	}
	return &by
}
