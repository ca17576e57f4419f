package patra

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Phase is a stage of a scan.
type Phase string

// The phases: the walk through result pages, and the fetching of records by id where a search gives only ids.
const (
	PhaseSearch Phase = "SEARCH"
	PhaseDetail Phase = "DETAIL"
	PhaseCensus Phase = "CENSUS" // one request for the ids of a whole window, to prove that a walk has read them
)

// How a walk announced its end.
const (
	EndNoToken   = "NO_TOKEN"
	EndSameToken = "SAME_TOKEN"
	EndEmptyPage = "EMPTY_PAGE"
	EndNullNext  = "NULL_NEXT"
	EndShortPage = "SHORT_PAGE"
	EndItemsDone = "ITEMS_DONE"
	EndWhole     = "WHOLE"      // the first answer holds all that its own exact total counts
	EndSeam      = "SEAM"       // nothing lies behind what was read: the overlap of pages shows it
	EndEmptyCode = "EMPTY_CODE" // an answer that is an error elsewhere and means "nothing" here
)

// Counts is what became of the records of a page. Their sum is the number of items, with nothing left over.
type Counts struct {
	Insert     int64 `json:"insert"`
	Update     int64 `json:"update"`
	Same       int64 `json:"same"`
	Stale      int64 `json:"stale"`
	Dup        int64 `json:"dup"`
	Quarantine int64 `json:"quarantine"`
	Outside    int64 `json:"outside"` // counted beside: the record lies outside the window the slice answers for
}

// Total is the number of items on the page.
func (c Counts) Total() int64 { return c.Insert + c.Update + c.Same + c.Stale + c.Dup + c.Quarantine }

// Add is the sum of both.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Insert + o.Insert, c.Update + o.Update, c.Same + o.Same, c.Stale + o.Stale, c.Dup + o.Dup, c.Quarantine + o.Quarantine, c.Outside + o.Outside}
}

// Batch is one row of the ledger: one page of one scan.
type Batch struct {
	ID            int64           `json:"id"`
	RunID         int64           `json:"run_id"`
	TaskID        int64           `json:"task_id"`
	SliceID       int64           `json:"slice_id"`
	PlanID        int64           `json:"plan_id"`
	Source        string          `json:"source"`
	Operation     Operation       `json:"operation"`
	BatchNo       int64           `json:"batch_no"`
	ScanNo        int64           `json:"scan_no"`
	Phase         Phase           `json:"phase"`
	Ordinal       int64           `json:"ordinal"`
	LeaseCount    int64           `json:"lease_count"`
	HasNext       *bool           `json:"has_next,omitempty"`
	EndCode       string          `json:"end_code,omitempty"`
	ProviderTotal *int64          `json:"provider_total,omitempty"`
	RecordCount   int64           `json:"record_count"`
	Counts        Counts          `json:"counts"`
	BodySHA256    string          `json:"body_sha256,omitempty"`
	Repairs       Repairs         `json:"repairs,omitempty"`
	Error         json.RawMessage `json:"error,omitempty"`
	Status        Status          `json:"status"`
	StartedAt     Instant         `json:"started_at"`
	CommittedAt   *Instant        `json:"committed_at,omitempty"`
}

// Repairs are how often what a provider sent had to be repaired to be read, by what was repaired.
type Repairs map[string]int

// Add is the sum of both.
func (r Repairs) Add(o Repairs) Repairs {
	if len(r)+len(o) == 0 {
		return nil
	}
	sum := maps.Clone(o)
	if sum == nil {
		sum = Repairs{}
	}
	for kind, n := range r {
		sum[kind] += n
	}
	return sum
}

// Total is how often something was repaired.
func (r Repairs) Total() (n int) {
	for _, each := range r {
		n += each
	}
	return n
}

// String says it for people, the words of the codes in small letters: 2 forbidden character, 1 bare ampersand.
func (r Repairs) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, fmt.Sprintf("%d %s", r[kind], strings.ToLower(strings.ReplaceAll(kind, "_", " "))))
	}
	return strings.Join(parts, ", ")
}

// PageOpen announces a request before it is sent: its place in the scan and its ticket through the gate.
type PageOpen struct {
	BatchNo    int64
	ScanNo     int64
	Phase      Phase
	Ordinal    int64
	PageSize   int
	Before     string // position that the request asks from
	RequestID  string
	GateKey    string
	Cost       int64
	Waited     int64 // microseconds
	AcquiredAt Instant
	Request    json.RawMessage // what is sent, without secrets
	Ahead      bool            // the page before it is not committed yet: a run that is lost goes on from there
}

// The kinds of request.
const (
	RequestPage  = "PAGE"
	RequestProbe = "PROBE" // how much there is, before anybody asks for it
	RequestAuth  = "AUTH"  // for a token that later requests carry
	RequestCheck = "CHECK" // whether the provider is there, and nothing else

	RequestReplay = "REPLAY" // a page that was read before, to see what the provider says now
)

