package view

import (
	"fmt"
	"time"

	"patra"
)

// CursorFacts is what the verdict on a cursor is made of.
type CursorFacts struct {
	patra.CursorCoverage
	Named    bool              // its source has several, so that a command must name it
	Expected patra.CursorFacts // Schedule, Fired and Due: where the schedule should have brought its watermark
	Lag      time.Duration     // how long after the fire of a schedule a watermark may still not be there
}

// Gaps are what is missing or in dispute of a cursor, and what lies ahead of it: the lines of `patra coverage gaps`.
func (f CursorFacts) Gaps(controls []patra.Control) []patra.GapView {
	gaps := patra.Gaps(f.Span, f.CoverageFacts)
	for i := range gaps {
		gaps[i].CursorID = f.Cursor.ID
	}
	views := patra.GapViews(f.Cursor, gaps, f.Planned, f.Named, controls)
	for i, g := range views {
		if p := f.planOf(g); p != nil && p.Window.From <= g.Window.From && g.Window.To <= p.Window.To {
			views[i].Why = uncut(*p)
		}
	}
	return views
}

// planOf is the newest plan that should have read a stretch that was never planned, and was not cut.
func (f CursorFacts) planOf(g patra.GapView) *patra.Plan {
	if g.Kind != patra.GapUnplanned {
		return nil
	}
	for i, p := range f.Plans {
		if p.Window.From < g.Window.To && g.Window.From < p.Window.To {
			return &f.Plans[i]
		}
	}
	return nil
}

// uncut says why a plan has no slices for a stretch.
func uncut(p patra.Plan) string {
	switch p.Status {
	case patra.Failed:
		return fmt.Sprintf("plan %d failed%s", p.ID, whyUncut(p))
	case patra.Draft:
		return fmt.Sprintf("plan %d is a draft%s: it is not cut into slices", p.ID, whyUncut(p))
	}
	return fmt.Sprintf("plan %d is not cut to its end%s", p.ID, whyUncut(p))
}

func whyUncut(p patra.Plan) string {
	if p.Reason == "" || p.Reason == string(p.Status) {
		return ""
	}
	return " (" + p.Reason + ")"
}

// cutFor is how long a plan may be cut before it counts as left behind by a process that died.
const cutFor = 10 * patra.Minute

// Cursor judges one cursor at a moment.
func Cursor(f CursorFacts, controls []patra.Control, now patra.Instant) Verdict {
	gaps := f.Gaps(controls)
	var reasons []Reason
	at := map[string]int{}
	for _, g := range gaps {
		r := f.reason(g, now)
		if r.Kind == "" {
			continue
		}
		key := fmt.Sprint(r.Kind, r.Plan)
		i, ok := at[key]
		if !ok {
			i, at[key] = len(reasons), len(reasons)
			reasons = append(reasons, r)
		}
		reasons[i].Count++
	}
	for i := range reasons {
		reasons[i].finish(f)
	}
	if f.Expected.IsLate(now, f.Lag) {
		e := f.Expected
		reasons = append(reasons, Reason{Kind: ReasonBehind, Health: HealthLate, Source: f.Cursor.Source, Cursor: f.Cursor.ID, Schedule: e.Schedule, Count: 1,
			Message: fmt.Sprintf("The watermark of %s stands at %s; the schedule %s should have moved it at %s.", name(f.Cursor), f.Cursor.Value, e.Schedule, *e.Fired),
			Next:    "patra triggers --source " + f.Cursor.Source})
	}
	return of(TallyOf(gaps), reasons, HealthOK, fmt.Sprintf("Complete through %s.", f.Cursor.SealedThrough))
}

// gapReasons says what a gap makes of a cursor.
var gapReasons = map[patra.GapKind]Reason{
	patra.GapUnplanned: {Kind: ReasonUnplanned, Health: HealthIncomplete}, patra.GapCancelled: {Kind: ReasonCancelled, Health: HealthIncomplete},
	patra.GapFailed: {Kind: ReasonFailed, Health: HealthFailed}, patra.GapUncut: {Kind: ReasonUncut, Health: HealthFailed},
	patra.GapDisputed: {Kind: ReasonDisputed, Health: HealthDisputed}, patra.GapWaived: {Kind: ReasonWaived},
	patra.GapRead: {Kind: ReasonUnproved, Health: HealthUnproved},
}

// reason is what one gap says; its message is the window and the cause, until finish makes a sentence of it. What lies ahead is none.
func (f CursorFacts) reason(g patra.GapView, now patra.Instant) Reason {
	r := gapReasons[g.Kind]
	if g.Accepted != nil {
		r = Reason{Kind: ReasonAccepted}
	}
	r.Source, r.Cursor, r.Message, r.Next = g.Source, f.Cursor.ID, fmt.Sprintf("%s: %s", g.Window, g.Why), g.Next
	p := f.planOf(g)
	if p == nil {
		return r
	}
	r.Plan = p.ID
	switch {
	case p.Status == patra.Failed:
		r.Kind, r.Health = ReasonPlanFailed, HealthFailed
	case p.Status == patra.Partial || now-p.CreatedAt < cutFor:
		r.Kind, r.Health, r.Next = ReasonDraft, HealthWaiting, "patra serve"
	default:
		r.Kind, r.Next = ReasonDraft, "patra serve"
	}
	return r
}

// gapWords say what is true of one stretch, and of several.
var gapWords = map[ReasonKind][2]string{
	ReasonFailed: {"failed", "failed"}, ReasonUncut: {"ended early and cannot be cut", "ended early and cannot be cut"},
	ReasonCancelled: {"was cancelled", "were cancelled"}, ReasonUnplanned: {"was never planned", "were never planned"},
	ReasonDisputed: {"is in dispute", "are in dispute"}, ReasonWaived: {"is waived", "are waived"},
	ReasonUnproved: {"is read and not proved", "are read and not proved"}, ReasonAccepted: {"is read and not proved", "are read and not proved"},
	ReasonPlanFailed: {"is not read", "are not read"}, ReasonDraft: {"waits for its plan", "wait for their plan"},
}

// finish makes sentences of what the first gap of a kind says, and names a command that does something about all of them.
func (r *Reason) finish(f CursorFacts) {
	words := gapWords[r.Kind]
	of := " of " + name(f.Cursor) + " "
	first := ", first "
	if r.Count == 1 {
		first = ", "
	}
	switch r.Message = number(r.Count, "stretch"+of+words[0], "stretches"+of+words[1]) + first + sentenceEnd(r.Message); {
	case r.Count == 1 || r.Kind == ReasonDraft:
	case r.Kind == ReasonDisputed:
		r.Next = "patra coverage fill " + f.Cursor.Source + f.cursorFlag() + " --disputed"
	case r.Kind == ReasonUnproved:
		r.Next = "patra coverage fill " + f.Cursor.Source + f.cursorFlag() + " --read"
	default:
		r.Next = "patra coverage gaps " + f.Cursor.Source + f.cursorFlag()
	}
}

func (f CursorFacts) cursorFlag() string {
	if !f.Named {
		return ""
	}
	return fmt.Sprintf(" --cursor %d", f.Cursor.ID)
}
