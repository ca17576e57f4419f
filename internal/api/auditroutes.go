package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"patra"
	"patra/internal/store"
	"patra/internal/view"
)

// history registers what was done: by people, by the program to help itself, and what was told to others.
func (s *Server) history() {
	type healed struct {
		Page
		Source string `query:"source" maxLength:"64"`
		Task   int64  `query:"task" minimum:"1"`
	}
	Get(s, "/healing", Look, Doc{ID: "healing", Summary: "What was done to go on when something went wrong, newest first"}, func(ctx context.Context, in *healed) (List[patra.Healing], error) {
		p, err := in.part()
		if err != nil {
			return List[patra.Healing]{}, err
		}
		rows, err := s.Store.HealingList(ctx, store.Filter{Source: in.Source, Task: in.Task, Before: p.Before, Limit: p.Limit, Walk: p.Walk})
		return partialListPage(in.Page, rows, func(h patra.Healing) int64 { return h.ID }, p.Walk), err
	})
	type acted struct {
		Page
		Actor  string            `query:"actor" maxLength:"128"`
		Action patra.AuditAction `query:"action" maxLength:"48"`
		Target string            `query:"target" maxLength:"200"`
		Since  string            `query:"since" maxLength:"40" doc:"only what was done since then: 2026-01-31 or 2026-01-31T09:30:00Z"`
	}
	Get(s, "/audit", Look, Doc{ID: "audit", Summary: "What people did, newest first"}, func(ctx context.Context, in *acted) (List[patra.AuditEntry], error) {
		p, err := in.part()
		if err != nil {
			return List[patra.AuditEntry]{}, err
		}
		since, err := moment("since", in.Since)
		if err != nil {
			return List[patra.AuditEntry]{}, err
		}
		rows, err := s.Store.AuditLog(ctx, store.AuditFilter{Actor: in.Actor, Action: in.Action, Target: in.Target, Since: since, Before: p.Before, Limit: p.Limit, Walk: p.Walk})
		return partialListPage(in.Page, rows, func(e patra.AuditEntry) int64 { return e.Seq }, p.Walk), err
	})
	Get(s, "/controls", Look, Doc{ID: "controls", Summary: "What holds work back: pauses, breakers, halts, used-up quotas and limits"}, func(ctx context.Context, _ *EmptyInput) (List[patra.Control], error) {
		all, err := s.Store.Controls(ctx)
		return All(all), err
	})
	Get(s, "/exports", Look, Doc{ID: "exports", Summary: "Exports that go on from one time to the next"}, func(ctx context.Context, _ *EmptyInput) (List[store.Export], error) {
		all, err := s.Store.Exports(ctx)
		return All(all), err
	})
	Get(s, "/events", Look, Doc{ID: "events", Summary: "What is told to sinks, newest first, whether there are sinks or not"}, s.events)
	type wished struct {
		Page
		Source string       `query:"source" maxLength:"64"`
		Status patra.Status `query:"status" maxLength:"32"`
		Plan   int64        `query:"plan" minimum:"1"`
		Record string       `query:"record" maxLength:"512"`
	}
	Get(s, "/signals", Look, Doc{ID: "signals", Summary: "Wishes to look at records again, newest first"}, func(ctx context.Context, in *wished) (List[store.SignalRow], error) {
		p, err := in.part()
		if err == nil {
			err = knownState(in.Status, patra.SignalMoves)
		}
		if err != nil {
			return List[store.SignalRow]{}, err
		}
		rows, err := s.Store.Signals(ctx, store.Filter{Source: in.Source, Status: in.Status, Plan: in.Plan, Record: in.Record, Before: p.Before, Limit: p.Limit, Walk: p.Walk})
		return partialListPage(in.Page, rows, func(r store.SignalRow) int64 { return r.ID }, p.Walk), err
	})
}

// eventFilter is which events are wanted.
type eventFilter struct {
	Page
	Type    string `query:"type" maxLength:"64" doc:"such as record.deleted or task.*"`
	Subject string `query:"subject" maxLength:"640" doc:"such as cursor/3, or SOURCE/TYPE/ID of a record, with its repository behind a blank"`
	Source  string `query:"source" maxLength:"64"`
	Since   string `query:"since" maxLength:"40" doc:"only what happened since then"`
}

func (s *Server) events(ctx context.Context, in *eventFilter) (List[patra.CloudEvent], error) {
	none := List[patra.CloudEvent]{Items: []patra.CloudEvent{}}
	p, err := in.part()
	if err != nil {
		return none, err
	}
	since, err := moment("since", in.Since)
	if err != nil {
		return none, err
	}
	q := store.EventQuery{Source: in.Source, Since: since, Subject: in.Subject}
	if in.Type != "" {
		if !patra.EventPattern(in.Type).Known() {
			return none, Refuse(http.StatusUnprocessableEntity, "%q is no type of event; write record.*, plan.*, task.* or cursor.*, or one of them such as record.upserted", in.Type)
		}
		q.Type = "patra." + strings.ReplaceAll(strings.TrimPrefix(in.Type, "patra."), "*", "%")
	}
	if rec, err := view.RecordBySubject(ctx, s.Store, in.Subject); !errors.Is(err, view.ErrNoSubject) {
		if err != nil || rec == nil {
			return none, err
		}
		q.RecordID = rec.ID
	}
	rows, err := s.Store.EventList(ctx, q, p)
	if err != nil {
		return none, err
	}
	list := partialListPage(in.Page, rows, func(e store.EventRow) int64 { return e.ID }, p.Walk)
	out := List[patra.CloudEvent]{Items: make([]patra.CloudEvent, len(list.Items)), Next: list.Next}
	for i, e := range list.Items {
		out.Items[i] = e.Cloud()
	}
	return out, nil
}
