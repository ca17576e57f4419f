package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"patra"
	"patra/internal/query"
	"patra/internal/store"
)

// Origin is where the tests' history begins.
var Origin = patra.Date(2026, time.March, 1)

// Clock is a time that a test moves by hand.
type Clock struct {
	at     time.Time
	follow func() time.Time
	ahead  time.Duration
}

// NewClock starts at noon of a day in June.
func NewClock() *Clock { return &Clock{at: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)} }

// Now is the time.
func (c *Clock) Now() time.Time {
	if c.follow != nil {
		return c.follow().Add(c.ahead)
	}
	return c.at
}

// Follow lets another clock, such as that of a bubble, move this one from now on.
func (c *Clock) Follow(now func() time.Time) { c.follow, c.ahead = now, c.at.Sub(now()) }

// Instant is the time as the tables hold it.
func (c *Clock) Instant() patra.Instant { return patra.InstantOf(c.Now()) }

// Move lets time pass.
func (c *Clock) Move(d time.Duration) { c.at, c.ahead = c.at.Add(d), c.ahead+d }

// World is a store with one cursor and a plan of daily slices.
type World struct {
	*store.Store
	T      testing.TB
	Clock  *Clock
	Cursor patra.Cursor
	Plan   patra.Plan
	URL    string
	source string
}

// NewWorld plans days slices from Origin.
func NewWorld(t testing.TB, e Engine, days int) *World {
	t.Helper()
	w := &World{T: t, Clock: NewClock(), URL: e.URL(t), source: "demo"}
	w.Store = e.Connect(t, w.URL, store.WithClock(w.Clock.Now))
	_, err := w.Migrate(t.Context())
	w.must(err)
	w.Cursor, w.Plan = w.AddPlan("demo", "works", days, 5)
	return w
}

// AddPlan makes another cursor with a plan of its own.
func (w *World) AddPlan(source, endpoint string, days int, maxAttempts int64) (patra.Cursor, patra.Plan) {
	w.T.Helper()
	ctx, now := w.T.Context(), w.Clock.Instant()
	cursor, err := w.EnsureCursor(ctx, now, patra.Cursor{Namespace: patra.HarvestNamespace(source, endpoint, "indexed_at", query.All().Hash(), nil), Origin: Origin, OriginCode: patra.OriginUser, ExprProtoHash: query.All().Hash()})
	w.must(err)
	plan := w.StartPlanFor(cursor, patra.Window{From: Origin, To: Origin + patra.Instant(days)*patra.Day})
	cursor, _, _, err = w.Need(ctx, cursor.ID)
	w.must(err)
	w.must(w.AddSlices(ctx, now, plan.ID, cursor.PlanVersion, Days(Origin, days), patra.TriggerManual, maxAttempts))
	w.must(w.EndSlicing(ctx, plan.ID, patra.SlicingEnd{Status: patra.Ready}))
	return cursor, plan
}

// snapshot is the stored source of all plans here.
var snapshot = []byte(`{"v":1}`)

// StartPlanFor stores a plan without slices.
func (w *World) StartPlanFor(c patra.Cursor, window patra.Window) patra.Plan {
	w.T.Helper()
	plan, err := w.StartPlan(w.T.Context(), w.Clock.Instant(), w.draft(c, window), patra.Snapshot{Fingerprint: patra.HashBytes(snapshot), Source: c.Source, Endpoint: c.Endpoint,
		Operation: patra.Harvest, Body: snapshot})
	w.must(err)
	return plan
}

func (w *World) draft(c patra.Cursor, window patra.Window) patra.Plan {
	w.T.Helper()
	id, err := w.AcceptTrigger(w.T.Context(), w.Clock.Instant(), patra.Trigger{Scheduler: patra.SchedulerManual, JobID: "test", LogID: store.NewOwner(), Trigger: patra.TriggerManual,
		TriggeredAt: w.Clock.Instant(), Params: json.RawMessage(`{}`), Source: c.Source, Endpoint: c.Endpoint, Operation: patra.Harvest})
	w.must(err)
	p := patra.Plan{InstanceID: id, Source: c.Source, Endpoint: c.Endpoint, Operation: patra.Harvest, CursorID: c.ID, Window: window, Inputs: json.RawMessage(`{}`),
		ExprProtoHash: query.All().Hash(), ExprProto: query.All().JSON(), Spec: patra.HashBytes(snapshot), Strategy: "TIME", SliceParams: json.RawMessage(`{}`), Priority: 2}
	p.Key = patra.PlanKey(p)
	return p
}

