package view

import (
	"fmt"

	"patra"
)

// Plan judges one plan by what is known of the window that it was made for; f is nil for a plan without a cursor.
func Plan(p patra.Plan, f *CursorFacts, controls []patra.Control, now patra.Instant) Verdict {
	quiet, said := HealthWaiting, fmt.Sprintf("Plan %d has work that is not done.", p.ID)
	switch {
	case p.Ended != "":
		quiet, said = HealthOK, fmt.Sprintf("Everything that plan %d was made for is read.", p.ID)
	case p.Status == patra.Cancelled:
		quiet, said = HealthIncomplete, fmt.Sprintf("Plan %d is cancelled.", p.ID)
	}
	if f == nil {
		var reasons []Reason
		switch {
		case p.Status == patra.Failed:
			reasons = append(reasons, failedPlan(p))
		case p.Ended == patra.PlanFailed:
			reasons = append(reasons, Reason{Kind: ReasonTasksFailed, Health: HealthFailed, Source: p.Source, Plan: p.ID, Message: fmt.Sprintf("Tasks of plan %d failed.", p.ID), Next: fmt.Sprintf("patra retry plan:%d", p.ID)})
		case p.Ended == patra.PlanCancelled:
			reasons = append(reasons, Reason{Kind: ReasonCancelled, Health: HealthIncomplete, Source: p.Source, Plan: p.ID, Message: fmt.Sprintf("A part of plan %d was cancelled.", p.ID), Next: fmt.Sprintf("patra retry plan:%d", p.ID)})
		}
		return of(Tally{}, reasons, quiet, said)
	}
	own := *f
	own.Span = patra.Window{From: max(p.Window.From, f.Span.From), To: min(p.Window.To, f.Span.To)}
	own.Expected = patra.CursorFacts{} // of the cursor, and not of one plan
	v := Cursor(own, controls, now)
	return of(v.Tally, v.Reasons, quiet, said)
}
