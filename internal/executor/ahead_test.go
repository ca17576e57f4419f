package executor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// slowWriter is a store that writes no page before it has seen the next request leave.
type slowWriter struct {
	executor.Store
	sent    *atomic.Int64 // requests that the provider has seen
	alone   atomic.Int64  // pages that were written while nothing was on its way
	commits atomic.Int64
}

func (s *slowWriter) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	n := s.commits.Add(1)
	deadline := time.Now().Add(2 * time.Second)
	for res.HasNext && s.sent.Load() <= n {
		if time.Now().After(deadline) {
			s.alone.Add(1)
			break
		}
		time.Sleep(time.Millisecond)
	}
	return s.Store.CommitPage(ctx, c, now, recordType, page, res, next)
}

// counted counts the requests that reach a provider.
func counted(n *atomic.Int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n.Add(1)
			next.ServeHTTP(w, r)
		})
	}
}

func TestTheNextPageIsAskedForWhileOneIsWritten(t *testing.T) {
	var sent atomic.Int64
	h := newHarness(t, sim.Config{Seed: 1}, counted(&sent), fast(t))
	x := h.executor(1)
	w := &slowWriter{Store: h.store, sent: &sent}
	x.Store = w
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.alone.Load() > 0 {
		t.Errorf("%d pages were written while the network was idle", w.alone.Load())
	}
	h.exact()
	h.complete()
}

// Where the provider makes us wait anyway, nothing is asked for ahead: a page is written in that time, and a process that
// dies has one request less to repeat.
func TestNothingIsAskedForAheadWhereTheProviderMakesUsWait(t *testing.T) {
	file := fast(t)
	file.Defaults.Rate = source.Rate{PerSecond: 20, Burst: 1}
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 30}, nil, file)
	x := h.executor(1)
	w := &opens{Store: h.store}
	x.Store = w
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.ahead.Load() > 0 {
		t.Errorf("%d pages were asked for ahead", w.ahead.Load())
	}
	h.exact()
}

// opens counts the pages that are announced before the one before them is written.
type opens struct {
	executor.Store
	ahead atomic.Int64
}

func (o *opens) OpenPage(ctx context.Context, c *patra.Claim, now patra.Instant, open patra.PageOpen) (patra.OpenPage, error) {
	if open.Ahead {
		o.ahead.Add(1)
	}
	return o.Store.OpenPage(ctx, c, now, open)
}

// vanishing is a store whose process dies when the n-th page is to be written: the next request is out already.
type vanishing struct {
	executor.Store
	left atomic.Int64
	die  context.CancelFunc
}

func (v *vanishing) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	if v.left.Add(-1) >= 0 {
		return v.Store.CommitPage(ctx, c, now, recordType, page, res, next)
	}
	v.die()
	return patra.Counts{}, nil, errGone
}

func (v *vanishing) Finish(context.Context, *patra.Claim, patra.Instant, patra.RunResult) error {
	return errGone
}

// A process that dies between the answer and the writing of a page, with the next request out already, has both to do
// again, and nothing else: whoever goes on begins with the page that was not written.
func TestAfterADeathTheWalkGoesOnWithThePageThatWasNotWritten(t *testing.T) {
	file := fastSource(t, "europepmc", "pageSize: 500", "pageSize: 25")
	var sent atomic.Int64
	works := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
	server := httptest.NewServer(counted(&sent)(works.Handler()))
	t.Cleanup(server.Close)
	st, url, plan := planAll(t, file, nil, server.URL)
	ctx, die := context.WithCancel(t.Context())
	x := runner(t, st, plan)
	x.Config.Workers, x.Config.Lease, x.Config.Heartbeat = 1, 2*time.Second, 500*time.Millisecond
	v := &vanishing{Store: st, die: die}
	v.left.Store(3)
	x.Store = v
	_ = x.Run(ctx)
	before := sent.Load()
	db := storetest.Inspect(t, url)
	// The lease of the dead runs out.
	if _, err := db.Exec(`UPDATE ing_task SET leased_until = 1 WHERE status_code = 'RUNNING'`); err != nil {
		t.Fatal(err)
	}
	y := runner(t, st, plan)
	y.Config.Workers = 1
	if err := y.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var scans, pages int64
	if err := db.QueryRow(`SELECT MAX(scan_no), COUNT(*) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`).Scan(&scans, &pages); err != nil || scans != 1 {
		t.Errorf("%d scans, %v", scans, err)
	}
	if asked := sent.Load(); asked > pagesOf(t, st)+2 {
		t.Errorf("%d requests before and %d after for %d pages", before, asked-before, pagesOf(t, st))
	}
	storetest.CheckInvariants(t, db)
}

