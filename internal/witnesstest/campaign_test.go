package witnesstest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/verifier"
)

// cell is a kind of provider, and what its source file says.
type cell struct {
	name   string
	paging string
	order  string // of the list
	total  string
	lag    time.Duration // between copies
	says   []string      // replacements in the source file, in pairs, for false claims
	sound  bool          // there is a witness for windows that stand still
	sizes  []int         // of pages
	most   int           // records of a window; 0 is 40
	limit  int           // of moves in a world; 0 is 60
	census bool          // the provider lists ids in one answer, and nothing is said about its tokens
	fresh  bool          // the window has just ended when it is read
	cutOff int           // the process is stopped after so many pages, again and again; 0 is never
	early  int64         // walks are left after so many pages; 0 is never
	faults float64       // share of the answers that are lost on their way
	family func(r *rand.Rand, seed uint64, size int) rules
}

// families are what happens in the worlds of a cell: a quarter of them stand still.
func families(c cell) func(r *rand.Rand, seed uint64, size int) rules {
	metAgain := c.order == free || c.paging == byURL || c.paging == byHidden || c.paging == byTies || c.paging == byPage
	return func(r *rand.Rand, seed uint64, size int) rules {
		f := rules{copies: 1, ties: 1}
		if c.order == ascending && c.paging != byTime || c.paging == byTime && size > 3 {
			f.ties = 2
		}
		if c.lag > 0 {
			f.copies, f.lag = 2, time.Duration(1+r.Int64N(int64(c.lag/time.Second)))*time.Second
		}
		f.rate = []float64{0.08, 0.25, 0.6}[r.IntN(3)]
		f.disturbed = true
		odd := c.paging == byOffset || c.paging == byPage || c.paging == byURL || c.paging == byHidden
		switch k := seed % 8; {
		case k < 2:
			f.family, f.rate, f.disturbed = "still", 0, false
		case k < 4:
			f.family = "leave and arrive"
		case k < 6:
			f.family, f.changes = "changes", c.lag == 0 || c.order != ascending
		case k == 6 && odd:
			f.family, f.warped = "clamped pages, rows from outside", true
			if r.IntN(2) == 0 {
				f.clamp = max(2, size/2)
			}
			f.surplus = 0.2
		case k == 6 && (c.paging == byKey || c.paging == bySnapshot):
			f.family, f.warped, f.short = "short pages", true, 0.3
		case k == 6:
			f.family = "leave and arrive"
		case !metAgain:
			f.family, f.returns, f.changes = "returns", true, c.lag == 0
		case c.order == free && r.IntN(2) == 0:
			f.family, f.copies, f.unstable = "unstable order", 2, true
		case c.paging == byOffset || c.paging == byHidden:
			f.family, f.warped, f.short = "short pages", true, 0.3
		default:
			f.family = "leave and arrive"
		}
		return f
	}
}

const sourceFile = `apiVersion: patra/v1
code: CODE
name: A provider whose list moves
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 100000, burst: 1000}, retry: {maxAttempts: 50, backoff: {initial: 1ms, max: 2ms}}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /}
    consistency: {lag: LAG}
    pagination: PAGINATION
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {TOTAL}}
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, maxSpan: P1D, minStep: PT6H, precision: SECOND, upper: EXCLUSIVE, order: WINDOW, safetyLag: PT0S}
query:
  fields: {at: {type: DATETIME, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {from: ["{{from}}"], to: ["{{to}}"]}}]
  params: {from: {name: from}, to: {name: to}}
`

