package executor_test

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

// byOffset is a source that nobody has written code for: Crossref's other way of paging, as text.
const byOffset = `apiVersion: patra/v1
code: by-offset
name: Works by offset
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 100000, burst: 1000}, retry: {maxAttempts: 30, backoff: {initial: 1ms, max: 2ms}}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works, query: {sort: indexed, order: asc}}
    pagination: PAGINATION
    response: {format: JSON, items: "$.message.items", id: "$.DOI", updatedAt: "$.indexed['date-time']", total: {path: "$.message['total-results']", trust: EXACT}}
    window: {field: indexed_at, mode: CALENDAR, align: DAY, size: SIZE, precision: DAY, upper: INCLUSIVE_DAY, order: ASC, earliest: 2002-01-01}
query:
  fields: {indexed_at: {type: DATE, ops: [RANGE]}}
  render: [{field: indexed_at, op: RANGE, params: {filter: ["from-index-date:{{from}}", "until-index-date:{{to}}"]}}]
  params: {filter: {name: filter, join: ","}}
`

func paged(pagination, size string) string {
	return strings.NewReplacer("PAGINATION", pagination, "SIZE", size).Replace(byOffset)
}

// shippedFast is a shipped file without its politeness.
func shippedFast(t *testing.T, code string) string {
	data, err := sources.Files.ReadFile(code + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  rate:") {
			lines[i] = "  rate: {perSecond: 100000, burst: 1000}"
		}
		if strings.HasPrefix(line, "  retry:") {
			lines[i] = "  retry: {maxAttempts: 30, backoff: {initial: 1ms, max: 2ms}}"
		}
	}
	return strings.Join(lines, "\n")
}

func ids(seq iter.Seq[sim.Record]) map[string]bool {
	out := map[string]bool{}
	for r := range seq {
		id := r.ID
		if r.Source != "" {
			id = r.Source + "/" + id
		}
		out[id] = r.Deleted
	}
	return out
}

// pages serves the same works by page number.
func pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if page, err := strconv.Atoi(q.Get("page")); err == nil {
			rows, _ := strconv.Atoi(q.Get("rows"))
			q.Set("offset", strconv.Itoa((page-1)*rows))
			q.Del("page")
			r.URL.RawQuery = q.Encode()
		}
		next.ServeHTTP(w, r)
	})
}

