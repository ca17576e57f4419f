package patra

import "time"

// LeaderLease is something that one process does at a time, while its lease lasts.
type LeaderLease struct {
	Name     string
	Owner    string
	Fence    int64
	For      time.Duration
	Position int64 // how far whoever had it has come
}

// RelayLease is the role of whoever sends events to a sink.
func RelayLease(sink string) string { return "relay/" + sink }

// AlertRole is the role of whoever looks for alerts and tells of them. Its position is when that was done last.
const AlertRole = "alerts"

// SinkHealth is what is known of a sink beside its position.
type SinkHealth struct {
	Failures  int64    `json:"failures,omitempty"`   // attempts in a row with which nothing arrived
	LastError string   `json:"last_error,omitempty"` // of the last one
	FailedAt  *Instant `json:"failed_at,omitempty"`
	SentAt    *Instant `json:"sent_at,omitempty"` // when something arrived last
}

// Rewind is somebody's wish that a sink gets events again. The audit log has it.
type Rewind struct {
	At     Instant `json:"at"`
	By     string  `json:"by"`
	Reason string  `json:"reason,omitempty"`
	From   int64   `json:"from"` // the position before
	To     int64   `json:"to"`
}

// The states of an event that a sink has passed without taking it.
const (
	DeliveryWaiting = "WAITING" // for another attempt, or for an older event of the same record
	DeliveryAside   = "ASIDE"   // no more attempts are made
)

// Delivery is an event that a sink has passed without taking it.
type Delivery struct {
	Seq      int64
	Key      string
	State    string
	Attempts int64
	RetryIn  time.Duration
	Error    string
}

// DeliveryResult is what became of some events that were sent to a sink.
type DeliveryResult struct {
	Position int64      // everything up to here is taken, waits or is set aside
	Done     []int64    // numbers of those that waited, and were taken now
	Failed   []Delivery // those that were not taken
	Notes    SinkHealth
}

// SinkState is how a sink stands.
type SinkState struct {
	Name     string      `json:"name"`
	Position int64       `json:"position"`
	Owner    string      `json:"owner,omitempty"` // of the lease, if somebody has it
	Until    Instant     `json:"leased_until,omitzero"`
	Lag      int64       `json:"lag"` // events that it has not got
	Waiting  int64       `json:"waiting"`
	Aside    int64       `json:"aside"`
	Capped   bool        `json:"capped,omitempty"` // one of the numbers is larger than it says
	Oldest   *Instant    `json:"oldest,omitempty"` // when the oldest of these happened
	Attempts int64       `json:"attempts"`         // the most that any waiting event has
	Held     bool        `json:"held"`
	New      bool        `json:"new,omitempty"` // only in the settings yet: where it begins is not known
	Error    string      `json:"last_error,omitempty"`
	Notes    *SinkHealth `json:"notes,omitempty"`
	Rewinds  []Rewind    `json:"rewinds,omitempty"` // the last ones, newest first
}
