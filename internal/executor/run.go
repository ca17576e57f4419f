package executor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"time"

	"patra"
	"patra/internal/expr"
	"patra/internal/source"
)

// run is one attempt at a task.
type run struct {
	*Executor
	*target
	claim *patra.Claim
	log   *slog.Logger
	query expr.Node
	drain <-chan struct{} // closed when no further page should be begun

	batchNo  int64
	scan     scan
	rescans  int64
	restarts int
	proof    *patra.Proof
}

// scan is one walk from the first page.
type scan struct {
	no       int64
	ordinal  int64
	position string
	seed     maphash.Seed
	ids      map[uint64]struct{}
	carried  int64 // distinct items of pages that an earlier run of this scan committed
	nameless int64 // quarantined items without an id: seen, though nobody can say which they are
	lastBody string
	total    *int64
}

func (s *scan) seen() int64 { return s.carried + s.nameless + int64(len(s.ids)) }

// saw counts an item once for each id.
func (s *scan) saw(id string) {
	if id == "" {
		s.nameless++
		return
	}
	s.ids[maphash.String(s.seed, id)] = struct{}{}
}

func newScan(no int64, position string) scan {
	return scan{no: no, ordinal: 1, position: position, seed: maphash.MakeSeed(), ids: map[uint64]struct{}{}}
}

