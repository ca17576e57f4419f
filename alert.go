package patra

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Alert is something that needs a person now.
type Alert struct {
	Kind     AlertKind `json:"kind"`
	Severity Severity  `json:"severity"`
	Target   string    `json:"target"` // what it is about; with Kind it is the same alert for as long as it lasts
	Said     string    `json:"said"`
	Since    *Instant  `json:"since,omitempty"`
	Next     string    `json:"next"` // a command, or what to do
	Link     AlertLink `json:"link"`
}

// AlertLink is where to look.
type AlertLink struct {
	Source string `json:"source,omitempty"`
	Plan   int64  `json:"plan,omitempty"`
	Task   int64  `json:"task,omitempty"`
	Cursor int64  `json:"cursor,omitempty"`
}

// AlertKind is what went wrong.
type AlertKind string

// The kinds.
const (
	AlertHalted     AlertKind = "HALTED"     // an endpoint stands still until a person lets it go on
	AlertBreaker    AlertKind = "BREAKER"    // an endpoint has not answered for long
	AlertFailed     AlertKind = "FAILED"     // tasks have used up their attempts
	AlertDisputed   AlertKind = "DISPUTED"   // a provider counts differently
	AlertStalled    AlertKind = "STALLED"    // a watermark does not move although there is work before it
	AlertQuarantine AlertKind = "QUARANTINE" // too much of what comes is no record
	AlertQuota      AlertKind = "QUOTA"      // what a provider permits is used up
	AlertSink       AlertKind = "SINK"       // events do not reach somebody
	AlertIdle       AlertKind = "IDLE"       // tasks are due, and nobody takes them
)

// Severity is how urgent it is.
type Severity string

// The severities, the gravest first.
const (
	SeverityCritical Severity = "CRITICAL" // work stands still until somebody acts
	SeverityWarning  Severity = "WARNING"  // something is missing or late
	SeverityNotice   Severity = "NOTICE"   // it mends itself, but somebody may want to know
)

var severities = []Severity{SeverityCritical, SeverityWarning, SeverityNotice}

// AlertFacts is all that alerts are made of.
type AlertFacts struct {
	Now         Instant
	Controls    []Control // in force
	Failed      []FailedWork
	Cursors     []CursorFacts
	Quarantined []QuarantineShare
	Sinks       []SinkState
	Queue       []QueueState
	LastClaim   *Instant // when anybody last took a task
}

// FailedWork is how many tasks of a source have failed, and the last of them.
type FailedWork struct {
	Source string
	Count  int64
	Capped bool
	Last   Task
	At     *Instant
	Fault  *Fault
}

// CursorFacts is what is wrong before a watermark.
type CursorFacts struct {
	Cursor   Cursor
	Disputed int64    // stretches that are in dispute and that nobody has read again
	First    *Instant // where the first of them begins
	Gaps     int64    // stretches that failed or were called off and that nobody is at
	Waiting  bool     // something of it is planned and not done
}

// QuarantineShare is how much of what came lately is no record.
type QuarantineShare struct {
	Source      string
	Items       int64
	Quarantined int64
}

// AlertRules is when something is worth a person's time.
type AlertRules struct {
	BreakerFor      time.Duration // how long an endpoint may not answer
	StalledFor      time.Duration // how long a watermark may stand
	QuarantineShare float64       // of what comes
	QuarantineItems int64         // fewer say nothing
	NobodyFor       time.Duration // how long tasks may be due before somebody takes one
	SinkFailures    int64         // in a row
}

// DefaultAlertRules are those of whoever says nothing.
var DefaultAlertRules = AlertRules{BreakerFor: 15 * time.Minute, StalledFor: 24 * time.Hour, QuarantineShare: 0.05, QuarantineItems: 100, NobodyFor: 5 * time.Minute, SinkFailures: 3}

// Alerts are what needs a person, the gravest and oldest first. There is at most one of a kind for a target.
func (r AlertRules) Alerts(f AlertFacts) []Alert {
	all := []Alert{}
	for _, c := range f.Controls {
		if a := r.control(c, f.Now); a != nil {
			all = append(all, *a)
		}
	}
	for _, w := range f.Failed {
		if w.Count > 0 {
			all = append(all, r.failed(w))
		}
	}
	for _, c := range f.Cursors {
		all = append(all, r.cursor(c, f.Now)...)
	}
	for _, q := range f.Quarantined {
		if q.Items >= r.QuarantineItems && float64(q.Quarantined) >= r.QuarantineShare*float64(q.Items) {
			all = append(all, Alert{Kind: AlertQuarantine, Severity: SeverityWarning, Target: q.Source, Link: AlertLink{Source: q.Source},
				Said: fmt.Sprintf("%d of the last %d items of %s could not become records.", q.Quarantined, q.Items, q.Source), Next: "patra quarantine list --source " + q.Source})
		}
	}
	for _, s := range f.Sinks {
		if a := r.sink(s); a != nil {
			all = append(all, *a)
		}
	}
	if a := r.idle(f); a != nil {
		all = append(all, *a)
	}
	slices.SortStableFunc(all, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)), compareSince(a.Since, b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target, b.Target))
	})
	return all
}

// compareSince puts what has no beginning behind what has one.
func compareSince(a, b *Instant) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

