// Package executor takes tasks and reads pages until the provider has no more.
//
// It claims a task under a lease, asks the gate before every request, writes a ledger row before anything is sent,
// and commits each page in one transaction. It ends a task with the proof that its scan was exhausted; or it leaves a
// slice that is too large, with what is proved of it, and a planner cuts the rest. For planners it also asks providers how
// much there is.
//
// It never plans, never moves a watermark (the store does, when a slice closes), never reads a source file (the
// stored snapshot is all it knows), and never writes after it lost its lease.
//
// Its words: a run is one attempt at a task; a scan is one walk from the first page; a page is one request and its
// answer; a restart is a new scan after a page was lost that cannot be asked for again; an early end is a scan that was
// left before its slice was read; a probe is a request for a count.
package executor

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"patra"
	"patra/internal/source"
)

// Queue hands out tasks and takes them back. Claim gives nil when there is nothing to do. Heartbeat and Finish fail
// with patra.ErrLeaseLost when another worker has the task; then nothing was written. Finish fails with patra.ErrLookAgain
// when the parts of a window that was cut by ids do not add up, and nobody has looked twice.
type Queue interface {
	Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error)
	Heartbeat(ctx context.Context, l patra.Lease) error
	Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error
	IsLastPart(ctx context.Context, c *patra.Claim) (bool, error)
	FailExhausted(ctx context.Context) (int, error)
}

// Ledger keeps pages. Every method fails with patra.ErrLeaseLost when another worker has the task.
type Ledger interface {
	OpenPage(ctx context.Context, c *patra.Claim, now patra.Instant, open patra.PageOpen) (patra.OpenPage, error)
	CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error)
	FailPage(ctx context.Context, c *patra.Claim, now patra.Instant, page patra.OpenPage, fail patra.PageFailure, next *patra.PageOpen) (*patra.OpenPage, error)
	Items(ctx context.Context, c *patra.Claim, scanNo, after int64, limit int) ([]patra.DetailID, error)
	SeedItems(ctx context.Context, c *patra.Claim, now patra.Instant, r patra.SliceRange) (int64, error)
	Walked(ctx context.Context, c *patra.Claim, scanNo int64) (patra.ScanProgress, error)
	ScannedPages(ctx context.Context, c *patra.Claim) ([]patra.ScannedPage, error)
}

// Bounds keeps what was found out about the windows of providers. DoubtWindowBounds gives what is stored then, and fails with
// patra.ErrLeaseLost when another worker has the task.
type Bounds interface {
	WindowBounds(ctx context.Context, source, endpoint, address string) (patra.FoundBounds, error)
	DoubtWindowBounds(ctx context.Context, c *patra.Claim, now patra.Instant, f patra.FoundBounds, why string) (patra.FoundBounds, error)
}

// Store is what an executor needs of the tables. Shown has what a provider has shown of the window of a slice, and MissingShown
// what of that a finished scan should have found and did not.
type Store interface {
	Queue
	Bounds
	Shown(ctx context.Context, sliceID int64) (patra.ShownIDs, error)
	MissingShown(ctx context.Context, c *patra.Claim, scanNo int64) (patra.ShownIDs, error)
	Ledger
	RequestLedger
	RecordHealing(ctx context.Context, h patra.Healing) error
	Snapshot(ctx context.Context, fingerprint string) (json.RawMessage, error)
	SeenLast(ctx context.Context, source, recordType, repository string, limit int) (ids []string, err error)
	IsAbsent(ctx context.Context, source, recordType, id string) (bool, error)
}

// Gate decides when a request may be sent. Reserve charges at once and tells how long to wait, which is negative when the
// moment has passed already; Patience is how late a grant may be used; Remaining tells one who has waited whether a
// cooldown began in the meantime; Enter takes one of the slots for requests that are on their way, or tells when to ask
// again, and Leave frees it; Report tells the gate how the provider answered. After an error nothing is sent.
type Gate interface {
	Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error)
	MaxLateness(l patra.RateLimit) time.Duration
	CooldownRemaining(ctx context.Context, key string) (time.Duration, error)
	CooldownEpoch(key string) int64
	Cooldown(ctx context.Context, key string, wait time.Duration) error
	AcquireSlot(ctx context.Context, l patra.RateLimit, e patra.InFlightRequest) (wait time.Duration, err error)
	ReleaseSlot(ctx context.Context, l patra.RateLimit, id string) error
	Report(ctx context.Context, l patra.RateLimit, a patra.RateFeedback) error
}