// walk reads pages until the provider has no more and the ledger can prove it.
func (r *run) walk(ctx context.Context) (err error) {
	if r.query, err = expr.ParseJSON(r.claim.Query); err != nil {
		return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	if r.begin() {
		if err := r.settle(ctx); err == nil || !errors.Is(err, disputed) {
			return err
		}
		r.restart(disputed)
	}
	page, err := r.open(ctx)
	if err != nil {
		return err
	}
	for attempt := 1; ; {
		next, err := r.page(ctx, page)
		switch {
		case err == nil && next == nil:
			if err := r.settle(ctx); err == nil || !errors.Is(err, disputed) {
				return err
			}
			attempt = 1
			r.restart(disputed)
		case err == nil:
			page, attempt = *next, 1
			continue
		default:
			if err := r.recover(ctx, page, err, attempt); err != nil {
				return err
			}
			attempt++
		}
		if page, err = r.open(ctx); err != nil {
			return err
		}
	}
}

// begin decides where the scan starts. It reports true when an earlier run read the scan to its end and only the
// closing was lost.
func (r *run) begin() bool {
	spec, task := r.program.Spec, r.claim.Task
	r.scan = newScan(task.ScanNo, spec.First())
	resume := r.claim.Resume
	switch {
	case task.NextOrdinal <= 1:
	case resume != nil && !resume.HasNext:
		r.scan.ordinal, r.scan.carried, r.scan.total = task.NextOrdinal, r.claim.Seen, resume.Total
		return true
	case spec.Stateful() || resume == nil:
		// Whoever had the token before may have consumed pages with it that never arrived.
		r.scan = newScan(task.ScanNo+1, spec.First())
	default:
		r.scan.ordinal, r.scan.position, r.scan.carried = task.NextOrdinal, resume.After, r.claim.Seen
	}
	return false
}

// settle ends a scan whose search is exhausted: where it gave only ids, their records are fetched first.
func (r *run) settle(ctx context.Context) error {
	if r.second != nil {
		if err := r.details(ctx); err != nil {
			return err
		}
	}
	return r.judge()
}

// judge compares the finished scan with the provider's count. A first disagreement asks for one more scan; a second
// one is kept as a dispute.
func (r *run) judge() error {
	trust := r.program.Spec.Response.Total.Trust
	state := patra.Judge(trust, r.scan.total, r.scan.seen())
	if state == patra.StateDisputed && r.rescans == 0 {
		r.rescans++
		return disputed
	}
	r.proof = &patra.Proof{ScanNo: r.scan.no, Trust: trust, State: state, IDsSeen: r.scan.seen(), Rescans: r.rescans, Details: r.second != nil}
	return nil
}

// disputed is why a finished scan is read once more.
var disputed = &patra.Fault{Level: patra.LevelRetry, Code: patra.CodeDisputed, Text: "the provider's exact count differs from what was seen"}

// announce makes the row of the next request of the search.
func (r *run) announce(ctx context.Context, ordinal int64, position string) (patra.PageOpen, error) {
	call, err := r.program.Spec.Build(r.query, r.claim.Slice.Fetch, position, r.claim.BaseURL, r.Config.Vars)
	if err != nil {
		return patra.PageOpen{}, &patra.Fault{Level: patra.LevelRequest, Code: patra.CodeInternal, Text: err.Error(), Err: err}
	}
	return r.ticket(ctx, patra.PhaseSearch, ordinal, position, call)
}

// ticket is the row of a request: its place in the scan and its way through the gate.
func (r *run) ticket(ctx context.Context, phase patra.Phase, ordinal int64, position string, call source.Call) (patra.PageOpen, error) {
	spec := r.program.Spec
	wait, err := r.Gate.Reserve(ctx, spec.Source, spec.Rate.PerSecond, spec.Rate.Burst)
	if err != nil {
		return patra.PageOpen{}, err
	}
	r.batchNo++
	return patra.PageOpen{
		BatchNo: r.batchNo, ScanNo: r.scan.no, Phase: phase, Ordinal: ordinal, PageSize: spec.Pagination.PageSize, Before: position,
		RequestID: rand.Text(), GateKey: spec.Source, Cost: 1, Waited: wait.Microseconds(), AcquiredAt: patra.InstantOf(time.Now()), Request: call.Digest(),
	}, nil
}

// open writes the row of the scan's next page.
func (r *run) open(ctx context.Context) (patra.OpenPage, error) {
	a, err := r.announce(ctx, r.scan.ordinal, r.scan.position)
	if err != nil {
		return patra.OpenPage{}, err
	}
	return r.Store.OpenPage(ctx, r.claim, patra.InstantOf(time.Now()), a)
}

// page sends one announced request, reads the answer and commits it. It gives the next page's row, or nil at the end
// of the walk.
func (r *run) page(ctx context.Context, page patra.OpenPage) (*patra.OpenPage, error) {
	call, err := r.program.Spec.Build(r.query, r.claim.Slice.Fetch, page.Before, r.claim.BaseURL, r.Config.Vars)
	if err != nil {
		return nil, err
	}
	got, err := r.fetch(ctx, page, call)
	if err != nil {
		return nil, err
	}
	res, err := r.read(r.program, page, got)
	if err != nil {
		return nil, got.failed(patra.AsFault(err))
	}
	seen := res
	if r.second != nil { // what the search gives are ids; their records come later
		for _, o := range res.Records {
			res.IDs = append(res.IDs, o.ID)
		}
		res.Records, res.Outside = nil, 0
	}
	var next *patra.PageOpen
	if res.HasNext && !r.draining() {
		a, err := r.announce(ctx, page.Ordinal+1, res.After)
		if err != nil {
			return nil, err
		}
		next = &a
	}
	counts, opened, err := r.Store.CommitPage(ctx, r.claim, patra.InstantOf(time.Now()), r.program.Spec.RecordType, page, res, next)
	if err != nil {
		return nil, err
	}
	r.scan.ordinal, r.scan.position, r.scan.lastBody = page.Ordinal+1, res.After, res.BodySHA256
	if res.Total != nil {
		r.scan.total = res.Total
	}
	for _, o := range seen.Records {
		r.scan.saw(o.ID)
	}
	for _, q := range res.Quarantined {
		r.scan.saw(q.ID)
	}
	r.tell(Event{Kind: EventPage, Claim: r.claim, Counts: counts})
	if res.HasNext && opened == nil {
		return nil, errDrained
	}
	return opened, nil
}

// errDrained means that the run was asked to stop and did so between two pages.
var errDrained = errors.New("stopped between two pages")

func (r *run) draining() bool {
	select {
	case <-r.drain:
		return true
	default:
		return false
	}
}

// read turns an answer into records. An item that cannot become one is quarantined, and the rest goes on.
func (r *run) read(program *source.Program, page patra.OpenPage, got answer) (patra.PageResult, error) {
	res := patra.PageResult{Exchange: got.exchange, Response: got.digest(), BodySHA256: patra.HashBytes(got.body)}
	p, err := program.Read(got.status, got.body, position(page))
	if err != nil {
		return res, err
	}
	if page.Phase == patra.PhaseSearch && len(p.Items) > 0 && res.BodySHA256 == r.scan.lastBody {
		return res, &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeLoop, Text: "the provider sent the same page again"}
	}
	res.After, res.HasNext, res.EndCode, res.Total = p.Next, p.HasNext, p.End, p.Total
	for i, raw := range p.Items {
		o, err := program.Item(raw, got.exchange.SentAt)
		if err != nil {
			f := patra.AsFault(err)
			res.Quarantined = append(res.Quarantined, patra.Quarantined{ItemNo: i + 1, ID: o.ID, Code: f.Code, Path: f.Path, Fragment: raw})
			continue
		}
		res.Records = append(res.Records, o)
		r.note(&res, o.UpdatedAt)
	}
	return res, tooMuchPoison(res)
}

