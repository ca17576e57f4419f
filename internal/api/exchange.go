package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"patra"
	"patra/internal/store"
)

// BodyReader gives the bodies of answers that were kept.
type BodyReader interface {
	Get(ctx context.Context, b patra.StoredBody) ([]byte, error)
}

// Exchange is a request and its answer, without secrets.
type Exchange struct {
	Batch       patra.Batch     `json:"batch"`
	Request     json.RawMessage `json:"request" doc:"what was sent, without secrets"`
	Response    json.RawMessage `json:"response" doc:"status and headers of the answer, without secrets"`
	ContentType string          `json:"content_type,omitempty"`
	SHA256      string          `json:"body_sha256,omitempty" doc:"of the body as it came"`
	Size        int64           `json:"bytes"`
	Redacted    bool            `json:"redacted" doc:"secrets were taken out of the body before it was kept"`
	Kept        bool            `json:"kept"`
	Body        string          `json:"body" doc:"as text, up to a mebibyte; what is no text is replaced"`
	Truncated   bool            `json:"truncated"`
	Said        string          `json:"said,omitempty" doc:"why there is no body"`
}

// AccessReason is why somebody looks.
type AccessReason struct {
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"it is written into the audit log"`
}

// exchanges registers looking at what a provider answered. It is a POST, as whoever looks at evidence is written down.
func (s *Server) exchanges() {
	type input struct {
		ByID
		Body AccessReason
	}
	Post(s, "/batches/{id}/exchange", Inspect, Doc{ID: "exchange", Summary: "What was sent for a page, and what came back; who looks is written down"}, func(ctx context.Context, in *input) (Exchange, error) {
		page, err := s.page(ctx, in.ID)
		if err != nil {
			return Exchange{}, err
		}
		detail, err := json.Marshal(map[string]any{"body_sha256": page.BodySHA256, "over": "http"})
		if err != nil {
			return Exchange{}, err
		}
		// First it is written down, then it is shown.
		if _, err := s.Store.Audit(ctx, patra.AuditEntry{Actor: patra.ActorOf(ctx), Action: patra.AuditInspect, Target: "batch:" + strconv.FormatInt(in.ID, 10), Reason: in.Body.Reason, Detail: detail}); err != nil {
			return Exchange{}, err
		}
		return s.exchange(ctx, page)
	})
}

func (s *Server) page(ctx context.Context, id int64) (found patra.LedgerPage, err error) {
	err = s.Store.Ledger(ctx, store.PageQuery{ID: id, Limit: 1}, func(p patra.LedgerPage) error {
		found = p
		return nil
	})
	if err == nil && found.ID == 0 {
		err = NotFound("batch", id)
	}
	return found, err
}

func (s *Server) exchange(ctx context.Context, p patra.LedgerPage) (x Exchange, err error) {
	x = Exchange{Batch: p.Batch, Request: orNull(p.Request), Response: orNull(p.Response), ContentType: contentType(p.Response), SHA256: p.BodySHA256}
	if p.BodySHA256 == "" {
		x.Said = "no answer came"
		return x, nil
	}
	kept, err := s.Store.Body(ctx, p.BodySHA256)
	switch {
	case errors.Is(err, patra.ErrNotFound):
		x.Said = "the body is not kept, or no longer"
		return x, nil
	case err != nil:
		return x, err
	case s.Bodies == nil:
		x.Said = "answers are not kept here (evidence.url)"
		return x, nil
	}
	x.Size, x.Redacted = kept.Size, kept.Redacted
	b, err := s.Bodies.Get(ctx, kept)
	if err != nil {
		return x, s.internalError(http.StatusServiceUnavailable, "the body cannot be read now", err)
	}
	x.Kept = true
	x.Body, x.Truncated = shown(b)
	return x, nil
}

// contentType is what an answer says that it is.
func contentType(response json.RawMessage) string {
	var r struct {
		Headers map[string]json.RawMessage `json:"headers"`
	}
	if json.Unmarshal(response, &r) != nil {
		return ""
	}
	for name, raw := range r.Headers {
		if !strings.EqualFold(name, "Content-Type") {
			continue
		}
		var one string
		var many []string
		if json.Unmarshal(raw, &one) == nil {
			return one
		}
		if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
			return many[0]
		}
	}
	return ""
}

// shown is what of some bytes can be shown as text.
func shown(b []byte) (text string, cut bool) {
	if cut = len(b) > mostText; cut {
		b = b[:mostText]
	}
	return strings.ToValidUTF8(string(b), "\ufffd"), cut
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