// Config is how an executor works.
type Config struct {
	Owner        string // random, new for every process
	Workers      int
	Readers      int   // pages that are read at the same time; 0 is no limit
	PerPartition int   // 0 is no limit
	CursorID     int64 // only work of this cursor; 0 is any
	PlanID       int64 // only work of this plan; 0 is any
	Lease        time.Duration
	Heartbeat    time.Duration
	Vars         source.Vars
	Poll         time.Duration // how often an idle worker looks for work
	Grace        time.Duration // how long a page in flight may go on after the end was asked for
	Prefetch     bool          // the next page is asked for while the one before is written, also where a walk can be resumed
	Memory       int64         // bytes that all pages in hand may take together; 0 is no limit
	Strain       patra.WalkLimits
	KeepBodies   func(source string) time.Duration // how long bodies are kept; nil or 0 is for ever
	LogSample    float64                           // share of the pages that went well that get a line
	Propagate    bool                              // providers are told which run and trace a request belongs to
	Outlast      bool                              // a store or a place for bodies that is away is waited for; else it ends the run
}

// Event is something worth telling a person while it happens.
type Event struct {
	Kind    string
	Claim   *patra.Claim
	Counts  patra.Counts       // PAGE
	Fault   *patra.Fault       // RETRY, RESTART, FAILED, NO_PAGE
	State   patra.Completeness // DONE
	Reslice *patra.Reslice     // PARTIAL
	Hold    *patra.Admission   // HELD
	Healing *patra.Healing     // HEAL

	Exchange patra.Exchange // PAGE, NO_PAGE: the request
	Took     time.Duration  // PAGE: from the request to the end of its transaction
}

// The kinds of event.
const (
	EventPage     = "PAGE"
	EventRetry    = "RETRY"
	EventRestart  = "RESTART"
	EventHeal     = "HEAL"
	EventDone     = "DONE"
	EventPartial  = "PARTIAL" // the slice was left before its end, and waits to be cut
	EventFailed   = "FAILED"
	EventLost     = "LOST"
	EventReleased = "RELEASED"

	EventHeld      = "HELD" // the run gave its task back, because something holds it back
	EventCancelled = "CANCELLED"

	// What only numbers are made of goes to Measure.
	EventBegun  = "BEGUN"   // a task was taken
	EventOver   = "OVER"    // and is in nobody's hands here any more, whatever became of it
	EventNoPage = "NO_PAGE" // a request gave no page; what is done about it is told of apart
)

// Executor runs tasks until its context ends, or until Done says that there is nothing left.
type Executor struct {
	Store   Store
	Gate    Gate
	Config  Config
	Log     *slog.Logger
	Observe func(Event)                             // may be nil
	Measure func(Event)                             // the same, of what is worth counting and not worth telling
	Done    func(ctx context.Context) (bool, error) // asked by an idle worker; nil is never
	Client  func(*source.Spec, string) *http.Client // the way out to a source, or to the base URL of a plan

	Credentials *Credentials // nil: nobody is named
	Controls    Controls     // what holds requests back; nil is nothing
	Evidence    BodyWriter   // where bodies are kept; nil is nowhere
	Tracer      trace.Tracer // nil: nothing is traced
	Guard       func()       // deferred by every goroutine, to catch what breaks it; nil: nobody does

	turn     atomic.Uint64
	memory   memoryBudget
	rooms    parseSlots
	ready    sync.Map    // fingerprint + base URL -> *target
	answered sync.Map    // source/endpoint -> *atomic.Int64: what was answered since its breaker heard of a failure
	uneasy   sync.Map    // source/endpoint -> true: its breaker counts failures, so it must hear of a success
	paces    sync.Map    // partition -> *pace
	full     atomic.Bool // answers cannot be kept now, and that was said
}

