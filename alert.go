package patra

import (
	"slices"
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

	For time.Duration `json:"-"` // how long it must be so at every look before anybody is told; with any, at two looks at least
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

// The kinds. docs/alerts.md has what to do about each, under its name.
const (
	AlertHalted     AlertKind = "HALTED"     // an endpoint stands still until a person lets it go on
	AlertBreaker    AlertKind = "BREAKER"    // an endpoint has not answered for long
	AlertFailed     AlertKind = "FAILED"     // tasks have used up their attempts
	AlertPlan       AlertKind = "PLAN"       // a plan could not be cut, and its window is not read
	AlertRefused    AlertKind = "REFUSED"    // a schedule was refused at its last fire
	AlertDisputed   AlertKind = "DISPUTED"   // a provider counts differently
	AlertStalled    AlertKind = "STALLED"    // a watermark is not where it should be by now
	AlertErrors     AlertKind = "ERRORS"     // too many pages fail
	AlertThrottled  AlertKind = "THROTTLED"  // a provider keeps asking us to slow down
	AlertSurge      AlertKind = "SURGE"      // far more waits in a queue than on an average day
	AlertVolume     AlertKind = "VOLUME"     // a day has far fewer or far more records than such days have
	AlertQuarantine AlertKind = "QUARANTINE" // too much of what comes is no record
	AlertQuota      AlertKind = "QUOTA"      // what a provider permits is used up, or nearly
	AlertSink       AlertKind = "SINK"       // events or notices do not reach somebody
	AlertIdle       AlertKind = "IDLE"       // work is due, and nobody takes it
)

// AlertKinds are all of them.
var AlertKinds = []AlertKind{AlertHalted, AlertBreaker, AlertFailed, AlertPlan, AlertRefused, AlertStalled, AlertErrors, AlertThrottled, AlertSurge, AlertIdle, AlertQuota, AlertDisputed, AlertVolume, AlertQuarantine, AlertSink}

// Severity is how urgent it is.
type Severity string

// The severities, the gravest first.
const (
	SeverityCritical Severity = "CRITICAL" // work stands still until somebody acts
	SeverityWarning  Severity = "WARNING"  // something is missing or late
	SeverityNotice   Severity = "NOTICE"   // it mends itself, but somebody may want to know
)

// Severities are all of them, the gravest first.
var Severities = []Severity{SeverityCritical, SeverityWarning, SeverityNotice}

// AtLeast reports whether something is as grave as another, or graver.
func (s Severity) AtLeast(other Severity) bool {
	return slices.Index(Severities, s) <= slices.Index(Severities, other)
}

// AlertFacts is all that alerts are made of.
type AlertFacts struct {
	Now         Instant
	Controls    []Control // in force
	Failed      []FailedWork
	Pages       []PageShare
	Cursors     []CursorFacts
	Volumes     []VolumeFacts
	Quarantined []QuarantineShare
	Sinks       []SinkState
	Receivers   []ReceiverState
	Queue       []QueueState
	Crowds      []QueueAverage
	Plans       []UnstartedPlan // that are ready, and of which nobody took anything
	Broken      []Plan          // that could not be cut, and whose work nothing has done since
	Schedules   []ScheduleState // that are in the settings, or all where those are not known
	Quotas      []QuotaUse
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

// PageShare is how the pages of a source ended lately.
type PageShare struct {
	Source    string
	Pages     int64 // that ended, well or not
	Errors    int64 // of these, with a failure of the levels L1 and L2
	Throttled int64 // of these, because the provider asked us to slow down
}

// CursorFacts is what is wrong before a watermark.
type CursorFacts struct {
	Cursor   Cursor
	Disputed int64    // stretches that are in dispute and that nobody has read again
	First    *Instant // where the first of them begins
	Gaps     int64    // stretches that failed or were called off and that nobody is at
	Waiting  bool     // something of it is planned and not done

	Schedule string   // the schedule that last planned for it; none: empty
	Fired    *Instant // when that schedule should have fired, the last time that is long enough ago
	Due      Instant  // where a plan of that moment would have ended
}

// QuarantineShare is how much of what came lately is no record.
type QuarantineShare struct {
	Source      string
	Items       int64
	Quarantined int64
}

// QueueAverage is how many tasks of a partition waited on the average of the last day.
type QueueAverage struct {
	Key     string
	Samples int64
	Mean    float64
	Sigma   float64
}

// UnstartedPlan is a plan that is ready and of which nobody took anything yet.
type UnstartedPlan struct {
	Plan Plan
	Due  Instant // when the first of its tasks was
}
