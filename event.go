package patra

// EventType says what happened to a record.
type EventType string

// The events of records.
const (
	EventUpserted  EventType = "patra.record.upserted"
	EventDeleted   EventType = "patra.record.deleted"
	EventMerged    EventType = "patra.record.merged"
	EventRetracted EventType = "patra.record.retracted"
)

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