// sourceClient is a source as this process talks to it.
type sourceClient struct {
	program *source.Program
	client  *http.Client

	second       *source.Program // where a search gives only ids
	secondClient *http.Client

	sizes    *maxBodySizes
	spoilage *badItemRate
}

// maxBodySizes are the largest answers that came, of a search and of records by id.
type maxBodySizes struct{ search, detail atomic.Int64 }

func (s *maxBodySizes) of(phase patra.Phase) *atomic.Int64 {
	if phase == patra.PhaseDetail {
		return &s.detail
	}
	return &s.search
}

// Run works until ctx ends. Then it claims nothing more, lets the page in hand finish or give up, gives its tasks
// back and returns nil.
func (x *Executor) Run(ctx context.Context) error {
	x.rooms = newReaders(x.Config.Readers)
	group, ctx := errgroup.WithContext(ctx)
	resting, wake := context.WithCancel(ctx)
	defer wake()
	for i := range x.Config.Workers {
		group.Go(func() error {
			defer x.guard()()
			defer wake() // who ends has seen that everything is done: nobody need rest until he sees it too
			return x.worker(ctx, resting, i+1)
		})
	}
	return group.Wait()
}

// worker is the loop. Whoever outlasts the store asks again when it does not answer, ever more seldom.
func (x *Executor) worker(ctx, resting context.Context, slot int) error {
	for absence := 0; ; {
		done, err := x.turnOnce(ctx, resting, slot)
		switch {
		case ctx.Err() != nil:
			return nil
		case x.isStoreOutage(err):
			absence++
			x.waitForStore(ctx, absence)
		case done || err != nil:
			return err
		default:
			absence = 0
		}
	}
}

// turnOnce does one task, or rests a little when there is none.
func (x *Executor) turnOnce(ctx, resting context.Context, slot int) (done bool, err error) {
	if worked, err := x.step(ctx, slot); worked || err != nil {
		return false, err
	}
	return x.idle(ctx, resting)
}

// step claims one task and runs it to its end.
func (x *Executor) step(ctx context.Context, slot int) (worked bool, err error) {
	looked := time.Now()
	claim, err := x.Store.Claim(ctx, patra.ClaimRequest{Owner: x.Config.Owner, Lease: x.Config.Lease, CursorID: x.Config.CursorID, PlanID: x.Config.PlanID,
		PerPartition: x.Config.PerPartition, Turn: x.turn.Add(1)})
	if err != nil || claim == nil {
		return false, err
	}
	ctx, ended := x.traced(ctx, claim, looked)
	defer ended()
	x.logClaimed(ctx, claim, slot)
	return true, x.execute(ctx, claim)
}

func (x *Executor) guard() func() {
	if x.Guard == nil {
		return func() {}
	}
	return x.Guard
}

// idle waits a little before the next look, unless everything is done. Resting is over when another one ends.
func (x *Executor) idle(ctx, resting context.Context) (done bool, err error) {
	if _, err := x.Store.FailExhausted(ctx); err != nil && ctx.Err() == nil {
		return false, err
	}
	if x.Done != nil {
		done, err := x.Done(ctx)
		if ctx.Err() != nil { // whatever it says, it may say so because it was told to stop
			return true, nil
		}
		if done || err != nil {
			return done, err
		}
	}
	select {
	case <-resting.Done():
		return true, nil
	case <-time.After(x.Config.Poll):
		return false, nil
	}
}