// TestEveryKindOfPaging harvests a source of each kind, described by text alone, and compares with what is really there.
func TestEveryKindOfPaging(t *testing.T) {
	crossref := func(s *sim.Server) map[string]bool {
		out := map[string]bool{}
		for w := range s.Truth(from, to) {
			out[w.ID] = false
		}
		return out
	}
	for _, c := range []struct {
		name, text, path string
		params           map[string]string
		wrap             func(http.Handler) http.Handler
		truth            func(*sim.Server) map[string]bool
	}{
		{name: "OFFSET", text: paged(`{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, cap: 10000, end: [EMPTY_PAGE]}`, "P1D"), truth: crossref},
		{name: "PAGE", text: paged(`{type: PAGE, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: page, end: [EMPTY_PAGE]}`, "P1D"), wrap: pages, truth: crossref},
		{name: "TIME", text: paged(`{type: TIME, pageSize: 200, maxPageSize: 1000, sizeParam: rows, end: [EMPTY_PAGE]}`, "P4D"), truth: crossref},
		{name: "TOKEN, stateful", text: shippedFast(t, "crossref"), truth: crossref},
		{name: "TOKEN, stateless", text: shippedFast(t, "europepmc"), truth: func(s *sim.Server) map[string]bool { return ids(s.EuropePMC().By("UPDATE_DATE").Truth(from, to)) }},
		{name: "TOKEN in XML, with deletions", text: shippedFast(t, "oai"), path: "/oai/day", params: map[string]string{"baseUrl": "https://example.org/oai"},
			truth: func(s *sim.Server) map[string]bool { return ids(s.OAIDay().Truth(from, to)) }},
		{name: "ids first, records after", text: shippedFast(t, "pubmed"), truth: func(s *sim.Server) map[string]bool { return ids(s.PubMed().Truth(from, to)) }},
		{name: "TOKEN that ends with null on an empty page", text: shippedFast(t, "openalex"), path: "/openalex", truth: func(s *sim.Server) map[string]bool { return ids(s.OpenAlex().Truth(from, to)) }},
		{name: "arXiv's own OAI", text: shippedFast(t, "arxiv-oai"), truth: func(s *sim.Server) map[string]bool { return ids(s.ArXiv().Truth(from, to)) }},
		{name: "URL", text: shippedFast(t, "datacite"), truth: func(s *sim.Server) map[string]bool { return ids(s.DataCite().Truth(from, to)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := source.Load("test.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			faults := sim.Faults{ServerError: 0.05, Throttle: 0.05, CutBody: 0.05, Reset: 0.05, Timeout: 0.05}
			provider := sim.New(sim.Config{Seed: 9, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 120, Exact: true, Faults: faults})
			handler := provider.Handler()
			if c.wrap != nil {
				handler = c.wrap(handler)
			}
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			st, url := harvestAll(t, file, c.params, server.URL+c.path)
			want := c.truth(provider)
			if len(want) < 400 {
				t.Fatalf("only %d records are there to be found", len(want))
			}
			err = st.Records(t.Context(), file.Code, func(r patra.Record) error {
				deleted, ok := want[r.ProviderID]
				if !ok || deleted != r.Deleted {
					t.Errorf("record %s, deleted %v, is not what the provider has", r.ProviderID, r.Deleted)
				}
				delete(want, r.ProviderID)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(want) > 0 {
				t.Errorf("%d records are missing", len(want))
			}
			db := storetest.Inspect(t, url)
			storetest.CheckInvariants(t, db)
			var copies int
			if err := db.QueryRow("SELECT COUNT(*) FROM ing_record WHERE raw_from IS NULL").Scan(&copies); err != nil || copies > 0 && c.name != "TIME" { // of whose last pages less than half is new
				t.Errorf("%d records have their raw content in a copy and not in their page, %v", copies, err)
			}
			if s := provider.Stats(); s.ServerErrors+s.Throttled+s.CutBodies+s.Resets == 0 {
				t.Error("no fault fired")
			}
		})
	}
}

// harvestAll plans and runs the whole window of the tests; everything must be covered.
func harvestAll(t *testing.T, file *source.File, params map[string]string, base string) (*store.Store, string) {
	t.Helper()
	st, url1, _ := runAll(t, file, params, base)
	cursor, err := st.Cursors(t.Context(), store.Filter{})
	if err != nil || cursor[0].Value != patra.InstantOf(to) {
		tasks, _ := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
		for _, k := range tasks {
			t.Logf("task %s: %s", k.Window, k.LastError)
		}
		t.Fatalf("watermark %s, %v", cursor[0].Value, err)
	}
	return st, url1
}

// runAll plans and runs the whole window of the tests.
func runAll(t *testing.T, file *source.File, params map[string]string, base string) (*store.Store, string, *planner.Result) {
	t.Helper()
	st, dbURL, plan := planAll(t, file, params, base)
	if err := runner(t, st, plan).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st, dbURL, plan
}

// planAll plans the whole window of the tests in a store of its own.
func planAll(t testing.TB, file *source.File, params map[string]string, base string) (*store.Store, string, *planner.Result) {
	t.Helper()
	return planOn(t, storetest.Engines()[0], file, params, base)
}

func planOn(t testing.TB, e storetest.Engine, file *source.File, params map[string]string, base string) (*store.Store, string, *planner.Result) {
	t.Helper()
	dbURL := e.URL(t)
	st := e.Connect(t, dbURL)
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	for name, e := range file.Endpoints { // nobody is asked here: what would be found out is known
		if e.Window.Discover == nil {
			continue
		}
		bounds := patra.FoundBounds{Source: file.Code, Endpoint: name, Address: base, WindowBounds: patra.WindowBounds{Precision: patra.UnitDay, Upper: patra.UpperInclusive}, FoundAt: &start}
		if _, err := st.KeepWindowBounds(t.Context(), start, bounds); err != nil {
			t.Fatal(err)
		}
	}
	p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 20, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, Contact: "t@example.org", Params: params, From: &start, To: &end, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	return st, dbURL, plan
}

// runner works on a plan until nothing of it is left.
func runner(t testing.TB, st *store.Store, plan *planner.Result) *executor.Executor {
	return &executor.Executor{
		Store: st, Gate: gate.NewLocal(), Evidence: keeper(t), Log: slog.New(slog.DiscardHandler),
		Config: executor.Config{Owner: store.NewOwner(), Workers: 3, CursorID: plan.Plan.CursorID, Lease: time.Minute, Heartbeat: 20 * time.Second, Poll: 5 * time.Millisecond, Grace: time.Second, Prefetch: true, Memory: 1 << 30, Strain: patra.DefaultWalkLimits()},
		Client: func(_ *source.Spec, base string) *http.Client {
			u, err := url.Parse(base)
			if err != nil {
				t.Error(err)
			}
			return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
		},
		Done: func(ctx context.Context) (bool, error) {
			states, err := st.SliceStates(ctx, plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		},
	}
}

// TestSpoiltAndMissingIDs: of the ids that a search gave, one cannot be asked for and one has no record. Both are found,
// all others are stored, and the window is complete with one known to be missing and one put aside.
func TestSpoiltAndMissingIDs(t *testing.T) {
	file, err := source.Load("pubmed.yaml", []byte(shippedFast(t, "pubmed")))
	if err != nil {
		t.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
	want := ids(provider.PubMed().Truth(from, to))
	var spoilt, missing string
	for id := range want {
		if spoilt == "" {
			spoilt = id
		} else if missing == "" {
			missing = id
		}
	}
	var fetches atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/efetch.fcgi") {
			fetches.Add(1)
			body, _ := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			asked := strings.Split(form.Get("id"), ",")
			if slices.Contains(asked, spoilt) {
				http.Error(w, "cannot be shown", http.StatusNotFound)
				return
			}
			form.Set("id", strings.Join(slices.DeleteFunc(asked, func(id string) bool { return id == missing }), ","))
			if form.Get("id") == "" {
				io.WriteString(w, "<PubmedArticleSet></PubmedArticleSet>")
				return
			}
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form.Encode())), int64(len(form.Encode()))
		}
		provider.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	st, dbURL := harvestAll(t, file, nil, server.URL)
	delete(want, spoilt)
	delete(want, missing)
	if n, err := st.CountRecords(t.Context(), "pubmed"); err != nil || n != int64(len(want)) {
		t.Errorf("%d of %d records, %v", n, len(want), err)
	}
	db := storetest.Inspect(t, dbURL)
	var bad, gone int
	if err := db.QueryRow(`SELECT SUM(status_code = 'BAD' AND provider_id = ?), SUM(status_code = 'MISSING' AND provider_id = ?) FROM ing_task_item`, spoilt, missing).Scan(&bad, &gone); err != nil || bad != 1 || gone != 1 {
		t.Errorf("%d spoilt, %d missing, %v", bad, gone, err)
	}
	var quarantined, known int
	if err := db.QueryRow(`SELECT SUM(quarantined), SUM(known_missing) FROM ing_coverage`).Scan(&quarantined, &known); err != nil || quarantined != 1 || known != 2 {
		t.Errorf("%d quarantined, %d known to be missing, %v", quarantined, known, err)
	}
	if n := fetches.Load(); n > 4*2+2*9+4 {
		t.Errorf("%d requests were needed to find them", n)
	}
	storetest.CheckInvariants(t, db)
}

// TestDetailEndpointThatIsWrong: when no record can be had, it is not the ids that are bad. The window stays a gap.
func TestDetailEndpointThatIsWrong(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"refused": func(w http.ResponseWriter) { http.Error(w, "not here", http.StatusNotFound) },
		"empty":   func(w http.ResponseWriter) { io.WriteString(w, "<PubmedArticleSet></PubmedArticleSet>") },
	} {
		t.Run(name, func(t *testing.T) {
			file, err := source.Load("pubmed.yaml", []byte(shippedFast(t, "pubmed")))
			if err != nil {
				t.Fatal(err)
			}
			provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 30, Exact: true}).Handler()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/efetch.fcgi") {
					answer(w)
					return
				}
				provider.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			st, _, plan := runAll(t, file, nil, server.URL)
			cursor, err := st.Cursors(t.Context(), store.Filter{})
			if err != nil || cursor[0].Value != patra.InstantOf(from) {
				t.Errorf("watermark %s, %v", cursor[0].Value, err)
			}
			states, err := st.SliceStates(t.Context(), plan.Plan.CursorID)
			if err != nil || states[patra.Failed] != 4 {
				t.Errorf("slices %v, %v", states, err)
			}
		})
	}
}

