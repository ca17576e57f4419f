package executor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"patra"
	"patra/internal/query"
	"patra/internal/source"
)

// run is one attempt at a task.
type run struct {
	*Executor
	*sourceClient
	transport
	claim *patra.Claim
	log   *slog.Logger
	query query.Node
	began time.Time

	batchNo  int64
	scan     scan
	rescans  int64
	restarts int
	strain   patra.WalkLoad
	advanced bool  // a page came and was kept
	furthest int64 // the page up to which earlier attempts came
	progress bool  // this one has read what none before it had read
	proof    *patra.Proof
	counted  *int64 // what the provider says about the part that an early end confirms
	bounds   patra.FoundBounds
	widened  bool
	census   *source.Program // what reads a list of the ids of the window
	shown    patra.ShownIDs  // of the slice's window, and what of it this scan has met
	witness  patra.WitnessPlan
	earlier  []*patra.ScanEvidence // scans of the window that came to their end before this one
	admissionState
}

// newScan is a scan before its first page.
func (r *run) newScan(no int64) scan {
	return scan{no: no, ordinal: 1, position: r.program.Spec.First(), seed: maphash.MakeSeed(), places: map[uint64]struct{}{},
		evidence: patra.NewScanEvidence(no, r.witness), walked: patra.ScanProgress{Order: r.promised()}}
}

