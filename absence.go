package patra

// The states of an absence. It begins when the provider refuses to give a record that is stored.
const (
	AbsenceMissing Status = "MISSING" // refused at least once since the record was last seen
	AbsenceGone    Status = "GONE"    // refused so often, over so long a time, that the rule of the source calls it gone
	AbsenceRevived Status = "REVIVED" // over: the provider gave the record again
	AbsenceDeleted Status = "DELETED" // over: the provider itself says that it deleted or merged the record
)

// AbsenceMoves is the life of an absence.
var AbsenceMoves = StateMachine{
	AbsenceMissing: {AbsenceGone, AbsenceRevived, AbsenceDeleted},
	AbsenceGone:    {AbsenceRevived, AbsenceDeleted},
}

// GoneRule says when a missing record is gone: it was refused so many times, and the last refusal is at least so long after
// the first one. The zero rule is DefaultGoneRule.
type GoneRule struct {
	Refusals int64  `json:"refusals"`
	Over     Period `json:"over"`
}

// DefaultGoneRule holds for a source that has no rule of its own. A week outlasts an outage, and three refusals a mistake.
var DefaultGoneRule = GoneRule{Refusals: 3, Over: Period{Days: 7}}

// Absence is what is known of a record that the provider refuses to give. The zero value is that of a record that is there.
type Absence struct {
	MissingSince Instant  `json:"missing_since"` // the first refusal
	RefusedAt    Instant  `json:"refused_at"`    // the last one
	Refusals     int64    `json:"refusals"`
	GoneAt       *Instant `json:"gone_at,omitempty"` // the refusal that made it gone
}

// Status is MISSING or GONE, or nothing for a record that is there.
func (a Absence) Status() Status {
	switch {
	case a.Refusals == 0:
		return ""
	case a.GoneAt != nil:
		return AbsenceGone
	}
	return AbsenceMissing
}

// Refuse adds a refusal to an absence, or begins one. Times are those at which requests were sent. A refusal that was sent
// no later than the request that brought the record last says nothing: the record was there after it.
func (g GoneRule) Refuse(a Absence, lastSeen, at Instant) Absence {
	if at <= lastSeen {
		return a
	}
	if a.Refusals == 0 {
		a.MissingSince, a.RefusedAt = at, at
	}
	a.Refusals++
	a.MissingSince, a.RefusedAt = min(a.MissingSince, at), max(a.RefusedAt, at)
	if a.GoneAt == nil && g.fulfilled(a) {
		gone := a.RefusedAt
		a.GoneAt = &gone
	}
	return a
}

func (g GoneRule) fulfilled(a Absence) bool {
	if g == (GoneRule{}) {
		g = DefaultGoneRule
	}
	return a.Refusals >= g.Refusals && a.RefusedAt >= g.Over.After(a.MissingSince)
}

// EndsWith reports whether an absence is over because the record was seen. A request that was sent before the first refusal
// is no news, however late its page is written: the provider has lost the record since.
func (a Absence) EndsWith(seen Instant) bool { return a.Refusals > 0 && seen >= a.MissingSince }

// Refusal is one answer of the provider that gave no record for an id that was asked for.
type Refusal struct {
	ID string
	At Instant // when the request was sent
}

// AbsenceEpisode is one absence of a record from its first refusal to its end, as the store keeps it.
type AbsenceEpisode struct {
	Absence
	Status  Status   `json:"status"`
	Rev     int64    `json:"rev"` // the version of the record when the absence began
	BatchID int64    `json:"batch_id"`
	EndedAt *Instant `json:"ended_at,omitempty"` // when the request was sent that found the record again, or its deletion
	EndedBy int64    `json:"ended_by_batch_id,omitempty"`
}