// Days are slices of one day each.
func Days(from patra.Instant, n int) []patra.Slice {
	var slices []patra.Slice
	for i := range n {
		w := patra.Window{From: from + patra.Instant(i)*patra.Day, To: from + patra.Instant(i+1)*patra.Day}
		bound := query.Bind(query.All(), "indexed_at", w)
		sl := patra.Slice{Purpose: patra.PurposeNeed, Window: w, Fetch: w, Expr: bound.JSON(), ExprHash: bound.Hash(), Spec: patra.NewTimeSlice(w, patra.UnitDay, patra.Hints{})}
		sl.Signature = sl.Spec.Signature()
		slices = append(slices, sl)
	}
	return slices
}

// Lease is the lease of every claim here.
const Lease = time.Minute

// Take claims a task for a new owner; it must get one.
func (w *World) Take() *patra.Claim {
	w.T.Helper()
	c := w.TryTake(patra.ClaimRequest{})
	if c == nil {
		w.T.Fatal("nothing to claim")
	}
	return c
}

// TryTake claims a task, if there is one.
func (w *World) TryTake(req patra.ClaimRequest) *patra.Claim {
	w.T.Helper()
	if req.Owner == "" {
		req.Owner = store.NewOwner()
	}
	req.Lease = Lease
	c, err := w.Claim(w.T.Context(), req)
	w.must(err)
	return c
}

// OpenAt writes the row of a page.
func (w *World) OpenAt(c *patra.Claim, batchNo, scan, ordinal int64) (patra.OpenPage, error) {
	return w.OpenPage(w.T.Context(), c, w.Clock.Instant(), patra.PageOpen{BatchNo: batchNo, ScanNo: scan, Phase: patra.PhaseSearch, Ordinal: ordinal, PageSize: 10,
		Before: fmt.Sprint("at ", ordinal), RequestID: store.NewOwner(), GateKey: "demo", Cost: 1, AcquiredAt: w.Clock.Instant()})
}

// Commit commits a page with records.
func (w *World) Commit(c *patra.Claim, page patra.OpenPage, hasNext bool, records ...patra.Observation) (patra.Counts, error) {
	counts, _, err := w.CommitPage(w.T.Context(), c, w.Clock.Instant(), "work", page, w.Result(hasNext, records...), nil)
	return counts, err
}

// Result is the answer of a page.
func (w *World) Result(hasNext bool, records ...patra.Observation) patra.PageResult {
	return patra.PageResult{Records: records, HasNext: hasNext, After: "on", Exchange: patra.Exchange{SentAt: w.Clock.Instant(), FinishedAt: w.Clock.Instant(), Status: 200, Outcome: patra.OutcomeOK}}
}

// Page opens and commits one page.
func (w *World) Page(c *patra.Claim, ordinal int64, hasNext bool, records ...patra.Observation) patra.Counts {
	w.T.Helper()
	page, err := w.OpenAt(c, ordinal, c.Task.ScanNo, ordinal)
	w.must(err)
	counts, err := w.Commit(c, page, hasNext, records...)
	w.must(err)
	return counts
}

// Succeed closes a task whose scan is in the ledger.
func (w *World) Succeed(c *patra.Claim, state patra.Completeness) error {
	return w.Finish(w.T.Context(), c, w.Clock.Instant(), patra.RunResult{Status: patra.Succeeded, Proof: &patra.Proof{ScanNo: c.Task.ScanNo, Trust: patra.TrustExact, State: state, Last: true, Rest: new(int64)}})
}

// Work reads a task to its end with the given records.
func (w *World) Work(c *patra.Claim, records ...patra.Observation) {
	w.T.Helper()
	w.Page(c, 1, false, records...)
	w.must(w.Succeed(c, patra.StateSealed))
}

// Record is an observation of id with a time and some content.
func (w *World) Record(id string, updated patra.Instant, content string) patra.Observation {
	return patra.Observation{ID: id, UpdatedAt: &updated, ObservedAt: w.Clock.Instant(), Hash: patra.Hash(content), Fields: json.RawMessage(`{"c":` + fmt.Sprintf("%q", content) + `}`), Raw: []byte(`{"raw":1}`), RawCode: "JSON"}
}

// Watermark reads the cursor.
func (w *World) Watermark() patra.Cursor {
	w.T.Helper()
	c, err := w.Store.Cursor(w.T.Context(), w.Cursor.Namespace)
	w.must(err)
	return *c
}

// Task reads one task.
func (w *World) Task(id int64) patra.Task {
	w.T.Helper()
	rows, err := w.Tasks(w.T.Context(), store.Filter{Task: id})
	w.must(err)
	return rows[0]
}

func (w *World) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}