func (r AlertRules) control(c Control, now Instant) *Alert {
	a := Alert{Target: c.Target.String(), Link: AlertLink{Source: c.Place().Source}, Next: "patra resume " + shellWord(c.Target.String())}
	if c.Detail.Since != 0 {
		since := c.Detail.Since
		a.Since = &since
	}
	switch {
	case c.Kind == KindHalt && c.State == Halted:
		a.Kind, a.Severity, a.Said, a.Next = AlertHalted, SeverityCritical, fmt.Sprintf("%s is halted, because only a person can mend this: %s", c.Target, ended(c.Reason)), "mend that, then "+a.Next
	case c.Kind == KindBreaker && (c.State == Open || c.State == HalfOpen) && c.Detail.Trips > 0 && now.Sub(c.Detail.Since) >= r.BreakerFor:
		a.Kind, a.Severity, a.Said = AlertBreaker, SeverityWarning, fmt.Sprintf("%s does not answer (%s); it is tried again at %s.", c.Target, strings.TrimRight(c.Reason, "."), c.Until)
		a.Next = "wait, or look whether the provider tells of a disturbance; " + a.Next + " lets everybody try"
	case c.Kind == KindQuota && c.State == UsedUp && c.Until > now:
		a.Kind, a.Severity, a.Said = AlertQuota, SeverityNotice, fmt.Sprintf("A quota of %s is used up; it goes on by itself at %s.", c.Target, c.Until)
		a.Next = "wait; if the provider permits more, write that into the source, and " + a.Next
	default:
		return nil
	}
	return &a
}

func (r AlertRules) failed(w FailedWork) Alert {
	many := number(w.Count, "task has failed", "tasks have failed")
	if w.Capped {
		many = "more than " + many
	}
	a := Alert{Kind: AlertFailed, Severity: SeverityWarning, Target: w.Source, Since: w.At, Link: AlertLink{Source: w.Source, Plan: w.Last.PlanID, Task: w.Last.ID},
		Said: fmt.Sprintf("%s: %s.", w.Source, many), Next: fmt.Sprintf("patra why %d, then patra retry %s", w.Last.ID, w.Source)}
	if w.Fault != nil {
		a.Said = fmt.Sprintf("%s: %s, the last of them with %s", w.Source, many, ended(w.Fault.Error()))
	}
	return a
}

func (r AlertRules) cursor(c CursorFacts, now Instant) (all []Alert) {
	target := WorkTarget(ScopeCursor, c.Cursor.ID).String()
	name := fmt.Sprintf("%s/%s %s", c.Cursor.Source, c.Cursor.Endpoint, c.Cursor.Operation)
	link := AlertLink{Source: c.Cursor.Source, Cursor: c.Cursor.ID}
	if c.Disputed > 0 {
		all = append(all, Alert{Kind: AlertDisputed, Severity: SeverityWarning, Target: target, Link: link,
			Said: fmt.Sprintf("Of %s, %s: the provider counts differently than was read.", name, number(c.Disputed, "stretch is in dispute", "stretches are in dispute")), Next: "patra coverage gaps " + c.Cursor.Source})
	}
	if since := c.Cursor.UpdatedAt; (c.Waiting || c.Gaps > 0) && c.Cursor.Operation == Harvest && now.Sub(since) >= r.StalledFor {
		a := Alert{Kind: AlertStalled, Severity: SeverityWarning, Target: target, Since: &since, Link: link,
			Said: fmt.Sprintf("The watermark of %s has stood at %s since %s, although there is work before it.", name, c.Cursor.Value, since), Next: "patra coverage gaps " + c.Cursor.Source}
		if c.Gaps > 0 {
			a.Said = fmt.Sprintf("The watermark of %s has stood at %s since %s: %s before it.", name, c.Cursor.Value, since, number(c.Gaps, "stretch is missing", "stretches are missing"))
			a.Next = "patra coverage fill " + c.Cursor.Source
		}
		all = append(all, a)
	}
	return all
}

func (r AlertRules) sink(s SinkState) *Alert {
	a := Alert{Kind: AlertSink, Target: "sink:" + s.Name, Next: "patra relay status"}
	switch {
	case s.Notes != nil && s.Notes.Failures >= r.SinkFailures:
		a.Severity, a.Since, a.Said = SeverityWarning, s.Notes.FailedAt, fmt.Sprintf("Nothing reaches the sink %s: %s", s.Name, ended(s.Notes.LastError))
	case s.Aside > 0:
		a.Severity, a.Said = SeverityWarning, fmt.Sprintf("The sink %s did not take %s, and nobody tries any more.", s.Name, number(s.Aside, "event", "events"))
	default:
		return nil
	}
	return &a
}

// idle is about everybody: tasks are due, nothing holds them back, and nobody takes one.
func (r AlertRules) idle(f AlertFacts) *Alert {
	var due int64
	var oldest *Instant
	for _, q := range f.Queue {
		if q.Held != "" || q.Running > 0 || q.Due == 0 {
			continue
		}
		due += q.Due
		if q.Oldest != nil && (oldest == nil || *q.Oldest < *oldest) {
			oldest = q.Oldest
		}
	}
	if oldest == nil || f.Now.Sub(*oldest) < r.NobodyFor || f.LastClaim != nil && f.Now.Sub(*f.LastClaim) < r.NobodyFor {
		return nil
	}
	return &Alert{Kind: AlertIdle, Severity: SeverityCritical, Target: "queue", Since: oldest, Said: fmt.Sprintf("%s, and nobody takes one.", number(due, "task is due", "tasks are due")), Next: "patra serve"}
}

// shellWord is a word that a shell leaves alone.
func shellWord(text string) string {
	if strings.ContainsAny(text, "*? '\"$&|;<>()") {
		return "'" + text + "'"
	}
	return text
}
