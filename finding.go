package patra

// Verdict is what a look at something came to.
type Verdict string

// The verdicts, from best to worst.
const (
	VerdictOK   Verdict = "OK"
	VerdictWarn Verdict = "WARN" // nothing is lost, but somebody should know
	VerdictFail Verdict = "FAIL"
)

// Violation is a promise that the tables do not keep: the promise as a sentence, the rows that show it, and what a person
// does next.
type Violation struct {
	Promise string   `json:"promise"`
	Verdict Verdict  `json:"verdict"`
	Count   int64    `json:"count"`
	Rows    []string `json:"rows"` // the first few
	Next    string   `json:"next"`
}

// StuckWork is work that does not go on by itself.
type StuckWork struct {
	Expired int64 // tasks whose lease ran out long ago, and that nobody took over
	Failed  int64 // tasks that were tried as often as is permitted
	ByID    int64 // of these, tasks of updates by id, which are no gap in time
	Queued  int64 // tasks that wait for a worker, for their turn, or for somebody to let them go on
}
