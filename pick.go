package patra

// PickBy says which records an update by id takes.
type PickBy string

// The ways to pick.
const (
	PickAll     PickBy = "ALL"     // every known record
	PickStale   PickBy = "STALE"   // those that nobody has looked at for long, the stalest first
	PickMapping PickBy = "MAPPING" // those that were read by another mapping than the present one
	PickSignals PickBy = "SIGNALS" // those that somebody wants to be looked at
	PickNamed   PickBy = "IDS"     // those that are named
)

// Pick is a choice of records. The list that it gives is made once, with the plan: who goes on with the plan goes on with
// the same list.
type Pick struct {
	By     PickBy   `json:"by"`
	Every  Period   `json:"every,omitzero"`   // STALE: how old is too old
	Runs   int64    `json:"runs,omitempty"`   // STALE: in how many runs all have their turn; 0 is one a day
	Before *Instant `json:"before,omitempty"` // STALE: not looked at since; what the two above come to when the plan is made
	Most   int64    `json:"most,omitempty"`   // STALE: no more than these
	Specs  []string `json:"specs,omitempty"`  // MAPPING: the fingerprints of specs with another mapping
	IDs    []string `json:"-"`                // IDS
}

// Key is what the ids of its buckets are.
func (p Pick) Key() string {
	if p.By == PickSignals || p.By == PickNamed {
		return NamedIDs
	}
	return PickedIDs
}

// Campaign is the name under which a pick is gone on with. A list of ids is a work of its own; of the others there is one
// at a time.
func (p Pick) Campaign() string {
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

// At settles what a pick of stale records is at a moment, with so many records known.
func (p Pick) At(now Instant, known int64) Pick {
	if p.By != PickStale || p.Before != nil {
		return p
	}
	before := p.Every.Before(now)
	p.Before = &before
	if p.Runs == 0 {
		p.Runs = PatrolRuns(p.Every)
	}
	p.Most = PatrolSize(known, p.Runs)
	return p
}

// PatrolRuns is how many runs a patrol takes to have seen every record once within a period, at one run a day.
func PatrolRuns(every Period) int64 {
	days := int64(every.Days) + int64(every.Months)*30
	return max(days, 1)
}

// PatrolSize is how many of the known records one run takes, so that all have had their turn after some runs. It is no
// more than that, so that a first run after a long pause does not ask for everything at once.
func PatrolSize(known, runs int64) int64 {
	if runs <= 1 {
		return known
	}
	return (known + runs - 1) / runs
}
