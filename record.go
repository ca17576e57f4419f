package patra

import (
	"cmp"
	"encoding/json"
)

// Observation is one version of a record as a provider sent it.
type Observation struct {
	ID         string   // the provider's id, byte for byte
	UpdatedAt  *Instant // the provider's own time of change, if it tells one
	ObservedAt Instant  // when the request that brought it was sent
	Hash       string   // of the content without what changes by itself
	Deleted    bool     // the provider says that the record is gone
	Fields     json.RawMessage
	Raw        []byte
	RawCode    string // JSON or XML
}

// Version is what decides between two versions of a record.
type Version struct {
	UpdatedAt  *Instant
	ObservedAt Instant
	Hash       string
}

// Version is the part of an observation that decides.
func (o Observation) Version() Version { return Version{o.UpdatedAt, o.ObservedAt, o.Hash} }

// Decision is what becomes of an observed record.
type Decision string

// The decisions.
const (
	Insert  Decision = "INSERT" // never seen before
	Replace Decision = "UPDATE" // newer, and different
	Same    Decision = "SAME"   // the content that we have
	Stale   Decision = "STALE"  // older than what we have
)

// Decide compares an arriving version with the stored one (nil if there is none). Whatever the order in which
// the same versions arrive, the store ends with the same content: the one that is newest by the provider's
// time, then by when we asked, then by hash so that a tie has one answer.
func Decide(old *Version, arriving Version) Decision {
	switch {
	case old == nil:
		return Insert
	case old.Hash == arriving.Hash:
		return Same
	case arriving.Newer(*old):
		return Replace
	}
	return Stale
}

// Newer orders versions totally. A version without the provider's time is older than one with it.
func (v Version) Newer(than Version) bool {
	return cmp.Or(
		compareOptional(v.UpdatedAt, than.UpdatedAt),
		cmp.Compare(v.ObservedAt, than.ObservedAt),
		cmp.Compare(v.Hash, than.Hash),
	) > 0
}

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
	UpdatedAt       *Instant        `json:"updated_at"`
	Deleted         bool            `json:"deleted"`
	Rev             int64           `json:"rev"`
	FirstSeen       Instant         `json:"first_seen"`
	LastSeen        Instant         `json:"last_seen"`
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
