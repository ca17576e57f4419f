package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"patra"
	"patra/internal/egress"
)

// batched is the type of several events in one JSON list.
const batched = "application/cloudevents-batch+json"

// Webhook is a sink that is a web address. Some events are one POST, and any answer from 200 to 299 takes them all. Where
// there is a secret, the request is signed.
type Webhook struct {
	client        *http.Client
	url           string
	keyID, secret string
	now           func() time.Time
}

// WebhookOptions say where to post.
type WebhookOptions struct {
	URL     string
	Secret  string // signs; empty: nothing is signed
	KeyID   string // which secret that is, so that a receiver can have two while they are changed
	Local   bool   // the user says that this very address may be a local one, and without encryption
	Timeout time.Duration
	Now     func() time.Time
}

// OpenWebhook makes the client. It goes out by the same rules as every other request: with encryption, to public addresses
// only, and never to where an answer points.
func OpenWebhook(o WebhookOptions) (*Webhook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address is not a URL")
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	client := egress.NewClient(egress.Options{Host: u.Host, Trusted: o.Local, Connect: 10 * time.Second, Headers: o.Timeout, Total: o.Timeout})
	return &Webhook{client, o.URL, o.KeyID, o.Secret, o.Now}, nil
}

// Publish implements Publisher. An answer that says that something is wrong with what was sent may be about one event of
// many: the halves are sent alone, until it is found.
func (s *Webhook) Publish(ctx context.Context, events []patra.Event) []error {
	err := s.post(ctx, events)
	refused, is := errors.AsType[rejectedError](err)
	switch {
	case !is:
		return same(len(events), err)
	case len(events) == 1:
		return []error{fmt.Errorf("%w: it answered with status %d", ErrRefused, int(refused))}
	}
	half := len(events) / 2
	return append(s.Publish(ctx, events[:half]), s.Publish(ctx, events[half:])...)
}

// rejectedError is a status that is about what was sent.
type rejectedError int

// Error implements error.
func (r rejectedError) Error() string { return "status " + strconv.Itoa(int(r)) }

func (s *Webhook) post(ctx context.Context, events []patra.Event) error {
	body, err := json.Marshal(events)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the address is not a URL")
	}
	req.Header.Set("Content-Type", batched)
	if s.secret != "" {
		req.Header.Set(SignatureHeader, Sign(s.secret, s.keyID, s.now(), body))
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return egress.Cause(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)); err != nil { // so that the connection can be used again
		return fmt.Errorf("the answer broke off: %w", egress.Cause(err))
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return rejectedError(resp.StatusCode)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	return nil
}

// Close implements Publisher.
func (s *Webhook) Close() error {
	s.client.CloseIdleConnections()
	return nil
}