// walk reads pages until the provider has no more and the ledger can prove it.
func (r *run) walk(ctx context.Context) (err error) {
	r.began = time.Now()
	if ids := r.claim.Slice.Spec.Range; ids != nil && ids.Kind == patra.RangeBucket {
		return r.fetchKnownIDs(ctx, *ids)
	}
	if r.query, err = question(r.claim); err != nil {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	if err := r.recallShown(ctx); err != nil {
		return err
	}
	ended, err := r.begin(ctx)
	if err != nil {
		return err
	}
	if ended {
		if err := r.finishScan(ctx); !r.rescan(ctx, err) {
			return err
		}
	}
	return r.pages(ctx)
}

// pages walks from page to page.
func (r *run) pages(ctx context.Context) error {
	coming, err := r.sendPage(ctx)
	if err != nil {
		return err
	}
	for attempt := 1; ; {
		page := coming.page
		coming, err = r.commitNext(ctx, coming)
		switch {
		case err == nil && coming != nil:
			attempt = 1
			continue
		case err == nil:
			if err := r.finishScan(ctx); !r.rescan(ctx, err) {
				return err
			}
			attempt = 1
		default:
			if err := r.retryPage(ctx, page, err, attempt); err != nil {
				return err
			}
			attempt++
		}
		if coming, err = r.sendPage(ctx); err != nil {
			return err
		}
	}
}

// question is what a slice asks: the plan's question, for its own ids only where the window is cut by them.
func question(c *patra.Claim) (query.Node, error) {
	if err := c.Slice.Spec.Validate(); err != nil {
		return query.Node{}, err
	}
	q, err := query.ParseJSON(c.Query)
	ids := c.Slice.Spec.Range
	if err != nil || ids == nil {
		return q, err
	}
	return query.BindRange(q, ids.Key, ids.IDRange), nil
}

// begin decides where the scan starts. It reports true when an earlier run read the scan to its end and only the
// closing was lost.
func (r *run) begin(ctx context.Context) (ended bool, err error) {
	task, resume := r.claim.Task, r.claim.Resume
	r.furthest = task.NextOrdinal
	r.witness = r.program.Spec.Witness(r.query)
	r.scan = r.newScan(task.ScanNo)
	var current *patra.ScanEvidence
	known := true
	if task.ScanNo > 1 || task.NextOrdinal > 1 {
		if current, known, err = r.loadScans(ctx, task.ScanNo); err != nil {
			return false, err
		}
		r.rescans = int64(len(r.earlier)) // by whichever process: else a window whose scans outlast processes would be read for ever
	}
	switch {
	case task.NextOrdinal <= 1 && r.program.Spec.Stateful() && r.claim.Fence > 1:
		// Whoever was here before may have asked for the second page without having written the first.
		r.scan = r.newScan(task.ScanNo + 1)
		return false, nil
	case task.NextOrdinal <= 1:
		return false, nil
	case resume == nil, resume.HasNext && r.program.Spec.Stateful(), !known:
		// Whoever had the token before may have consumed pages with it that never arrived.
		r.scan = r.newScan(task.ScanNo + 1)
		return false, nil
	}
	r.scan.ordinal, r.scan.position, r.scan.total, r.scan.evidence, r.scan.resumed = task.NextOrdinal, resume.After, resume.Total, current, true
	// What earlier runs of this scan saw, this one has not seen: it believes no more of the order than the ledger does.
	r.scan.walked, err = r.Store.Walked(ctx, r.claim, task.ScanNo)
	return !resume.HasNext, err
}

// finishScan ends a scan whose search is exhausted: where it gave only ids, their records are fetched first.
func (r *run) finishScan(ctx context.Context) error {
	if r.second != nil {
		if err := r.details(ctx); err != nil {
			return err
		}
	}
	if err := r.assessScan(ctx); err != nil {
		return err
	}
	return r.countRest(ctx)
}

// rescanError asks for one more scan of the window.
type rescanError struct{ fault *patra.Fault }

// Error implements error.
func (e *rescanError) Error() string { return e.fault.Text }

// rescan begins another scan if that is why a finished one did not close the window.
func (r *run) rescan(ctx context.Context, why error) bool {
	again, ok := errors.AsType[*rescanError](why)
	if !ok {
		return false
	}
	r.rescans++
	r.earlier = append(r.earlier, r.scan.evidence)
	if len(r.earlier) < r.witness.Scans() && again.fault != disputed { // nothing went wrong: the witness is a second scan
		r.scan = r.newScan(r.scan.no + 1)
		return true
	}
	r.restart(ctx, patra.HealRescan, again.fault)
	return true
}

// assessScan judges what the scans of the window prove. Ids that the provider has shown and that the scan did not find are a
// dispute after one more scan.
func (r *run) assessScan(ctx context.Context) error {
	if again, err := r.outdated(ctx); again || err != nil {
		return cmp.Or[error](err, &rescanError{disputed})
	}
	missing, err := r.missingShown(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 && r.rescans == 0 {
		if err := r.doubtBounds(ctx, missing); err != nil {
			return err
		}
		return &rescanError{disputed}
	}
	verdict, err := r.judge(ctx)
	if err != nil {
		return err
	}
	if verdict.Again && len(missing) == 0 {
		return &rescanError{&patra.Fault{Level: patra.LevelRetry, Code: patra.CodeUnproved, Text: verdict.Proof.Why}}
	}
	if verdict.State == patra.StateRead && len(missing) == 0 && r.proveShorter() {
		return &earlyEndError{patra.ResliceUnproved, verdict.Proof.Why}
	}
	state := verdict.State
	if len(missing) > 0 {
		state = patra.StateDisputed
	}
	r.proof = &patra.Proof{ScanNo: r.scan.no, Trust: r.program.Spec.Response.Total.Trust, State: state, FoundState: verdict.State, Window: verdict.Proof,
		IDsSeen: r.scan.seen(), Rescans: r.rescans, Details: r.second != nil, Widened: r.widened}
	return nil
}

// disputed is why a window is scanned once more that something contradicts.
var disputed = &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeDisputed, Text: "records that the provider has shown were not found"}

// preparePage makes the row of the next request of the search.
func (r *run) preparePage(ctx context.Context, ordinal int64, position string) (pageRequest, error) {
	call, err := r.program.Spec.Build(r.query, r.claim.Slice.Fetch, position, r.claim.BaseURL, r.Config.Vars)
	if err != nil {
		if fault, ok := errors.AsType[*patra.Fault](err); ok {
			return pageRequest{}, fault
		}
		return pageRequest{}, &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	return r.newPageRequest(ctx, patra.PhaseSearch, ordinal, position, call)
}

// newPageRequest is the row of a request: its place in the scan and its way through the gate.
func (r *run) newPageRequest(ctx context.Context, phase patra.Phase, ordinal int64, position string, call source.Call) (pageRequest, error) {
	toll := r.costOf(r.spec(phase))
	g, err := r.reserve(ctx, toll)
	if err != nil {
		return pageRequest{}, err
	}
	r.batchNo++
	return pageRequest{patra.PageOpen{
		BatchNo: r.batchNo, ScanNo: r.scan.no, Phase: phase, Ordinal: ordinal, PageSize: r.program.Spec.Pagination.PageSize, Before: position,
		RequestID: rand.Text(), GateKey: g.key, Cost: int64(toll.cost), Waited: g.wait.Microseconds(), AcquiredAt: g.at, Request: call.Digest(),
	}, call}, nil
}

// spec is that of a phase.
func (r *run) spec(phase patra.Phase) *source.Spec {
	program, _ := r.programOf(phase)
	return program.Spec
}

// programOf is what reads the answers of a phase, and the client that asks for them.
func (r *run) programOf(phase patra.Phase) (*source.Program, *http.Client) {
	switch phase {
	case patra.PhaseDetail:
		return r.second, r.secondClient
	case patra.PhaseCensus:
		return r.census, r.client
	}
	return r.program, r.client
}

// sendPage writes the row of the scan's next page and sends its request.
func (r *run) sendPage(ctx context.Context) (*inflightPage, error) {
	next, err := r.preparePage(ctx, r.scan.ordinal, r.scan.position)
	if err != nil {
		return nil, err
	}
	return r.sendNow(ctx, next)
}

// sendNow writes the row of a request and sends it.
func (r *run) sendNow(ctx context.Context, next pageRequest) (*inflightPage, error) {
	page, err := r.Store.OpenPage(ctx, r.claim, patra.InstantOf(time.Now()), next.PageOpen)
	if err != nil {
		return nil, err
	}
	return r.fetchAsync(ctx, page, next.call, r.allowance()), nil
}

// fetch waits for the turn of an announced request, sends it and reads the whole answer.
func (r *run) fetch(ctx context.Context, page patra.OpenPage, call source.Call, spec *source.Spec, client *http.Client, hold *patra.Admission) (got response, err error) {
	if _, err := r.identify(ctx, spec); err != nil { // a token is asked for before the turn of the request comes
		return response{}, notSentError(err)
	}
	granted := page.AcquiredAt.Add(time.Duration(page.Waited) * time.Microsecond)
	pass, err := r.acquirePermit(ctx, r.costOf(spec), granted)
	if err != nil {
		return response{}, err
	}
	defer pass.release()
	if r.draining() {
		return response{}, errDrained
	}
	if *hold, err = r.admitRequest(ctx); err != nil {
		return response{}, err
	}
	return r.send(ctx, spec, client, call, r.nameOf(page), pass)
}

// nameOf is what a provider is told a request is called.
func (r *run) nameOf(page patra.OpenPage) string {
	if r.propagate {
		return patra.CorrelationID(r.claim.RunID, page.BatchNo)
	}
	return page.RequestID
}

// commitNext waits for a page, commits it, and gives the next one that is on its way, or nil at the end of the walk.
func (r *run) commitNext(ctx context.Context, coming *inflightPage) (*inflightPage, error) {
	res, err := r.awaitPage(coming)
	defer coming.span.End()
	if err != nil {
		return nil, err
	}
	defer coming.held.release()
	page := coming.page
	fresh := r.scan.fresh(res)
	if err := r.repeats(res, page.Before); err != nil {
		err = coming.got.failed(patra.AsFault(err))
		failedSpan(coming.span, err)
		return nil, err
	}
	r.step(page, &res)
	seen := res
	if r.second != nil { // what the search gives are ids; their records come later
		for _, o := range res.Records {
			res.IDs = append(res.IDs, o.ID)
		}
		res.Records, res.Outside = nil, 0
	}
	res.Shown = r.metShown(page, seen)
	walked := r.follow(seen, fresh)
	res.Order = walked.Order
	r.strain.Page()
	enough := r.enough(ctx, res)
	var next *pageRequest
	var unasked error // the next page cannot be asked for: this one is whole all the same
	if res.HasNext && enough == nil && !r.draining() {
		var t pageRequest
		if t, unasked = r.preparePage(ctx, page.Ordinal+1, res.After); unasked == nil {
			next = &t
		}
	}
	after, counts, err := r.commit(ctx, coming, res, next)
	if err != nil {
		return nil, err
	}
	walked.Requests = r.scan.walked.Requests
	r.scan.ordinal, r.scan.position, r.scan.lastBody, r.scan.walked = page.Ordinal+1, res.After, res.BodySHA256, walked
	if res.Shown != nil {
		r.shown = res.Shown
	}
	r.scan.count(seen.Total, fresh, r.strays, r.program.Spec.Window.Precision)
	r.advanced, r.progress = true, r.progress || page.Ordinal >= r.furthest
	r.reportSuccess(ctx, res.Exchange)
	r.emit(Event{Kind: EventPage, Claim: r.claim, Counts: counts, Exchange: res.Exchange, Took: time.Since(res.Exchange.SentAt.Time())})
	if enough != nil {
		return nil, enough
	}
	if res.HasNext && after == nil {
		return nil, cmp.Or(unasked, errDrained)
	}
	return after, nil
}

// commit writes a page, and sends the next request before or after that: before, where the network would else be idle
// while we write.
func (r *run) commit(ctx context.Context, coming *inflightPage, res patra.PageResult, next *pageRequest) (after *inflightPage, counts patra.Counts, err error) {
	running := ctx
	var open *patra.PageOpen
	if next != nil {
		if after, err = r.prefetch(ctx, *next); err != nil {
			return nil, counts, err
		}
		if after == nil {
			open = &next.PageOpen
		}
	}
	ctx, writing := tracerOf(r.Executor.Tracer).Start(trace.ContextWithSpan(ctx, coming.span), SpanCommit)
	counts, opened, err := r.Store.CommitPage(ctx, r.claim, patra.InstantOf(time.Now()), r.program.Spec.RecordType, coming.page, res, open)
	failedSpan(writing, err)
	writing.End()
	if err != nil {
		failedSpan(coming.span, err)
		r.abandon(after)
		return nil, counts, err
	}
	r.spoilage.add(res)
	r.logPage(trace.ContextWithSpan(ctx, coming.span), coming, res, counts)
	if opened != nil {
		coming.held.release() // what was written is in nobody's hands any more
		after = r.fetchAsync(running, *opened, next.call, r.allowance())
	}
	return after, counts, nil
}

// errDrained means that the run was asked to stop and did so between two pages.
var errDrained = errors.New("stopped between two pages")
