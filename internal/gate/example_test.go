package gate_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"patra"
	"patra/internal/gate"
)

// turnstile lets the requests of any HTTP client through a gate: it shows all that the gate wants of one who sends. With
// gate.NewShared over a store, tools that are no harvest share a provider's limit with the harvests.
type turnstile struct {
	gate  *gate.Shared
	limit patra.RateLimit
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s *turnstile) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, id := req.Context(), rand.Text()
	if err := s.pass(ctx, id); err != nil {
		return nil, errors.Join(err, s.leave(ctx, id)) // nothing was sent
	}
	resp, err := s.next.RoundTrip(req)
	if err != nil {
		return nil, errors.Join(err, s.leave(ctx, id))
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	err = s.gate.Report(ctx, s.limit, patra.RateFeedback{Status: resp.StatusCode, RetryAfter: time.Duration(seconds) * time.Second})
	resp.Body = &leaving{resp.Body, func() error { return s.leave(ctx, id) }} // it is on its way until all of it was read
	return resp, err
}

// pass waits for a grant that can be used, and for a slot.
func (s *turnstile) pass(ctx context.Context, id string) error {
	for {
		ended := s.gate.CooldownEpoch(s.limit.Key)
		wait, err := s.gate.Reserve(ctx, s.limit, 1)
		if later, ok := errors.AsType[*patra.ThrottledError](err); ok {
			if err := rest(ctx, later.Wait); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		turn := time.Now().Add(wait)
		if err := rest(ctx, time.Until(turn)); err != nil {
			return err
		}
		for wait = time.Duration(1); wait > 0; {
			if wait, err = s.gate.AcquireSlot(ctx, s.limit, patra.InFlightRequest{ID: id, Cost: 1, Lasts: time.Minute}); err == nil {
				err = rest(ctx, wait)
			}
			if err != nil {
				return err
			}
		}
		left, err := s.gate.CooldownRemaining(ctx, s.limit.Key)
		if err != nil {
			return err
		}
		// A grant is void when a cooldown began meanwhile, when a person ended one, or when we are late.
		if left == 0 && s.gate.CooldownEpoch(s.limit.Key) == ended && time.Since(turn) <= s.gate.MaxLateness(s.limit) {
			return nil
		}
	}
}

// leave frees the slot, also when the one who asked is gone.
func (s *turnstile) leave(ctx context.Context, id string) error {
	return s.gate.ReleaseSlot(context.WithoutCancel(ctx), s.limit, id)
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(max(d, 0)):
		return nil
	}
}

// leaving tells when an answer was read.
type leaving struct {
	io.ReadCloser
	left func() error
}

// Close implements io.Closer.
func (l *leaving) Close() error { return errors.Join(l.ReadCloser.Close(), l.left()) }

// Any HTTP client keeps to a provider's limit when its transport is a turnstile.
func Example_httpClient() {
	refuse := true
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuse {
			refuse = false
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer provider.Close()
	client := &http.Client{Transport: &turnstile{gate.NewLocal().Shared, patra.RateLimit{Key: "provider", PerSecond: 50, Burst: 10, Concurrency: 2}, http.DefaultTransport}}
	began := time.Now()
	for range 3 {
		resp, err := client.Get(provider.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		fmt.Println(resp.StatusCode, time.Since(began) >= time.Second)
	}
	// Output:
	// 429 false
	// 200 true
	// 200 true
}
