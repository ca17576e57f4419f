package view

import (
	"cmp"
	"slices"

	"patra"
)

// Health is how something stands, in a word.
type Health string

// The words, the gravest first.
const (
	HealthStopped    Health = "STOPPED"    // a halt or a pause stops it until a person resumes it
	HealthFailed     Health = "FAILED"     // work, a plan or a schedule failed
	HealthIncomplete Health = "INCOMPLETE" // something was asked for, was not read, and is not under way
	HealthDisputed   Health = "DISPUTED"   // the provider counts differently
	HealthUnproved   Health = "UNPROVED"   // all is read, and not all of it is proved
	HealthLate       Health = "LATE"       // it is behind its schedule
	HealthWaiting    Health = "WAITING"    // there is work, and none of it is being done
	HealthRunning    Health = "RUNNING"
	HealthOK         Health = "OK"
	HealthIdle       Health = "IDLE" // nothing was ever asked for
)

// Healths are all of them, the gravest first.
var Healths = []Health{HealthStopped, HealthFailed, HealthIncomplete, HealthDisputed, HealthUnproved, HealthLate, HealthWaiting, HealthRunning, HealthOK, HealthIdle}

// Worse is the graver of two; the empty one is none.
func (h Health) Worse(other Health) Health {
	if h == "" || other != "" && slices.Index(Healths, other) < slices.Index(Healths, h) {
		return other
	}
	return h
}

// AtLeast reports whether a health is as grave as another, or graver.
func (h Health) AtLeast(other Health) bool {
	return slices.Index(Healths, h) <= slices.Index(Healths, other)
}

// ReasonKind is why something is not OK.
type ReasonKind string

// The kinds of reason.
const (
	ReasonHalted      ReasonKind = "HALTED"
	ReasonPaused      ReasonKind = "PAUSED"
	ReasonRefused     ReasonKind = "REFUSED"      // a schedule was refused at its last fire
	ReasonPlanFailed  ReasonKind = "PLAN_FAILED"  // a plan could not be cut, and its window is not read
	ReasonFailed      ReasonKind = "FAILED"       // a stretch used up its attempts
	ReasonTasksFailed ReasonKind = "TASKS_FAILED" // tasks failed since the last page, though no stretch is missing for it
	ReasonUncut       ReasonKind = "UNCUT"        // a stretch ended early, and its rest cannot be cut
	ReasonCancelled   ReasonKind = "CANCELLED"
	ReasonUnplanned   ReasonKind = "UNPLANNED" // a stretch was never planned
	ReasonDraft       ReasonKind = "DRAFT"     // a plan is not cut to its end
	ReasonDisputed    ReasonKind = "DISPUTED"
	ReasonBehind      ReasonKind = "BEHIND"   // a schedule did not fire, or a watermark did not follow it
	ReasonUnproved    ReasonKind = "UNPROVED" // it was read, and nothing proves that nothing is missing
	ReasonAccepted    ReasonKind = "ACCEPTED" // and a person accepted that for the source: a note
	ReasonWaived      ReasonKind = "WAIVED"   // a person signed it off as missing: a note
)

// ReasonKinds are all of them.
var ReasonKinds = []ReasonKind{ReasonHalted, ReasonPaused, ReasonRefused, ReasonPlanFailed, ReasonFailed, ReasonTasksFailed, ReasonUncut, ReasonCancelled, ReasonUnplanned, ReasonDraft, ReasonDisputed,
	ReasonBehind, ReasonUnproved, ReasonAccepted, ReasonWaived}

// Reason is one thing that keeps a verdict from OK, or a note.
type Reason struct {
	Kind     ReasonKind `json:"kind" enum:"HALTED,PAUSED,REFUSED,PLAN_FAILED,FAILED,TASKS_FAILED,UNCUT,CANCELLED,UNPLANNED,DRAFT,DISPUTED,BEHIND,UNPROVED,ACCEPTED,WAIVED"`
	Health   Health     `json:"health,omitempty" enum:"STOPPED,FAILED,INCOMPLETE,DISPUTED,UNPROVED,LATE,WAITING,RUNNING,OK,IDLE" doc:"what it makes of the whole; nothing for a note"`
	Source   string     `json:"source,omitempty"`
	Cursor   int64      `json:"cursor_id,omitempty"`
	Plan     int64      `json:"plan_id,omitempty"`
	Schedule string     `json:"schedule,omitempty"`
	Count    int64      `json:"count,omitempty" doc:"stretches, tasks or fires"`
	Message  string     `json:"message"`
	Next     string     `json:"next" doc:"a command, or what to do"`
}

// Verdict is how something stands.
type Verdict struct {
	Health   Health   `json:"health" enum:"STOPPED,FAILED,INCOMPLETE,DISPUTED,UNPROVED,LATE,WAITING,RUNNING,OK,IDLE"`
	Complete bool     `json:"complete" doc:"patra coverage gaps would exit with 0: everything is proved, apart from what a person signed off"`
	Message  string   `json:"message"`
	Reasons  []Reason `json:"reasons" nullable:"false" doc:"the gravest first"`

	Tally Tally `json:"-"`
}

// of makes a verdict of reasons. quiet is how things stand, and what is to be said, where no reason is graver.
func of(t Tally, reasons []Reason, quiet Health, said string) Verdict {
	v := Verdict{Health: quiet, Complete: t.Complete(), Message: said, Reasons: slices.Clone(reasons), Tally: t}
	slices.SortStableFunc(v.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(slices.Index(ReasonKinds, a.Kind), slices.Index(ReasonKinds, b.Kind)))
	})
	if v.Reasons == nil {
		v.Reasons = []Reason{}
	}
	if len(v.Reasons) > 0 && v.Reasons[0].Health != "" && v.Health.Worse(v.Reasons[0].Health) != v.Health {
		v.Health, v.Message = v.Reasons[0].Health, v.Reasons[0].Message
		if more := v.worse() - 1; more > 0 {
			v.Message += " " + number(int64(more), "more reason", "more reasons") + "."
		}
	}
	return v
}

// worse counts the reasons that are no notes.
func (v Verdict) worse() int {
	return len(slices.DeleteFunc(slices.Clone(v.Reasons), func(r Reason) bool { return r.Health == "" }))
}

// rank puts notes last.
func (r Reason) rank() int {
	if r.Health == "" {
		return len(Healths)
	}
	return slices.Index(Healths, r.Health)
}

// name is a cursor as a person calls it.
func name(c patra.Cursor) string {
	text := c.Source + "/" + c.Endpoint + " " + string(c.Operation)
	if c.Campaign != "" {
		text += ", campaign " + c.Campaign
	}
	if c.Repository != "" {
		text += " of " + c.Repository
	}
	return text
}
