package patra

import (
	"encoding/json"
	"slices"
	"strings"
)

// EventType says what happened.
type EventType string

// The events of records.
const (
	EventUpserted  EventType = "patra.record.upserted"
	EventDeleted   EventType = "patra.record.deleted"
	EventMerged    EventType = "patra.record.merged"
	EventRetracted EventType = "patra.record.retracted"
)

// The events of the absence of a record: the provider refused it by its id, was found to have lost it, or gave it again.
const (
	EventMissing EventType = "patra.record.missing"
	EventGone    EventType = "patra.record.gone"
	EventRevived EventType = "patra.record.revived"
)

// The events of work. A plan is ready when it is cut to its end, and finished when all its slices are closed.
const (
	EventPlanReady    EventType = "patra.plan.ready"
	EventPlanPartial  EventType = "patra.plan.partial"
	EventPlanFailed   EventType = "patra.plan.failed"
	EventPlanFinished EventType = "patra.plan.finished"

	EventTaskSucceeded EventType = "patra.task.succeeded"
	EventTaskPartial   EventType = "patra.task.partial"
	EventTaskFailed    EventType = "patra.task.failed"
	EventTaskCancelled EventType = "patra.task.cancelled"

	EventCursorAdvanced EventType = "patra.cursor.advanced"
)

// The events of alerts. Whoever evaluates them writes them with the alert.
const (
	EventAlertFired    EventType = "patra.alert.fired"
	EventAlertResolved EventType = "patra.alert.resolved"
)

// EventTypes are all types, in the order in which people think of them.
var EventTypes = []EventType{
	EventUpserted, EventDeleted, EventMerged, EventRetracted, EventMissing, EventGone, EventRevived,
	EventPlanReady, EventPlanPartial, EventPlanFailed, EventPlanFinished,
	EventTaskSucceeded, EventTaskPartial, EventTaskFailed, EventTaskCancelled,
	EventCursorAdvanced, EventAlertFired, EventAlertResolved,
}

// planEvents and taskEvents are what the states of plans and tasks are told as. A state that is not here is nobody's news.
var (
	planEvents = map[Status]EventType{Ready: EventPlanReady, Partial: EventPlanPartial, Failed: EventPlanFailed}
	taskEvents = map[Status]EventType{Succeeded: EventTaskSucceeded, Partial: EventTaskPartial, Failed: EventTaskFailed, Cancelled: EventTaskCancelled}
)

// PlanEvent is how a new state of a plan is told; empty if it is not.
func PlanEvent(s Status) EventType { return planEvents[s] }

// TaskEvent is how a new state of a task is told; empty if it is not.
func TaskEvent(s Status) EventType { return taskEvents[s] }

// Event is what a new version means for those who follow the record.
func (o Observation) Event() EventType {
	switch {
	case o.MergedInto != "":
		return EventMerged
	case o.Deleted:
		return EventDeleted
	case o.Retracted:
		return EventRetracted
	}
	return EventUpserted
}

// Event is one thing that happened, as sinks get it: a CloudEvent in its JSON form.
type Event struct {
	Seq    int64  // its number among all events; a sink gets them by it
	Key    string // what it is about: events with the same key reach a sink in the order of their numbers
	Origin string // the code of the source that it is about

	ID      string // the same at each delivery, and of no other event
	Source  string // patra/<instance>
	Type    EventType
	Subject string
	Time    Instant
	Data    json.RawMessage
}

// CloudEvent is the JSON form.
type CloudEvent struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            EventType       `json:"type"`
	Subject         string          `json:"subject,omitempty"`
	Time            Instant         `json:"time"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}

// MarshalJSON gives the CloudEvent.
func (e Event) MarshalJSON() ([]byte, error) { return json.Marshal(e.Cloud()) }

// Cloud is the event in its JSON form.
func (e Event) Cloud() CloudEvent {
	return CloudEvent{"1.0", e.ID, e.Source, e.Type, e.Subject, e.Time, "application/json", e.Data}
}

// RecordEvent is what an event says about a record.
type RecordEvent struct {
	Source        string          `json:"source"`
	RecordType    string          `json:"record_type"`
	ID            string          `json:"id"`
	Repository    string          `json:"repository,omitempty"`
	Rev           int64           `json:"rev"`
	UpdatedAt     *Instant        `json:"updated_at"`
	Deleted       bool            `json:"deleted"`
	MergedInto    string          `json:"merged_into,omitempty"`
	Change        string          `json:"change"`            // what the version was: INSERT, UPDATE, DELETED, MERGED, TAKEN_OVER, RETRACTED, REMAPPED
	Changes       []string        `json:"changes,omitempty"` // what the rules of the source say is new about it
	ContentSHA256 string          `json:"content_sha256"`
	PrevSHA256    string          `json:"prev_sha256,omitempty"`
	CurrentRev    int64           `json:"current_rev"`      // above rev if the record has moved on; then the fields come with that event
	Fields        json.RawMessage `json:"fields,omitempty"` // of this very version
	Lineage       EventLineage    `json:"lineage"`
}

// AbsenceEvent is what an event says about the absence of a record.
type AbsenceEvent struct {
	Source     string `json:"source"` // first: lists of events are narrowed by how the payload begins
	RecordType string `json:"record_type"`
	ID         string `json:"id"`
	Rev        int64  `json:"rev"` // the newest version of the record; an absence is none
	Absence
	EndedAt *Instant     `json:"ended_at,omitempty"` // when the request was sent that found it again
	Lineage EventLineage `json:"lineage"`
}

// Subject names the record, as in the events of its versions: a sink gets both in the order of their numbers.
func (e AbsenceEvent) Subject() string { return e.Source + "/" + e.RecordType + "/" + e.ID }

// EventLineage is the line of work that a version came along.
type EventLineage struct {
	Plan  int64 `json:"plan"`
	Slice int64 `json:"slice"`
	Task  int64 `json:"task"`
	Run   int64 `json:"run"`
	Batch int64 `json:"batch"`
}

// EventID names the event of a version. The content is part of it: a store that was restored from a copy may give a
// number again to another content, and that is another event.
func EventID(instance, source, recordType, id string, rev int64, content string) string {
	return Hash([]any{instance, source, recordType, id, rev, content})
}

// EventFilter says which events somebody wants. Nothing said is everything.
type EventFilter struct {
	Types   []string // such as record.*, patra.task.failed or *
	Sources []string // codes of sources
}

// Wants reports whether an event passes.
func (f EventFilter) Wants(kind EventType, source string) bool {
	if len(f.Sources) > 0 && !slices.Contains(f.Sources, source) {
		return false
	}
	return len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(p string) bool { return EventPattern(p).Fits(kind) })
}

// EventPattern is a type of event, or the beginning of several with a * behind it. The leading "patra." may be left out.
type EventPattern string

// Fits reports whether a type is meant.
func (p EventPattern) Fits(kind EventType) bool {
	text := "patra." + strings.TrimPrefix(string(p), "patra.")
	if begin, any := strings.CutSuffix(text, "*"); any {
		return strings.HasPrefix(string(kind), begin)
	}
	return string(kind) == text
}

// Known reports whether there is any type that is meant.
func (p EventPattern) Known() bool { return slices.ContainsFunc(EventTypes, p.Fits) }