// Some bad items are put aside; when it is a good part of a page, it is not the items that are wrong but what we believe
// about them, and a person must look before a whole source goes into quarantine.
const (
	poisonShare = 5 // a fifth
	poisonFloor = 5 // a few are never a pattern
)

func poisoned(bad, all int) bool { return bad > poisonFloor && bad*poisonShare > all }

func tooMuchPoison(res patra.PageResult) error {
	bad, all := len(res.Quarantined), len(res.Quarantined)+len(res.Records)
	if !poisoned(bad, all) {
		return nil
	}
	first := res.Quarantined[0]
	return &patra.Fault{Level: patra.LevelFatal, Code: patra.CodeSchema, Path: first.Path, Text: fmt.Sprintf("%d of %d items of the page cannot be read (%s); has the provider changed its answers?", bad, all, first.Code)}
}

// position is where a page starts; a detail page starts nowhere, it is the answer to some ids.
func position(page patra.OpenPage) string {
	if page.Phase == patra.PhaseDetail {
		return ""
	}
	return page.Before
}

// note keeps the page's time range and counts what lies outside the window that the slice answers for.
func (r *run) note(res *patra.PageResult, at *patra.Instant) {
	if at == nil {
		return
	}
	if !r.claim.Slice.Window.Contains(*at) {
		res.Outside++
	}
	if res.TimeMin == nil || *at < *res.TimeMin {
		res.TimeMin = at
	}
	if res.TimeMax == nil || *at > *res.TimeMax {
		res.TimeMax = at
	}
}

// restart begins the walk again from the first page, under a new scan number. Upserts make it harmless.
func (r *run) restart(why *patra.Fault) {
	r.scan = newScan(r.scan.no+1, r.program.Spec.First())
	r.restarts++
	r.log.Warn("scan restarts", "scan", r.scan.no, "code", why.Code, "reason", why.Text)
	r.tell(Event{Kind: EventRestart, Claim: r.claim, Fault: why})
}

// recover records a failed page and decides how to go on: the same page again, a new scan, or not at all.
func (r *run) recover(ctx context.Context, page patra.OpenPage, err error, attempt int) error {
	failed, ok := errors.AsType[*failedPage](err)
	if !ok {
		return err // the store or the gate failed, not the provider
	}
	fault := failed.fault
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err = r.Store.FailPage(ctx, r.claim, patra.InstantOf(time.Now()), page, patra.PageFailure{Exchange: failed.exchange, Fault: *fault, Response: failed.response}, nil)
	if err != nil {
		return err
	}
	retry := r.program.Spec.Retry
	if fault.Level != patra.LevelRetry || attempt >= retry.MaxAttempts || r.restarts >= retry.MaxAttempts {
		return fault
	}
	wait := max(backoff(retry.Backoff, attempt), failed.retryAfter)
	if fault.Code == patra.CodeRateLimited {
		if err := r.Gate.Cooldown(ctx, r.program.Spec.Source, wait); err != nil {
			return err
		}
	}
	if page.Phase == patra.PhaseSearch && mustRestart(r.program.Spec, fault) {
		r.restart(fault)
	} else {
		r.log.Info("page is asked for again", "ordinal", page.Ordinal, "code", fault.Code, "attempt", attempt)
		r.tell(Event{Kind: EventRetry, Claim: r.claim, Fault: fault})
	}
	return r.sleep(ctx, wait)
}

// mustRestart reports whether the page cannot be asked for again. A refusal for being too fast consumed nothing; any
// other failure of a stateful request may have.
func mustRestart(spec *source.Spec, f *patra.Fault) bool {
	if f.Code == patra.CodeTokenExpired {
		return true
	}
	return spec.Stateful() && f.Code != patra.CodeRateLimited
}

// sleep waits, unless the run is told to stop.
func (r *run) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.drain:
		return errDrained
	case <-time.After(d):
		return nil
	}
}
