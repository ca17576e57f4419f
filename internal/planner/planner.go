// Package planner turns a trigger into slices: it decides which window to ask for, subtracts what is covered or under
// way, and cuts the rest into pieces that fit the provider.
//
// It holds no SQL and opens no connection: counting is a port, and whoever is behind it goes through the same gate as
// everybody else. What it decides is a function of the request, the source, the state of the cursor, the estimates and
// the time, and every one of these is stored with the plan. It runs nothing.
//
// Its words: the need is what is neither covered nor live; a look-back reads again what is covered, for records that
// arrived late; a stretch is a run of whole steps that may become one slice or many; a part is a slice that answers for
// some ids of its window only; a generation is a plan that somebody insisted on making again.
package planner

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// Triggers keeps what was asked for, whatever comes of it. AcceptTrigger fails with patra.ErrFired when the same fire of
// the same job was accepted before.
type Triggers interface {
	AcceptTrigger(ctx context.Context, now patra.Instant, in patra.Trigger) (int64, error)
	RejectTrigger(ctx context.Context, id int64, reason json.RawMessage) error
}

// Cursors tells how far a namespace has come. Need's PlanVersion must not have moved when slices are added.
type Cursors interface {
	Cursor(ctx context.Context, ns patra.Namespace) (*patra.Cursor, error)
	EnsureCursor(ctx context.Context, now patra.Instant, c patra.Cursor) (patra.Cursor, error)
	Need(ctx context.Context, cursorID int64) (c patra.Cursor, covered, live patra.Coverage, err error)
	CoverageIn(ctx context.Context, cursorID int64, states ...patra.Completeness) (patra.Coverage, error)
}

// Plans keeps plans with their slices. AddSlices fails with patra.ErrPlanMoved when another planner was faster; then
// nothing was inserted.
type Plans interface {
	PlanByKey(ctx context.Context, key string) (*patra.Plan, error)
	StartPlan(ctx context.Context, now patra.Instant, p patra.Plan, snap patra.Snapshot) (patra.Plan, error)
	Sliced(ctx context.Context, planID int64) (patra.Coverage, error)
	AddSlices(ctx context.Context, now patra.Instant, planID, planVersion int64, slices []patra.Slice, trigger string, maxAttempts int64) error
	EndSlicing(ctx context.Context, planID int64, end patra.SlicingEnd) error
	Retry(ctx context.Context, planID int64) (int, error)
	Unfinished(ctx context.Context, begunBefore patra.Instant) ([]int64, error)
	PlanStates(ctx context.Context, planID int64) (map[patra.Status]int, error)
	LastUpdateByID(ctx context.Context, like patra.Plan) (*patra.Plan, error)
	LastEnds(ctx context.Context, planID int64, n int) ([]patra.Status, error)
}

// Queue tells how much is waiting, what it will cost, and what holds it back.
type Queue interface {
	QueuedTasks(ctx context.Context, partition string) (int64, error)
	ReservedQuota(ctx context.Context, source, endpoint string) (map[patra.Operation]patra.ReservedQuota, error)
	QuotaOf(ctx context.Context, key string) ([]patra.QuotaUse, error)
	PeekAdmission(ctx context.Context, at patra.WorkScope) (patra.Admission, error)
}

// HarvestHistory tells what earlier harvests found.
type HarvestHistory interface {
	History(ctx context.Context, gateKey, source, endpoint, exprProtoHash string, near patra.Window) (patra.Density, error)
	LastLag(ctx context.Context, cursorID int64) (*time.Duration, error)
	Lateness(ctx context.Context, cursorID int64, since patra.Instant) (patra.Lateness, error)
	CountRecords(ctx context.Context, source string) (int64, error)
	CountKnown(ctx context.Context, source, repository string) (int64, error)
}

// RecordSelection tells which records an update by id is for, and keeps the list with the plan.
type RecordSelection interface {
	CountCandidates(ctx context.Context, source, recordType string, p patra.RecordSelector) (int64, error)
	FreezeRecordList(ctx context.Context, now patra.Instant, planID int64, source, recordType string, p patra.RecordSelector, buckets int64) error
	SpecsOf(ctx context.Context, source string) ([]string, error)
}