// source is the file of a cell for pages of a size.
func (c cell) source(t testing.TB, size int) *source.File {
	t.Helper()
	paging := fmt.Sprintf("pageSize: %d, maxPageSize: 1000, sizeParam: size", size)
	token := `positionParam: token, next: "$.next", token: {state: STATELESS, onSame: ERROR}, end: [NO_TOKEN]`
	order := ""
	if c.order != free {
		order = ", order: " + c.order
	}
	switch c.paging {
	case byOffset:
		paging += ", type: OFFSET, positionParam: offset, end: [EMPTY_PAGE]" + order
	case byPage:
		if paging += ", type: PAGE, positionParam: page" + order; size%2 == 1 {
			paging += `, next: "$.next", end: [NO_TOKEN]`
		} else {
			paging += ", end: [EMPTY_PAGE]"
		}
	case byURL:
		paging += `, type: URL, next: "$.next", end: [NO_TOKEN], stability: SHIFTING` + order
	case byHidden:
		if paging += ", type: TOKEN, " + token + order; !c.census {
			paging += ", stability: SHIFTING"
		}
	case byKey:
		paging += ", type: TOKEN, stability: KEYSET, key: unique, " + token + order
	case byTies:
		paging += ", type: TOKEN, " + token + order
	case bySnapshot:
		paging += ", type: TOKEN, stability: SNAPSHOT, " + token + order
	case byTime:
		paging += ", type: TIME, end: [EMPTY_PAGE], order: ASC"
	}
	total := "trust: NONE"
	if c.total != "NONE" {
		total = `path: "$.total", trust: ` + c.total
	}
	window := "NONE"
	if c.order == ascending {
		window = "ASC"
	}
	lag := fmt.Sprintf("PT%dS", int(c.lag.Seconds()))
	pairs := []string{"CODE", fmt.Sprintf("p%d", size), "PAGINATION", "{" + paging + "}", "TOTAL", total, "WINDOW", window, "LAG", lag}
	text := strings.NewReplacer(pairs...).Replace(sourceFile)
	if c.census {
		text = strings.Replace(text, "    response:", "    census: {query: {list: ids}, items: \"$.items\", id: \"$.id\"}\n    response:", 1)
	}
	for i := 0; i+1 < len(c.says); i += 2 {
		if !strings.Contains(text, c.says[i]) {
			t.Fatalf("the source file does not say %q:\n%s", c.says[i], text)
		}
		text = strings.ReplaceAll(text, c.says[i], c.says[i+1])
	}
	f, err := source.Load("source.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// outcome is what became of the windows of a cell.
type outcome struct {
	windows, sealed int
	still, first    int // windows that stood still, and those of them that were sealed at the first try
	unsealed        []string
	lost            []falseSeal
	confirmed       int // parts of windows that walks proved which were left before their end
	excused         int // false seals by MET_AGAIN in worlds where records return
	witnesses       map[string]int
	states          map[string]int
	requests, plain map[string]int // by witness of the window, and what a walk takes that proves nothing
}

// falseSeal is a SEALED window that lost something.
type falseSeal struct {
	seed  uint64
	size  int
	story string
}

// began is when the cells begin: after all of their windows.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// run harvests the worlds of a cell, with the seeds from first on.
func (c cell) run(t *testing.T, first uint64, seeds int) (out outcome) {
	t.Helper()
	c.each(t, first, seeds, func(h *harvest) {
		firstTry := h.coverage()
		for range 3 + 3*c.early {
			if !h.reslice() {
				break
			}
			h.work()
		}
		out = h.judge(firstTry)
	})
	return out
}

// doubts asks the judge that shares no code whether a store bears out its proofs.
func doubts(t *testing.T, file string) (complaints []string) {
	t.Helper()
	found, err := verifier.Check(t.Context(), verifier.Given{Store: "sqlite:" + file})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		if v.Count > 0 {
			complaints = append(complaints, fmt.Sprintf("%s: %d of %d %s: %s", v.Name, v.Count, v.Looked, v.Noun, strings.Join(v.Examples, "; ")))
		}
	}
	return complaints
}

// each harvests the worlds of a cell once, and hands the harvest to what looks at it.
func (c cell) each(t *testing.T, first uint64, seeds int, look func(*harvest)) {
	t.Helper()
	file := folder(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(began))
		if c.fresh {
			time.Sleep(30 * time.Second)
		}
		h := newHarvest(t, c, file, first, seeds)
		h.work()
		look(h)
	})
	if c.says == nil { // what is claimed is true
		for _, d := range doubts(t, file) {
			t.Errorf("the judge complains: %s", d)
		}
	}
}

// smallest gives the same false seal with as few moves as it takes.
func (c cell) smallest(t *testing.T, f falseSeal) falseSeal {
	c.sizes = []int{f.size}
	for c.limit = 1; c.limit < 60; c.limit++ {
		if out := c.run(t, f.seed, 1); len(out.lost) > 0 {
			return out.lost[0]
		}
	}
	return f
}

// folder has an empty store, in memory where there is such a thing.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("/dev/shm", "patra-witness-"+store.NewOwner())
	if err := os.Mkdir(dir, 0o700); err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, err := empty()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "patra.db"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "patra.db")
}

