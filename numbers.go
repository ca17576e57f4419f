package patra

// MetricsSnapshot is how everything stands that the processes of a store share, for whoever watches from outside. It is bounded:
// of everything there are only so many, and what is left out is counted.
type MetricsSnapshot struct {
	At       Instant
	Gates    []KeyedRate
	Quotas   []QuotaUse
	Queue    []QueueState
	Controls []Control // in force, of places
	Cursors  []CursorMetrics
	Sources  []SourceMetrics
	Sinks    []SinkMetrics
	LeftOut  map[string]int64 // by what: more than the bounds allow

	Records   int64    // about how many there are
	Expired   int64    // running tasks whose worker gives no sign of life
	LastClaim *Instant // when anybody last took a task
}

// What may be left out of numbers.
const (
	LeftGates   = "gates"
	LeftQuotas  = "quotas"
	LeftQueues  = "queues"
	LeftCursors = "cursors"
	LeftSources = "sources"
	LeftSinks   = "sinks"
)

// The bounds of numbers.
const (
	MostKeys    = 200 // of the gate
	MostPlaces  = 100 // sources, endpoints and operations together
	MostCursors = 100
	MostSinks   = 50
)

// CursorMetrics is a watermark with what is wrong before it, and the end of all that was planned or read of it.
type CursorMetrics struct {
	CursorFacts
	Reach Instant
}

// Planned is how much time was planned of a cursor, from its origin on, and how much of that is sealed without a hole. It is
// what completeness is made of: a day that is missing, in dispute or signed off holds back all that is behind it.
func (c CursorMetrics) Planned() (planned, sealed float64) {
	planned = max(c.Reach.Sub(c.Cursor.Origin).Seconds(), 0)
	return planned, min(max(c.Cursor.SealedThrough.Sub(c.Cursor.Origin).Seconds(), 0), planned)
}

// SourceMetrics is how one source stands.
type SourceMetrics struct {
	Source   string
	LastPage *Instant // when a page was last stored
	Failed   int64    // tasks that used up their attempts, up to a bound
	Aside    int64    // items in quarantine that nobody has settled, up to a bound
}

// SinkMetrics is how one sink stands.
type SinkMetrics struct {
	Name     string
	Depth    int64 // events that it has not got, up to a bound where they have no number yet
	Aside    int64 // events that it would not take
	Failures int64 // attempts in a row
}

// KeptAtOnce is how many answers a part has, unless it is the last.
const KeptAtOnce = 10_000

// StoredBodyRange is a part of all answers that are kept, in the order of their hashes.
type StoredBodyRange struct {
	Last          string // empty: there was none
	Bodies, Bytes int64
}
