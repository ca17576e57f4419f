package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"patra"
	"patra/internal/alert"
	"patra/internal/store"
)

// AlertOptions is how alerts are looked for where nobody has looked. The zero value has the rules of whoever says nothing.
type AlertOptions struct {
	Sight alert.Evaluator // its store is that of the server
	Every time.Duration   // how often somebody should look
}

func (a AlertOptions) filled(st *store.Store) AlertOptions {
	a.Sight.Store = st
	if a.Sight.Rules.StalledFor == 0 {
		a.Sight.Rules = patra.DefaultAlertRules
	}
	if a.Every == 0 {
		a.Every = 30 * time.Second
	}
	return a
}

// AckResult is an alert that somebody has seen.
type AckResult struct {
	Alert patra.StoredAlert `json:"alert"`
	Said  string            `json:"said"`
	Next  string            `json:"next,omitempty"`
}

// alerts registers what needs a person. It is asked every few seconds, by everybody who has a dashboard open.
func (s *Server) alerts() {
	set := s.Alerts.filled(s.Store)
	now := &cachedValue[alert.Status]{every: 5 * time.Second, read: func(ctx context.Context) (alert.Status, error) { return set.Sight.Status(ctx, set.Every) }}
	Get(s, "/alerts", Look, Doc{ID: "alerts", Summary: "What needs a person now, the gravest first; what must last before it counts is pending"}, func(ctx context.Context, _ *EmptyInput) (alert.Status, error) {
		return now.get(ctx)
	})
	Get(s, "/alerts/history", Look, Doc{ID: "alert-history", Summary: "Alerts that are over, newest first"}, func(ctx context.Context, in *Page) (List[patra.StoredAlert], error) {
		p, err := in.part()
		if err != nil {
			return List[patra.StoredAlert]{}, err
		}
		rows, err := s.Store.AlertHistory(ctx, p)
		return NewListPage(*in, rows, func(h patra.StoredAlert) int64 { return h.ID }), err
	})
	Get(s, "/alerts/receivers", Look, Doc{ID: "alert-receivers", Summary: "How those stand who are told of alerts"}, func(ctx context.Context, _ *EmptyInput) (List[patra.ReceiverState], error) {
		rows, err := set.Sight.ReceiverStates(ctx)
		return All(rows), err
	})
	type ack struct {
		ByID
		Body struct {
			Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"why, for those who ask later"`
			For    string `json:"for,omitempty" maxLength:"20" doc:"for how long nobody is told again, such as 4h; nothing: until it is over"`
		}
	}
	Post(s, "/alerts/{id}/ack", Steer, Doc{ID: "ack", Summary: "Say that somebody has seen an alert: nobody is told of it again"}, func(ctx context.Context, in *ack) (AckResult, error) {
		lasts := time.Duration(0)
		if in.Body.For != "" {
			var err error
			if lasts, err = time.ParseDuration(in.Body.For); err != nil || lasts <= 0 {
				return AckResult{}, Refuse(http.StatusUnprocessableEntity, "for is no length of time such as 4h or 30m")
			}
		}
		done, err := Acknowledge(ctx, s.Store, in.ID, lasts, patra.ActorOf(ctx), in.Body.Reason)
		switch {
		case errors.Is(err, patra.ErrNotFound):
			return done, NotFound("alert", in.ID)
		case errors.Is(err, patra.ErrIllegalMove):
			return done, Refuse(http.StatusConflict, "alert %d is over already", in.ID)
		}
		now.forget(ctx)
		return done, err
	})
}

// Acknowledge notes that somebody has seen an alert, and says what follows.
func Acknowledge(ctx context.Context, st *store.Store, id int64, lasts time.Duration, by, reason string) (AckResult, error) {
	h, err := st.AckAlert(ctx, id, lasts, by, strings.TrimSpace(reason))
	if err != nil {
		return AckResult{}, err
	}
	until := "until it is over"
	if h.Ack.Until != nil {
		until = "until " + h.Ack.Until.Time().Format(time.RFC3339)
	}
	return AckResult{Alert: h, Said: fmt.Sprintf("Alert %d (%s of %s) is acknowledged: nobody is told of it again %s.", id, h.Kind, h.Target, until), Next: h.Next}, nil
}