// empty is a store without anything in it, as a file.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "patra-witness-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "patra.db")
	s, err := store.Open(context.Background(), "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	if _, err := s.Migrate(context.Background()); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// harvest is a cell with a store.
type harvest struct {
	t     *testing.T
	cell  cell
	file  string
	store *store.Store
	db    *sql.DB
	lab   *lab
	plans []*planner.Result
	codes map[int64]string // of the cursors
	pl    *planner.Planner
}

func newHarvest(t *testing.T, c cell, file string, first uint64, seeds int) *harvest {
	t.Helper()
	h := &harvest{t: t, cell: c, file: file, lab: &lab{worlds: map[string]map[time.Time]*world{}}, codes: map[int64]string{}}
	s, err := store.Open(t.Context(), "sqlite:"+file, store.WithClock(time.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h.store = s
	if h.db, err = sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)"); err != nil {
		t.Fatal(err)
	}
	h.db.SetMaxOpenConns(1)
	t.Cleanup(func() { h.db.Close() })
	h.pl = &planner.Planner{Store: s, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	each := (seeds + len(c.sizes) - 1) / len(c.sizes)
	for i, size := range c.sizes {
		h.plan(size, first+uint64(i*each), min(each, seeds-i*each))
	}
	return h
}

// origin is the first day of all plans.
var origin = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *harvest) plan(size int, first uint64, days int) {
	if days <= 0 {
		return
	}
	origin := origin
	if h.cell.fresh {
		origin = began.AddDate(0, 0, -days)
	}
	host := fmt.Sprintf("p%d", size)
	h.lab.worlds[host] = map[time.Time]*world{}
	for i := range days {
		day := origin.AddDate(0, 0, i)
		h.lab.worlds[host][day] = newWorld(first+uint64(i), day, h.cell, size)
	}
	from, to := patra.InstantOf(origin), patra.InstantOf(origin.AddDate(0, 0, days))
	plan, err := h.pl.Plan(h.t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: h.cell.source(h.t, size), Basis: patra.BasisCertified, From: &from, To: &to, BaseURL: "http://" + host})
	if err != nil {
		h.t.Fatal(err)
	}
	h.plans, h.codes[plan.Plan.CursorID] = append(h.plans, plan), host
}

// work reads until nothing is ready.
func (h *harvest) work() {
	h.t.Helper()
	for stopped := true; stopped; {
		ctx, stop := context.WithCancel(h.t.Context())
		pages := 0
		x := h.executor()
		x.Observe = func(e executor.Event) {
			if e.Kind != executor.EventPage {
				return
			}
			if pages++; pages == h.cell.cutOff {
				stop()
			}
		}
		if err := x.Run(ctx); err != nil {
			h.t.Fatal(err)
		}
		stopped = ctx.Err() != nil
		stop()
	}
}

func (h *harvest) executor() *executor.Executor {
	strain := patra.DefaultWalkLimits()
	if strain.ErrorShare = 1; h.cell.early > 0 {
		strain.Pages = h.cell.early
	}
	return &executor.Executor{Store: h.store, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler),
		Config: executor.Config{Owner: store.NewOwner(), Workers: 1, Lease: 2 * time.Hour, Heartbeat: time.Hour, Poll: 10 * time.Second, Grace: time.Second,
			Prefetch: true, Memory: 1 << 30, Strain: strain},
		Client: func(*source.Spec, string) *http.Client { return &http.Client{Transport: h.lab} },
		Done: func(ctx context.Context) (bool, error) {
			for _, p := range h.plans {
				if states, err := h.store.SliceStates(ctx, p.Plan.CursorID); err != nil || states[patra.Ready] > 0 {
					return false, err
				}
			}
			return true, nil
		}}
}

// reslice cuts what could not be proved, and reports whether there was anything.
func (h *harvest) reslice() bool {
	cut := 0
	for {
		n, err := h.pl.Reslice(h.t.Context(), patra.InstantOf(time.Now()), 0)
		if err != nil {
			h.t.Fatal(err)
		}
		if cut += n; n == 0 {
			return cut > 0
		}
	}
}

// covered is a row of the ledger of what is covered.
type covered struct {
	host     string
	from, to time.Time
	kind     string
	state    string
	proof    patra.WindowProof
	proved   bool
}

func (h *harvest) coverage() (all []covered) {
	h.t.Helper()
	rows, err := h.db.Query(`SELECT cursor_id, window_from, window_to, kind_code, state_code, proof FROM ing_coverage ORDER BY id`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var cursor int64
		var from, to patra.Instant
		var c covered
		var proof []byte
		if err := rows.Scan(&cursor, &from, &to, &c.kind, &c.state, &proof); err != nil {
			h.t.Fatal(err)
		}
		if c.host, c.from, c.to = h.codes[cursor], from.Time(), to.Time(); len(proof) > 0 {
			if err := json.Unmarshal(proof, &c.proof); err != nil {
				h.t.Fatal(err)
			}
			c.proved = true
		}
		all = append(all, c)
	}
	return all
}

// stored are the ids of all records.
func (h *harvest) stored() map[string]bool {
	ids := map[string]bool{}
	rows, err := h.db.Query(`SELECT provider_id FROM ing_record`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			h.t.Fatal(err)
		}
		ids[id] = true
	}
	return ids
}

