package executor_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/egress"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/sources"
)

// harness is a real store, a simulated provider and an executor between them.
type harness struct {
	t      testing.TB
	store  *store.Store
	url    string
	sim    *sim.Server
	plan   *planner.Result
	base   string
	events map[string]int
	faults map[string]int
	mu     sync.Mutex
}

var (
	from = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	to   = time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC)
)

// politeRate is what the shipped source says about the rate.
const politeRate = "perSecond: 3, burst: 3, concurrency: 3, headers: {limit: X-Rate-Limit-Limit, interval: X-Rate-Limit-Interval, concurrency: X-Concurrency-Limit}"

// fast is the shipped source without its politeness, so that tests need not wait.
func fast(t testing.TB, change ...string) *source.File {
	t.Helper()
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(change, politeRate, "perSecond: 4000, burst: 4000", "initial: 500ms, max: 30s", "initial: 1ms, max: 2ms", "pageSize: 200", "pageSize: 50")...).Replace(string(data))
	f, err := source.Load("crossref.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newHarness(t testing.TB, cfg sim.Config, wrap func(http.Handler) http.Handler, file *source.File) *harness {
	t.Helper()
	h := &harness{t: t, events: map[string]int{}, faults: map[string]int{}}
	e := storetest.Engines()[0]
	h.url = e.URL(t)
	h.store = e.Connect(t, h.url)
	if _, err := h.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg.From, cfg.To, cfg.Exact = from, to, true
	if cfg.PerDay == 0 {
		cfg.PerDay = 120
	}
	h.sim = sim.New(cfg)
	handler := h.sim.Handler()
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	h.base = server.URL
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	p := &planner.Planner{Store: h.store, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	var err error
	h.plan, err = p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, Contact: "t@example.org", From: &start, To: &end, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *harness) executor(workers int) *executor.Executor {
	return &executor.Executor{
		Store: h.store, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler),
		Config: executor.Config{Owner: store.NewOwner(), Workers: workers, CursorID: h.plan.Plan.CursorID, Lease: time.Minute, Heartbeat: 20 * time.Second, Poll: 5 * time.Millisecond, Grace: time.Second, Prefetch: true, Memory: 1 << 30, Strain: patra.DefaultWalkLimits()},
		Client: func(_ *source.Spec, base string) *http.Client {
			u, _ := url.Parse(base)
			return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
		},
		Observe: func(e executor.Event) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.events[nameOf(e)]++
			if e.Fault != nil {
				h.faults[e.Fault.Code]++
			}
		},
		Done: func(ctx context.Context) (bool, error) {
			states, err := h.store.SliceStates(ctx, h.plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		},
	}
}

// exact compares the store with what the provider really has, id by id and byte by byte.
func (h *harness) exact() {
	h.t.Helper()
	truth := map[string]string{}
	for w := range h.sim.Truth(from, to) {
		truth[w.ID] = string(w.JSON)
	}
	err := h.store.Records(h.t.Context(), "crossref", func(r patra.Record) error {
		if want, ok := truth[r.ProviderID]; !ok || want != string(r.Raw) {
			h.t.Errorf("record %s is not what the provider has", r.ProviderID)
		}
		delete(truth, r.ProviderID)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if len(truth) > 0 {
		h.t.Errorf("%d records are missing", len(truth))
	}
	storetest.CheckInvariants(h.t, storetest.Inspect(h.t, h.url))
}

func (h *harness) complete() {
	h.t.Helper()
	c, err := h.store.Cursors(h.t.Context(), store.Filter{})
	if err != nil || c[0].Value != patra.InstantOf(to) || c[0].SealedThrough != c[0].Value {
		h.t.Errorf("cursor %+v, %v", c, err)
	}
}

func TestHarvestIsExact(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	if err := h.executor(4).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
	if h.events[executor.EventDone] != 4 || h.events[executor.EventPage] != 16 { // 120 works in pages of 50 and one empty page, 4 days
		t.Errorf("events %v", h.events)
	}
}

func TestHarvestSurvivesFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults sim.Faults
		code   string
		fired  func(sim.Stats) int64
	}{
		{"answers of 503", sim.Faults{ServerError: 0.2}, patra.CodeHTTP, func(s sim.Stats) int64 { return s.ServerErrors }},
		{"refusals for speed", sim.Faults{Throttle: 0.2}, patra.CodeRateLimited, func(s sim.Stats) int64 { return s.Throttled }},
		{"bodies cut in the middle", sim.Faults{CutBody: 0.1}, patra.CodeBadBody, func(s sim.Stats) int64 { return s.CutBodies }},
		{"connections reset after the page was consumed", sim.Faults{Reset: 0.1}, patra.CodeNetwork, func(s sim.Stats) int64 { return s.Resets }},
		{"tokens that expire", sim.Faults{ExpireToken: 0.1}, patra.CodeTokenExpired, func(s sim.Stats) int64 { return s.Expired }},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Without a count to compare with, a page that was lost unnoticed would stay lost.
			h := newHarness(t, sim.Config{Seed: 3, Faults: c.faults}, nil, fast(t, "maxAttempts: 5", "maxAttempts: 50", "trust: EXACT", "trust: NONE"))
			if err := h.executor(4).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.exact()
			h.complete()
			if c.fired(h.sim.Stats()) == 0 || h.faults[c.code] == 0 {
				t.Errorf("the fault never fired: %+v, seen %v", h.sim.Stats(), h.faults)
			}
		})
	}
}