// execute runs one claimed task and closes it, whatever happened.
func (x *Executor) execute(ctx context.Context, c *patra.Claim) error {
	x.numbers(Event{Kind: EventBegun, Claim: c})
	defer x.numbers(Event{Kind: EventOver, Claim: c})
	t, err := x.target(ctx, c)
	if err != nil {
		return x.close(ctx, c, &run{}, err)
	}
	t, found, err := x.bounded(ctx, c, t)
	if err != nil {
		return x.close(ctx, c, &run{}, err)
	}
	// A page in flight may finish after we are told to stop: what was fetched is worth keeping.
	runCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(x.Config.Grace, func() { stop(context.Canceled) }) })()
	beating := make(chan struct{})
	go func() {
		defer x.guard()()
		defer close(beating)
		x.heartbeat(runCtx, c.Lease, stop)
	}()
	r := &run{Executor: x, claim: c, sourceClient: t, bounds: found, transport: x.wire(c, ctx.Done()), log: x.runLogger(c), strain: patra.WalkLoad{Limits: x.Config.Strain}}
	err = r.walk(runCtx)
	if early, ok := errors.AsType[*earlyEndError](err); ok {
		r.countConfirmed(runCtx)
		r.heal(runCtx, patra.HealReslice, early.reason, map[string]any{"window": c.Slice.Window.String(), "pages": r.scan.ordinal - 1, "text": early.text})
	}
	if cause := context.Cause(runCtx); errors.Is(cause, patra.ErrLeaseLost) || err != nil && errors.Is(cause, patra.ErrUnavailable) {
		err = cause // and not that something was broken off
	}
	stop(nil)
	<-beating
	return x.close(ctx, c, r, err)
}

// wire is the way of a claim's requests.
func (x *Executor) wire(c *patra.Claim, drain <-chan struct{}) transport {
	return transport{gate: x.Gate, rows: x.Store, dial: x.Client, credentials: x.Credentials, vars: x.Config.Vars, base: c.BaseURL, drain: drain, grants: newGrants(),
		tracer: x.Tracer, propagate: x.Config.Propagate}
}

// target finds or makes the program and the client for a claim. A snapshot that is not there or not understood will never
// be; a store that does not answer will.
func (x *Executor) target(ctx context.Context, c *patra.Claim) (*sourceClient, error) {
	key := c.Spec + " " + c.BaseURL
	if t, ok := x.ready.Load(key); ok {
		return t.(*sourceClient), nil
	}
	body, err := x.Store.Snapshot(ctx, c.Spec)
	if err != nil && !errors.Is(err, patra.ErrNotFound) {
		return nil, err
	}
	var spec *source.Spec
	if err == nil {
		spec, err = source.FromSnapshot(c.Spec, body)
	}
	var made *sourceClient
	if err == nil {
		made, err = newTarget(spec, c.BaseURL, x.Client)
	}
	if errors.Is(err, source.ErrNewer) {
		return nil, &newerVersionError{err}
	}
	if err != nil {
		return nil, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	t, _ := x.ready.LoadOrStore(key, made)
	return t.(*sourceClient), nil
}

// newerVersionError is why a task is left to another version of the program.
type newerVersionError struct{ err error }

// leaveFor is how long a task rests that was left to another version: there may be one here that waits for it.
const leaveFor = 5 * time.Second

// Error implements error.
func (e *newerVersionError) Error() string { return e.err.Error() }

// Unwrap gives the reason, and what a person can do.
func (e *newerVersionError) Unwrap() []error {
	return []error{e.err, patra.Problems{{Code: patra.CodeNewer, Path: "task", Text: "a task was planned by another version of patra, and says what this one does not understand (" + e.err.Error() + ")", Hint: "Use that version, or a newer one"}}}
}

// newTarget makes what is needed to talk to a source.
func newTarget(spec *source.Spec, baseURL string, client func(*source.Spec, string) *http.Client) (t *sourceClient, err error) {
	t = &sourceClient{client: client(spec, baseURL), sizes: &maxBodySizes{}, spoilage: newSpoilage()}
	if t.program, err = spec.Compile(); err != nil || spec.Second == nil {
		return t, err
	}
	t.secondClient = client(spec.Second, baseURL)
	t.second, err = spec.Second.Compile()
	return t, err
}

func (x *Executor) emit(e Event) {
	if x.Observe != nil {
		x.Observe(e)
	}
}

func (x *Executor) numbers(e Event) {
	if x.Measure != nil {
		x.Measure(e)
	}
}
