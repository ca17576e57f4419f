package patra

import (
	"encoding/json"
	"strconv"
)

// EventType says what happened to a record.
type EventType string

// The events of records.
const (
	EventUpserted  EventType = "patra.record.upserted"
	EventDeleted   EventType = "patra.record.deleted"
	EventMerged    EventType = "patra.record.merged"
	EventRetracted EventType = "patra.record.retracted"
)

// RecordEvent is one version of a record, as it is told to others. Who has seen all events of a record in the order of
// their revisions knows the record.
type RecordEvent struct {
	Source     string          `json:"source"`
	Type       string          `json:"record_type"`
	ID         string          `json:"id"`
	Rev        int64           `json:"rev"`
	UpdatedAt  *Instant        `json:"updated_at"`
	Deleted    bool            `json:"deleted"`
	MergedInto string          `json:"merged_into,omitempty"`
	Retracted  bool            `json:"retracted,omitempty"`
	Hash       string          `json:"content_sha256"`
	Previous   *string         `json:"prev_sha256"` // of the version that this one replaced
	Lineage    EventLineage    `json:"lineage"`
	Fields     json.RawMessage `json:"fields"`
}

// EventLineage is the line of work that a version came along.
type EventLineage struct {
	Plan  int64 `json:"plan"`
	Slice int64 `json:"slice"`
	Task  int64 `json:"task"`
	Run   int64 `json:"run"`
	Batch int64 `json:"batch"`
}

// JSON is the event as it is stored. It is put together by hand: there is one for every version of every record, and its
// fields, which are most of it, are JSON already.
func (e RecordEvent) JSON() string {
	b := make([]byte, 0, len(e.Fields)+len(e.ID)+512)
	b = appendMember(b, `{"source":`, e.Source)
	b = appendMember(b, `,"record_type":`, e.Type)
	b = appendMember(b, `,"id":`, e.ID)
	b = appendCount(b, `,"rev":`, e.Rev)
	b = append(b, `,"updated_at":`...)
	if e.UpdatedAt == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(b, e.UpdatedAt.String())
	}
	b = append(b, `,"deleted":`...)
	b = strconv.AppendBool(b, e.Deleted)
	if e.MergedInto != "" {
		b = appendMember(b, `,"merged_into":`, e.MergedInto)
	}
	if e.Retracted {
		b = append(b, `,"retracted":true`...)
	}
	b = appendMember(b, `,"content_sha256":`, e.Hash)
	b = append(b, `,"prev_sha256":`...)
	if e.Previous == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(b, *e.Previous)
	}
	l := e.Lineage
	for _, id := range []struct {
		name string
		n    int64
	}{{`,"lineage":{"plan":`, l.Plan}, {`,"slice":`, l.Slice}, {`,"task":`, l.Task}, {`,"run":`, l.Run}, {`,"batch":`, l.Batch}} {
		b = appendCount(b, id.name, id.n)
	}
	b = append(b, `},"fields":`...)
	if len(e.Fields) == 0 {
		b = append(b, "{}"...)
	}
	b = append(b, e.Fields...)
	return string(append(b, '}'))
}

func appendMember(b []byte, name, text string) []byte { return appendString(append(b, name...), text) }

func appendCount(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// EventType is what the version means for those who follow the record.
func (e RecordEvent) EventType() EventType {
	switch {
	case e.MergedInto != "":
		return EventMerged
	case e.Deleted:
		return EventDeleted
	case e.Retracted:
		return EventRetracted
	}
	return EventUpserted
}

// Subject names the record for people.
func (e RecordEvent) Subject() string { return e.Source + "/" + e.Type + "/" + e.ID }

// OrderKey is the same for all versions of a record: they are told in their order, and nothing else is.
func (e RecordEvent) OrderKey() string { return HashBytes([]byte(e.named(""))) }

// Key is the same whenever this version is told, so that others can tell that they have it.
func (e RecordEvent) Key() string { return HashBytes([]byte(e.named(strconv.FormatInt(e.Rev, 10)))) }

// named puts what anybody may have chosen at the end: no other record can be spelled the same.
func (e RecordEvent) named(rev string) string {
	return e.Source + "\x00" + e.Type + "\x00" + rev + "\x00" + e.ID
}