// Splits hands out slices that ended early and puts their children in their place. Split fails with
// patra.ErrIllegalMove when another planner was faster.
type Splits interface {
	PartialSlices(ctx context.Context, cursorID int64, limit int) ([]patra.Slice, error)
	Shown(ctx context.Context, sliceID int64) (patra.ShownIDs, error)
	Split(ctx context.Context, now patra.Instant, parent patra.Slice, children []patra.Slice, trigger string, maxAttempts int64) error
	FailSlice(ctx context.Context, now patra.Instant, parent patra.Slice, why patra.Fault) error
	Plan(ctx context.Context, id int64) (patra.Plan, error)
	Snapshot(ctx context.Context, fingerprint string) (json.RawMessage, error)
}

// Bounds keeps what was found out about the windows of providers, for everybody. KeepWindowBounds gives what is stored then: where
// another planner was faster, its finding counts.
type Bounds interface {
	WindowBounds(ctx context.Context, source, endpoint, address string) (patra.FoundBounds, error)
	KeepWindowBounds(ctx context.Context, now patra.Instant, f patra.FoundBounds) (patra.FoundBounds, error)
}

// Store is what a planner needs of the tables.
type Store interface {
	Triggers
	Bounds
	Certificates
	Cursors
	Plans
	Queue
	HarvestHistory
	RecordSelection
	Splits
}

// Prober asks a provider how much there is, and how finely it filters, through the same gate as every other request.
type Prober interface {
	Precision(ctx context.Context, spec *source.Spec, baseURL string) (patra.Unit, error)
	Probe(ctx context.Context, spec *source.Spec, query query.Node, window patra.Window, baseURL string) (patra.Probe, error)
}

// Secrets reports whether a secret is set, or why it cannot be had. A planner never sees one.
type Secrets interface {
	Have(name string) (bool, error)
}

// Config is how finely a planner cuts, and how much it puts into the queue.
type Config struct {
	SafetyLag     time.Duration // of a source that names none
	TaskAttempts  int64
	Target        int64         // records that a slice should not exceed
	MaxPages      int64         // pages that a slice should not exceed
	MinStep       time.Duration // of a source that names none
	Inventory     int64         // tasks of one partition that may wait; 0 is no limit
	Probes        int           // counts that may be asked for one plan
	BackfillShare float64       // of a provider's quota, for history
	Insecure      []string      // addresses that may be asked without encryption
}

// Planner makes plans.
type Planner struct {
	Store   Store
	Config  Config
	Prober  Prober  // nil: nothing is counted
	Secrets Secrets // nil: there are none

	Examiner Examiner // nil: no provider is examined before its first harvest

	Observe func(SlicingStats) // told how far the cutting is, now and then; may be nil
	Tracer  trace.Tracer       // nil: nothing is traced
}

func (p *Planner) publish(t SlicingStats) {
	if p.Observe != nil {
		p.Observe(t)
	}
}

// Request is what somebody asks for.
type Request struct {
	Source    *source.File
	Endpoint  string
	Operation patra.Operation // empty is HARVEST
	Campaign  string          // of a BACKFILL or an UPDATE; empty is the default
	Contact   string
	Params    map[string]string // of the source
	Basis     string            // what the claims of the file rest on; empty: what its certificates say
	Found     patra.FoundClaims // by them, where the file says nothing
	Query     string            // in the text form; empty asks for everything
	From, To  *patra.Instant
	First     *patra.Instant        // where the first harvest begins, in place of what the source says
	ByID      bool                  // of an UPDATE: known records, one by one
	Pick      *patra.RecordSelector // of an UPDATE by id: which records; nil is all that are known
	IDsOf     string                // of an UPDATE by id: SOURCE or SOURCE.FIELD whose values are the ids; empty is the source itself
	Newest    bool                  // newest first
	BaseURL   string                // a mirror or a simulator in place of the source's own address
	Origin    json.RawMessage       // which layer each setting is from, for those who ask later
	Purpose   patra.Purpose         // why what is covered is read again; empty is RECONCILE
	Force     bool                  // plan again although the same plan exists, and read again what is covered
	Fill      *Fill                 // read what is missing of one cursor, and nothing else
	Priority  int                   // 0 is that of the operation
	By        Trigger

	expr json.RawMessage // the query in its stored form, in place of Query
}

// Fill asks for the gaps of a cursor: what nobody has read and nobody is at work on, whatever became of it before.
type Fill struct {
	CursorID int64 // the request must lead to this cursor, or it would fill the gaps of another
	Disputed bool  // and read again what the provider counts differently
	Read     bool  // and what was read without a proof
}

// Trigger is who or what asks. The zero value is a person.
type Trigger struct {
	Scheduler, Type, Job, Log string
}