// evidence are the moments of the first and the last answer of the scans that a proof names.
func (h *harvest) evidence(p patra.WindowProof) (first, last time.Time) {
	h.t.Helper()
	if p.TaskID == 0 || len(p.Scans) == 0 {
		h.t.Fatalf("the proof names no scans: %+v", p)
	}
	for i, s := range p.Scans {
		var a, b sql.NullInt64
		if err := h.db.QueryRow(`SELECT MIN(q.finished_at), MAX(q.finished_at) FROM ing_task_run_batch b JOIN ing_request q ON q.batch_id = b.id
			WHERE b.task_id = ? AND b.scan_no = ? AND b.done_ordinal IS NOT NULL`, p.TaskID, s.No).Scan(&a, &b); err != nil || !a.Valid {
			h.t.Fatalf("scan %d of task %d: %v", s.No, p.TaskID, err)
		}
		if from := patra.Instant(a.Int64).Time(); i == 0 || from.Before(first) {
			first = from
		}
		if to := patra.Instant(b.Int64).Time(); to.After(last) {
			last = to
		}
	}
	return first, last
}

func (h *harvest) judge(firstTry []covered) (out outcome) {
	out = outcome{witnesses: map[string]int{}, states: map[string]int{}, requests: map[string]int{}, plain: map[string]int{}}
	whole := map[*world]string{}
	for _, c := range firstTry {
		if w := h.lab.worlds[c.host][c.from]; w != nil && c.to.Equal(w.until) {
			whole[w] = c.state
		}
	}
	for _, days := range h.lab.worlds {
		for _, w := range days {
			out.windows++
			if w.disturbed || w.warped {
				continue
			}
			out.still++
			if whole[w] == string(patra.StateSealed) {
				out.first++
			} else {
				out.unsealed = append(out.unsealed, fmt.Sprintf("%s after %d requests: %s", whole[w], w.asked, w.story()))
			}
		}
	}
	stored := h.stored()
	for _, c := range h.coverage() {
		out.states[c.state]++
		if c.state != string(patra.StateSealed) {
			continue
		}
		if out.sealed++; c.kind == patra.KindConfirmed {
			out.confirmed++
		}
		w := h.lab.worlds[c.host][c.from.Truncate(24*time.Hour)]
		if w == nil || c.to.After(w.until) {
			h.t.Fatalf("%s covers %s to %s", c.host, c.from, c.to)
		}
		out.witnesses[string(c.proof.Witness)]++
		out.requests[string(c.proof.Witness)] += w.asked
		out.plain[string(c.proof.Witness)] += w.plain()
		first, last := h.evidence(c.proof)
		var lost []int
		for id := range w.truth(c.from, c.to, first, last) {
			if !stored[w.name(id)] {
				lost = append(lost, id)
			}
		}
		if len(lost) == 0 {
			continue
		}
		if c.proof.Witness == patra.WitnessMetAgain && w.returns {
			out.excused++
			continue
		}
		slices.Sort(lost)
		proof, _ := json.Marshal(c.proof)
		out.lost = append(out.lost, falseSeal{w.seed, w.largest, fmt.Sprintf("records %v are lost in %s to %s, proved from %s to %s by %s\n%s%s",
			lost, c.from.Format(time.TimeOnly), c.to.Format(time.TimeOnly),
			first.Format(time.TimeOnly), last.Format(time.TimeOnly), proof, w.story(), h.pages(c.proof.TaskID))})
	}
	return out
}

// pages tells what a task asked for and was given.
func (h *harvest) pages(task int64) string {
	var b strings.Builder
	rows, err := h.db.Query(`SELECT b.scan_no, b.ordinal, COALESCE(b.before_token, ''), b.record_count, b.provider_total, b.has_next, q.finished_at FROM ing_task_run_batch b JOIN ing_request q ON q.batch_id = b.id
		WHERE b.task_id = ? AND b.done_ordinal IS NOT NULL ORDER BY b.id`, task)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var scan, ordinal, n int64
		var before string
		var total sql.NullInt64
		var next sql.NullBool
		var at patra.Instant
		if err := rows.Scan(&scan, &ordinal, &before, &n, &total, &next, &at); err != nil {
			h.t.Fatal(err)
		}
		if plain := unpack(before); plain != "" && strings.IndexFunc(plain, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
			before = plain
		}
		fmt.Fprintf(&b, "\n  scan %d page %d at %q, %s: %d rows, total %v, more %v", scan, ordinal, before, at.Time().Format(time.TimeOnly), n, total.Int64, next.Bool)
	}
	return b.String()
}