// TestMissingIDsAfterAnInterruption: a run is stopped when only the ids without a record are left. Whoever goes on sees
// nothing but missing ids, and must not take that for an endpoint that is wrong.
func TestMissingIDsAfterAnInterruption(t *testing.T) {
	file, err := source.Load("pubmed.yaml", []byte(shippedFast(t, "pubmed")))
	if err != nil {
		t.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
	gone := func(id string) bool { return strings.HasSuffix(id, "7") && len(id) > 2 } // about a tenth
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/efetch.fcgi") {
			body, _ := io.ReadAll(r.Body)
			form, _ := url.ParseQuery(string(body))
			form.Set("id", strings.Join(slices.DeleteFunc(strings.Split(form.Get("id"), ","), gone), ","))
			if form.Get("id") == "" {
				io.WriteString(w, "<PubmedArticleSet></PubmedArticleSet>")
				return
			}
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form.Encode())), int64(len(form.Encode()))
		}
		provider.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	st, _, plan := planAll(t, file, nil, server.URL)
	for range 20 { // each run is stopped when a page brought the records that there are, and the missing ones are left
		ctx, stop := context.WithCancel(t.Context())
		x := runner(t, st, plan)
		x.Observe = func(e executor.Event) {
			if e.Kind == executor.EventPage && e.Counts.Total() > 50 {
				stop()
			}
		}
		if err := x.Run(ctx); err != nil {
			t.Fatal(err)
		}
		stop()
		if states, err := st.SliceStates(t.Context(), plan.Plan.CursorID); err != nil || states[patra.Ready] == 0 {
			break
		}
	}
	cursor, err := st.Cursors(t.Context(), store.Filter{})
	if err != nil || cursor[0].Value != patra.InstantOf(to) {
		t.Fatalf("watermark %s, %v", cursor[0].Value, err)
	}
	missing := int64(0)
	for id := range ids(provider.PubMed().Truth(from, to)) {
		if gone(id) {
			missing++
		}
	}
	answers, err := st.CoverageEntries(t.Context(), plan.Plan.CursorID)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		missing -= a.KnownMissing
	}
	if missing != 0 {
		t.Errorf("%d missing ids are not accounted for", missing)
	}
}
