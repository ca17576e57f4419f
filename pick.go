package patra

// SelectorKind says which records an update by id takes.
type SelectorKind string

// The ways to pick.
const (
	PickAll     SelectorKind = "ALL"     // every known record
	PickStale   SelectorKind = "STALE"   // those that nobody has looked at for long, the stalest first
	PickMapping SelectorKind = "MAPPING" // those that were read by another mapping than the present one
	PickSignals SelectorKind = "SIGNALS" // those that somebody wants to be looked at
	PickNamed   SelectorKind = "IDS"     // those that are named
)

// RecordSelector is a choice of records. The list that it gives is made once, with the plan: who goes on with the plan goes on with
// the same list.
type RecordSelector struct {
	By     SelectorKind `json:"by"`
	Every  Period       `json:"every,omitzero"`   // STALE: how old is too old
	Runs   int64        `json:"runs,omitempty"`   // STALE: in how many runs all have their turn; 0 is one a day
	Before *Instant     `json:"before,omitempty"` // STALE: not looked at since; what the two above come to when the plan is made
	Most   int64        `json:"most,omitempty"`   // STALE: no more than these
	Specs  []string     `json:"specs,omitempty"`  // MAPPING: the fingerprints of specs with another mapping
	IDs    []string     `json:"-"`                // IDS

	Repository string `json:"repository,omitempty"` // of a source with many: whose records
}

// Key is what the ids of its buckets are.
func (p RecordSelector) Key() string {
	if p.By == PickSignals || p.By == PickNamed {
		return NamedIDs
	}
	return PickedIDs
}

// Campaign is the name under which a pick is gone on with. A list of ids is a work of its own; of the others there is one
// at a time.
func (p RecordSelector) Campaign() string {
	switch p.By {
	case PickStale:
		return "stale"
	case PickMapping:
		return "mapping"
	case PickSignals:
		return "signals"
	case PickNamed:
		return "ids-" + Hash(p.IDs)[:12]
	}
	return "ids"
}

// Resolve settles what a pick of stale records is at a moment, with so many records known.
func (p RecordSelector) Resolve(now Instant, known int64) RecordSelector {
	if p.By != PickStale || p.Before != nil {
		return p
	}
	before := p.Every.Before(now)
	p.Before = &before
	if p.Runs == 0 {
		p.Runs = RefreshRuns(p.Every)
	}
	p.Most = RefreshBatchSize(known, p.Runs)
	return p
}

// RefreshRuns is how many runs a patrol takes to have seen every record once within a period, at one run a day.
func RefreshRuns(every Period) int64 {
	days := int64(every.Days) + int64(every.Months)*30
	return max(days, 1)
}

// RefreshBatchSize is how many of the known records one run takes, so that all have had their turn after some runs. It is no
// more than that, so that a first run after a long pause does not ask for everything at once.
func RefreshBatchSize(known, runs int64) int64 {
	if runs <= 1 {
		return known
	}
	return (known + runs - 1) / runs
}