// A provider whose exact count is wrong must not be believed, nor end a scan, nor be hidden.
func TestLyingTotalIsADispute(t *testing.T) {
	lie := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding")
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			body := strings.Replace(rec.Body.String(), `"total-results":120`, `"total-results":121`, 1)
			w.WriteHeader(rec.Code)
			io.WriteString(w, body)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, lie, fast(t))
	if err := h.executor(2).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	c, err := h.store.Cursors(t.Context(), store.Filter{})
	if err != nil || c[0].Value != patra.InstantOf(to) || c[0].SealedThrough != patra.InstantOf(from) {
		t.Errorf("watermark %s, complete through %s, %v", c[0].Value, c[0].SealedThrough, err)
	}
	answers, err := h.store.CoverageEntries(t.Context(), c[0].ID)
	if err != nil || len(answers) != 4 || answers[0].State != patra.StateDisputed || answers[0].Rescans != 1 {
		t.Errorf("answers %+v, %v", answers, err)
	}
}

// One day that never answers holds the watermark at its start; the days behind it are stored all the same.
func TestBlockedHeadHoldsTheWatermark(t *testing.T) {
	block := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Query().Get("filter"), "2026-05-02") {
				http.Error(w, "no", http.StatusTeapot)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, block, fast(t))
	if err := h.executor(4).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := h.store.Cursors(t.Context(), store.Filter{})
	if err != nil || c[0].Value != patra.InstantOf(from)+patra.Day {
		t.Errorf("watermark %s, %v", c[0].Value, err)
	}
	if n, err := h.store.CountRecords(t.Context(), "crossref"); err != nil || n != 3*120 {
		t.Errorf("%d records, %v", n, err)
	}
	if h.events[executor.EventFailed] != 1 {
		t.Errorf("events %v", h.events)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, h.url))
}

func TestBrokenAnswersAreNeverZeroHits(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		code       string
		level      patra.Level
	}{
		{"a web page", "<html>log in</html>", 200, patra.CodeWebPage, patra.LevelFatal},
		{"no items", `{"status":"ok","message":{}}`, 200, patra.CodeSchema, patra.LevelFatal},
		{"items that are no list", `{"message":{"items":{},"next-cursor":"x"}}`, 200, patra.CodeSchema, patra.LevelFatal},
		{"half a value", `{"message":{"items":[`, 200, patra.CodeBadBody, patra.LevelRetry},
		{"two values", `{"message":{"items":[],"next-cursor":"x"}} {}`, 200, patra.CodeUnreadable, patra.LevelRetry},
		{"nothing", ``, 200, patra.CodeBadBody, patra.LevelRetry},
		{"no next position", `{"message":{"items":[{"DOI":"1"}]}}`, 200, patra.CodeSchema, patra.LevelFatal},
		{"204", ``, 204, patra.CodeBadBody, patra.LevelRetry},
		{"206", `{"message":{"items":[],"next-cursor":"x"}}`, 206, patra.CodeBadBody, patra.LevelRetry},
		{"a redirect", ``, 302, patra.CodeHTTP, patra.LevelRequest},
		{"401", ``, 401, patra.CodeAuth, patra.LevelFatal},
		{"400", `{}`, 400, patra.CodeHTTP, patra.LevelRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					io.WriteString(w, c.body)
				})
			}
			h := newHarness(t, sim.Config{}, broken, fast(t, "maxAttempts: 5", "maxAttempts: 2"))
			x := h.executor(1)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			x.Observe = func(e executor.Event) {
				if e.Fault != nil && e.Kind != executor.EventRestart {
					if e.Fault.Code != c.code || e.Fault.Level != c.level {
						t.Errorf("%s %s: %s", e.Kind, e.Fault.Level, e.Fault)
					}
					stop()
				}
			}
			if err := x.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if states, err := h.store.SliceStates(t.Context(), h.plan.Plan.CursorID); err != nil || states[patra.Succeeded] != 0 {
				t.Errorf("slices %v, %v", states, err)
			}
		})
	}
}

