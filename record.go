package patra

import (
	"cmp"
	"encoding/json"
)

// Observation is one version of a record as a provider sent it.
type Observation struct {
	ID         string      // the provider's id, byte for byte
	UpdatedAt  *Instant    // the provider's own time of change, if it tells one
	ObservedAt Instant     // when the request that brought it was sent
	Hash       string      // of the content without what changes by itself
	Mark       string      // what decides between versions of the same time, if the source says so
	Deleted    bool        // the provider says that the record is gone
	MergedInto string      // and which record has taken its place
	MergedFrom []string    // records whose place this one has taken
	Retracted  bool        // the provider says that the work does not stand any more
	Facts      *FactHashes // what the rules about changes found
	Signals    []Signal    // other records that should be looked at again because of this one
	Fields     json.RawMessage
	Raw        []byte
	RawCode    string // JSON or XML
}

// Version is what decides between two versions of a record.
type Version struct {
	UpdatedAt  *Instant
	ObservedAt Instant
	Hash       string
	Mark       string
	Deleted    bool
}

// gone reports a deletion that says nothing about when it was.
func (v Version) gone() bool { return v.Deleted && v.UpdatedAt == nil }

// Version is the part of an observation that decides.
func (o Observation) Version() Version {
	return Version{o.UpdatedAt, o.ObservedAt, o.Hash, o.Mark, o.Deleted}
}

// Decision is what becomes of an observed record.
type Decision string

// The decisions.
const (
	Insert  Decision = "INSERT" // never seen before
	Replace Decision = "UPDATE" // newer, and different
	Same    Decision = "SAME"   // the content that we have
	Stale   Decision = "STALE"  // older than what we have
)

// What a version was, in the biography of its record, where UPDATE would say too little.
const (
	ChangeDeleted   Decision = "DELETED"    // the provider says that it is gone
	ChangeMerged    Decision = "MERGED"     // and that another has taken its place
	ChangeTakenOver Decision = "TAKEN_OVER" // the other one says so
	ChangeRetracted Decision = "RETRACTED"  // the work does not stand any more
	ChangeRemapped  Decision = "REMAPPED"   // the provider said the same, and a new mapping reads it differently
)

func compareOptional(a, b *Instant) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// Record is the stored state of one work.
type Record struct {
	ID              int64           `json:"-"`
	Source          string          `json:"source"`
	Type            string          `json:"record_type"`
	ProviderID      string          `json:"id"`
	Repository      string          `json:"repository,omitempty" doc:"which of the providers behind the source it is of; nothing where the source is one provider"`
	UpdatedAt       *Instant        `json:"updated_at"`
	Deleted         bool            `json:"deleted"`
	MergedInto      string          `json:"merged_into,omitempty"`
	Retracted       bool            `json:"retracted,omitempty"`
	MissingSince    *Instant        `json:"missing_since,omitempty"` // the provider refused to give it by its id, for the first time since it was seen
	Refusals        int64           `json:"refusals,omitempty"`      // and so often until now
	GoneAt          *Instant        `json:"gone_at,omitempty"`       // the refusal that made it gone by the rule of its source
	Rev             int64           `json:"rev"`
	FirstSeen       Instant         `json:"first_seen"`
	LastSeen        Instant         `json:"last_seen"`
	ObservedAt      Instant         `json:"-"` // when the request was sent that brought this version
	ChangedAt       Instant         `json:"-"`
	Fields          json.RawMessage `json:"fields"`
	Raw             json.RawMessage `json:"raw"`
	Lineage         *Lineage        `json:"lineage,omitempty"`
	ContentSHA256   string          `json:"-"`
	BatchID         int64           `json:"-"`
	ExprHash        string          `json:"-"`
	SpecFingerprint string          `json:"-"`
}

// Lineage is the line of work that a record's last change came along.
type Lineage struct {
	Instance int64  `json:"schedule_instance"`
	Plan     int64  `json:"plan"`
	Slice    int64  `json:"slice"`
	Task     int64  `json:"task"`
	Run      int64  `json:"run"`
	Batch    int64  `json:"batch"`
	Spec     string `json:"spec_fingerprint,omitempty"`
	Expr     string `json:"expr_hash,omitempty"`
}