func pagesOf(t *testing.T, s *store.Store) int64 {
	t.Helper()
	batches, err := s.Batches(t.Context(), store.Filter{Limit: 1000, Status: patra.Succeeded})
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(batches))
}

// However many workers there are, the pages in their hands never take more than was allowed.
func TestThePagesInHandTakeNoMoreMemoryThanIsAllowed(t *testing.T) {
	var now, most atomic.Int64
	busy := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := now.Add(1)
			for {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(2 * time.Millisecond)
			now.Add(-1) // what is on its way to the client is in its hands
			next.ServeHTTP(w, r)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, busy, fast(t))
	x := h.executor(4)
	x.Config.Memory = 2 * 3 * (1 << 20) // two pages of the size that is expected
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 2 {
		t.Errorf("%d pages were asked for at the same time", most.Load())
	}
	h.exact()
}

// fastSource is a shipped source without its politeness, and with changes.
func fastSource(t *testing.T, code string, change ...string) *source.File {
	t.Helper()
	file, err := source.Load(code+".yaml", []byte(strings.NewReplacer(change...).Replace(shippedFast(t, code))))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// unwritable is a store that cannot write the n-th page.
type unwritable struct {
	executor.Store
	left int
}

func (u *unwritable) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	if u.left--; u.left == 0 {
		return patra.Counts{}, nil, errors.New("the disk is full")
	}
	return u.Store.CommitPage(ctx, c, now, recordType, page, res, next)
}

func (u *unwritable) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
	end.RetryIn = 0
	return u.Store.Finish(ctx, c, now, end)
}

// The second page may be out before the first is written. If the first never is, whoever takes the task over begins at the
// first page, and yet a position has been used up that nobody got anything for: that is another scan.
func TestAWalkWhoseFirstPageWasNotWrittenIsAnotherScan(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(1)
	x.Store = &unwritable{h.store, 1}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact() // and no promise is broken
	h.complete()
}

// However large a page may be, workers do not wait for each other as long as pages are small.
func TestWorkersAskAtTheSameTime(t *testing.T) {
	const workers = 4
	var waiting atomic.Int64
	all := make(chan struct{})
	together := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if waiting.Add(1) == workers {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(5 * time.Second):
			}
			next.ServeHTTP(w, r)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, together, fast(t))
	x := h.executor(workers)
	x.Config.Memory = 512 << 20 // what holds unless somebody says otherwise
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-all:
	default:
		t.Error("they never did")
	}
	h.exact()
}

// brokenGate fails once.
type brokenGate struct {
	executor.Gate
	calls atomic.Int64
}

func (g *brokenGate) Reserve(ctx context.Context, l patra.RateLimit, cost int) (time.Duration, error) {
	if g.calls.Add(1) == 2 {
		return 0, errGone
	}
	return g.Gate.Reserve(ctx, l, cost)
}

// A page that came is kept, also when the gate does not let the next one be asked for.
func TestAPageThatCameIsKeptWhateverBecomesOfTheNext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(1)
	x.Gate = &brokenGate{Gate: x.Gate}
	x.Observe = func(e executor.Event) {
		if e.Kind == executor.EventReleased {
			stop()
		}
	}
	if err := x.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := h.store.CountRecords(t.Context(), "crossref"); err != nil || n != 50 {
		t.Errorf("%d records, %v", n, err)
	}
	if err := h.executor(4).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
}