// RequestOpen announces a request that belongs to no run, before it is sent.
type RequestOpen struct {
	RequestID  string
	Kind       string
	GateKey    string
	Cost       int64
	Waited     int64 // microseconds
	AcquiredAt Instant
}

// Exchange is what happened to a request on the wire.
type Exchange struct {
	SentAt     Instant
	FinishedAt Instant
	Status     int
	Bytes      int64
	Outcome    string
	Level      Level
	RetryAfter time.Duration // how long the provider wants to be left alone
}

// Outcomes of a request.
const (
	OutcomeOK        = "OK"
	OutcomeHTTPError = "HTTP_ERROR"
	OutcomeNetError  = "NET_ERROR"
	OutcomeTimeout   = "TIMEOUT"
	OutcomeTooLarge  = "TOO_LARGE"
	OutcomeCut       = "CUT"
)

// CorrelationID names the request of a page for people, and for other systems that are told of it: ing-RUN-BATCH.
func CorrelationID(runID, batchNo int64) string { return fmt.Sprintf("ing-%d-%d", runID, batchNo) }

// OpenPage is a page whose ledger row exists and whose request may be sent.
type OpenPage struct {
	PageOpen
	BatchID      int64
	RequestRowID int64
}

// PageResult is a page that was read to its end.
type PageResult struct {
	Exchange    Exchange
	Records     []Observation
	Merge       Merge       // how they are brought together with what is stored
	Changes     ChangeRules // what is worth telling about new versions
	Quarantined []RejectedItem
	IDs         []string            // of a search that gives only ids
	Items       map[Status][]string // of a detail page: what became of the ids that were asked for
	Refused     []Refusal           // of the ids that are missing: those whose refusal counts
	Gone        GoneRule            // when a record that is refused is gone
	Outside     int64
	After       string // position of the next page
	HasNext     bool
	EndCode     string
	Total       *int64
	TimeMin     *Instant
	TimeMax     *Instant
	Rows        PageRows        // of a search page: its rows in their order, for the proof
	Shown       ShownIDs        // what the provider has shown of the slice's window, where this page changes it; nil: it does not
	Order       string          // of a search page: ASC or DESC while the scan has kept to what the source promises, else NONE
	Response    json.RawMessage // status and headers, without secrets
	BodySHA256  string          // of the body as it came
	Repairs     Repairs         // what was repaired to read it; the body is kept as it came
	Raw         RawPage         // where the raw content of the records is
	Kept        *StoredBody     // nil: bodies are not kept
}

// RejectedItem is one item that could not become a record, kept whole.
type RejectedItem struct {
	ItemNo   int
	ID       string
	Code     string
	Path     string
	Fragment []byte
}

// PageFailure is a request that gave no page.
type PageFailure struct {
	Exchange Exchange
	Fault    Fault
	Response json.RawMessage

	BodySHA256 string      // empty: there was no body
	Kept       *StoredBody // nil: it is not kept
}

// RunResult is how a run of a task ends.
type RunResult struct {
	Status   Status // SUCCEEDED, PARTIAL, FAILED, CANCELLED or QUEUED (give the task back)
	Fault    *Fault
	RetryIn  time.Duration // for QUEUED
	WaitCode string        // for QUEUED
	GiveBack bool          // for QUEUED: the attempt does not count, nobody was at fault
	Progress bool          // for QUEUED: it does not count either, as it read what none before it had read
	Proof    *Proof        // for SUCCEEDED
	Early    *EarlyEnd     // for PARTIAL
}

// EarlyEnd is a scan that ended before its slice did: why, and what is proved all the same.
type EarlyEnd struct {
	Reslice      Reslice
	ScanNo       int64
	Order        string // ASC or DESC if every page kept to it, else NONE
	Trust        Trust
	Confirmed    Window       // empty: nothing is proved
	IDsSeen      int64        // in what is confirmed
	Proof        WindowProof  // how that is proved, if it is
	Completeness Completeness // of what is confirmed
	Total        *int64       // what the provider says that the confirmed part has, if it was asked
}

// Proof is what a finished scan says about completeness.
type Proof struct {
	ScanNo  int64
	Trust   Trust
	State   Completeness
	IDsSeen int64
	Rescans int64
	Details bool // the records were fetched by id: all of them must be settled
	ByID    bool // there was no search: the ids were known

	Window WindowProof // how the window is proved, or why it is not

	FoundState Completeness // what the scan is worth apart from ids that the provider has shown and it did not find; "": as State

	Widened bool // the scan asked more widely than the one before it, which did not find what the provider has shown

	Last bool   // of a part: it is the last one that is missing
	Rest *int64 // of the last part: how many records of the window have ids that no part has asked for; nil: not known
}