// A worker that is told to stop keeps the page in hand and gives its task back, with the attempt.
func TestDrainGivesTheTaskBack(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	x := h.executor(1)
	x.Observe = func(e executor.Event) {
		if e.Kind == executor.EventPage {
			stop()
		}
	}
	if err := x.Run(ctx); err != nil {
		t.Fatal(err)
	}
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if task.Status != patra.Queued || task.Attempts != 0 {
			t.Errorf("task %d is %s after %d attempts", task.ID, task.Status, task.Attempts)
		}
	}
	if n, err := h.store.CountRecords(t.Context(), "crossref"); err != nil || (n != 50 && n != 100) { // and of the one that was on its way, if it was sent already
		t.Errorf("%d records of the page in hand, %v", n, err)
	}
	if err := h.executor(4).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}

// cutOff is a store that is gone when a run wants to close its task.
type cutOff struct {
	executor.Store
	left *atomic.Int64
}

var errGone = errors.New("the store is gone")

func (c cutOff) Finish(ctx context.Context, claim *patra.Claim, now patra.Instant, end patra.RunResult) error {
	if c.left.Add(-1) >= 0 {
		return errGone
	}
	return c.Store.Finish(ctx, claim, now, end)
}

// A process that dies after the last page and before the closing loses nothing: the next one closes from the ledger,
// and where the counts disagree it reads once more, as anybody would.
func TestLostClosing(t *testing.T) {
	for _, c := range []struct {
		name, total string
		state       patra.Completeness
	}{{"agreed", "120", patra.StateSealed}, {"disputed", "121", patra.StateDisputed}} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, sim.Config{Seed: 1}, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Header.Del("Accept-Encoding")
					rec := httptest.NewRecorder()
					next.ServeHTTP(rec, r)
					io.WriteString(w, strings.Replace(rec.Body.String(), `"total-results":120`, `"total-results":`+c.total, 1))
				})
			}, fast(t))
			var left atomic.Int64
			left.Store(1)
			x := h.executor(1)
			x.Config.Lease, x.Config.Heartbeat = 30*time.Millisecond, 10*time.Millisecond
			x.Store = cutOff{h.store, &left}
			if err := x.Run(t.Context()); !errors.Is(err, errGone) {
				t.Fatalf("the closing was not lost: %v", err)
			}
			if err := h.executor(1).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			answers, err := h.store.CoverageEntries(t.Context(), h.plan.Plan.CursorID)
			if err != nil || len(answers) != 4 {
				t.Fatalf("%d windows are covered, %v", len(answers), err)
			}
			for _, a := range answers {
				if a.State != c.state || a.IDsSeen != 120 {
					t.Errorf("%s is %s with %d ids", a.Window, a.State, a.IDsSeen)
				}
			}
			h.exact()
		})
	}
}

// Bad items are put aside one by one; the rest of their page is stored and everything is accounted for.
func TestBadItemsAreQuarantined(t *testing.T) {
	var pages atomic.Int64
	spoil := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding")
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			body := rec.Body.String()
			if pages.Add(1) == 1 {
				body = strings.Replace(body, `"DOI":"`, `"DOI":null,"was":"`, 1)
				i := strings.LastIndex(body, `"indexed":{`)
				body = body[:i] + strings.Replace(body[i:], `"date-time":"20`, `"date-time":"0000-`, 1)
			}
			w.WriteHeader(rec.Code)
			io.WriteString(w, body)
		})
	}
	h := newHarness(t, sim.Config{Seed: 1}, spoil, fast(t))
	if err := h.executor(1).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.complete() // a quarantined item was seen: the exact count agrees
	db := storetest.Inspect(t, h.url)
	var missingID, badTime int
	if err := db.QueryRow(`SELECT SUM(error_code = 'MISSING_ID'), SUM(error_code = 'BAD_TIME') FROM ing_quarantine`).Scan(&missingID, &badTime); err != nil || missingID != 1 || badTime != 1 {
		t.Errorf("quarantine has %d without id and %d without time, %v", missingID, badTime, err)
	}
	if n, err := h.store.CountRecords(t.Context(), "crossref"); err != nil || n != 4*120-2 {
		t.Errorf("%d records, %v", n, err)
	}
	storetest.CheckInvariants(t, db)
}

// What a plan needs is stored with it: a registry that was emptied, or changed, changes nothing about it.
func TestRunsFromTheSnapshotAlone(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1}, nil, fast(t))
	db := storetest.Inspect(t, h.url)
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'reg_%' OR name LIKE 'sys_dict%')`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	rows.Close()
	if len(tables) < 15 {
		t.Fatalf("the registry has only %v", tables)
	}
	for _, name := range tables {
		if _, err := db.Exec("DELETE FROM " + name); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.executor(4).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}
