package alert

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"patra"
)

// Status is what needs a person, and where that is known from.
type Status struct {
	Items    []patra.StoredAlert `json:"items" nullable:"false"`
	Watched  bool                `json:"watched" doc:"whether a process that plans looks for alerts; otherwise they are what is so at this moment, and nobody is told"`
	LookedAt *patra.Instant      `json:"looked_at,omitempty" doc:"when it last did"`
	Said     string              `json:"said" doc:"the same for people"`
}

// StaleAfter is after how long without a look nobody looks any more.
func StaleAfter(every time.Duration) time.Duration { return max(4*every, 2*time.Minute) }

// Status is what needs a person: as it is remembered, or, where nobody has looked lately, what is so at this moment. Then nobody knows for
// how long it was so, and what has to last before it counts is pending.
func (s Evaluator) Status(ctx context.Context, every time.Duration) (Status, error) {
	out := Status{Items: []patra.StoredAlert{}}
	at, held, err := s.Store.LastAlertEvaluation(ctx)
	if err != nil {
		return out, err
	}
	now, err := s.Store.Now(ctx)
	if err != nil {
		return out, err
	}
	if at != 0 {
		out.LookedAt = &at
	}
	// A look that takes long is one all the same: whoever has the role is asked to be patient with.
	stale := StaleAfter(every)
	if out.Watched = every > 0 && at != 0 && (now.Sub(at) < stale || held && now.Sub(at) < 2*stale); out.Watched {
		out.Said = fmt.Sprintf("Looked at %s.", at.Time().Format(time.RFC3339))
		if out.Items, err = s.Store.LiveAlerts(ctx); err != nil {
			return out, err
		}
		if out.Items == nil {
			out.Items = []patra.StoredAlert{}
		}
		slices.SortStableFunc(out.Items, gravest)
		return out, nil
	}
	out.Said = "No process that plans looks for alerts, so nothing is remembered and nobody is told: this is what is so at this moment."
	found, _, err := s.Evaluate(ctx)
	if err != nil {
		return out, err
	}
	for _, step := range patra.JudgeAlerts(now, nil, found) {
		step.FiredAt = nil
		out.Items = append(out.Items, step.StoredAlert)
	}
	slices.SortStableFunc(out.Items, gravest)
	return out, nil
}

// gravest puts what fires before what is pending, and of those the gravest and oldest first.
func gravest(a, b patra.StoredAlert) int {
	order := func(h patra.StoredAlert) int {
		if h.State == patra.AlertPending {
			return 1
		}
		return 0
	}
	return cmp.Or(order(a)-order(b), slices.Index(patra.Severities, a.Severity)-slices.Index(patra.Severities, b.Severity), cmp.Compare(a.FirstAt, b.FirstAt), cmp.Compare(a.ID, b.ID))
}
