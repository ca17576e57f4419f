package executor_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
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
)

// early is a plan whose slices are left before their end, and are cut until everything is read.
type early struct {
	t      *testing.T
	store  *store.Store
	url    string
	plan   *planner.Result
	file   *source.File
	base   string
	prober planner.Prober
	events []executor.Event
}

func newEarly(t *testing.T, text string, provider http.Handler) *early {
	t.Helper()
	file, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	e := &early{t: t, file: file, base: server.URL}
	e.store, e.url, e.plan = planAll(t, file, nil, server.URL)
	return e
}

func newWorks() *sim.Server {
	return sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
}

// say changes what the specs of all slices say.
func (e *early) say(path, value string) {
	e.t.Helper()
	if _, err := storetest.Inspect(e.t, e.url).Exec(`UPDATE ing_plan_slice SET slice_spec = JSON_SET(slice_spec, ?, JSON(?))`, path, value); err != nil {
		e.t.Fatal(err)
	}
}

// run works until nothing is queued.
func (e *early) run() {
	e.t.Helper()
	x := runner(e.t, e.store, e.plan)
	x.Config.Workers = 1
	x.Observe = func(ev executor.Event) { e.events = append(e.events, ev) }
	if err := x.Run(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	storetest.CheckInvariants(e.t, storetest.Inspect(e.t, e.url))
}

// only is the one slice that waits to be cut.
func (e *early) only() patra.Slice {
	e.t.Helper()
	all, err := e.store.PartialSlices(e.t.Context(), 0, 10)
	if err != nil || len(all) != 1 {
		tasks, _ := e.store.Tasks(e.t.Context(), store.Filter{})
		e.t.Fatalf("%d slices wait to be cut, %v; tasks %+v", len(all), err, tasks)
	}
	return all[0]
}

// finish cuts and runs until everything is covered, and compares with what is really there.
func (e *early) finish(want map[string]bool, between ...func()) {
	e.t.Helper()
	p := &planner.Planner{Store: e.store, Prober: e.prober, Config: planner.Config{TaskAttempts: 20, Target: 10_000, MaxPages: 2000, MinStep: time.Hour, Probes: 1000}}
	for range 30 {
		n, err := p.Reslice(e.t.Context(), patra.InstantOf(time.Now()), e.plan.Plan.CursorID)
		if err != nil {
			e.t.Fatal(err)
		}
		storetest.CheckInvariants(e.t, storetest.Inspect(e.t, e.url))
		if n == 0 {
			break
		}
		for _, change := range between {
			change()
		}
		e.run()
	}
	cursor, err := e.store.Cursors(e.t.Context(), store.Filter{})
	if err != nil || cursor[0].Value != patra.InstantOf(to) {
		tasks, _ := e.store.Tasks(e.t.Context(), store.Filter{Status: patra.Failed})
		e.t.Errorf("watermark %s, %v; failed %+v", cursor[0].Value, err, tasks)
	}
	err = e.store.Records(e.t.Context(), e.file.Code, func(r patra.Record) error {
		delete(want, r.ProviderID)
		return nil
	})
	if err != nil || len(want) > 0 {
		e.t.Errorf("%d records are missing, %v", len(want), err)
	}
}

func truth(s *sim.Server) map[string]bool {
	all := map[string]bool{}
	for w := range s.Truth(from, to) {
		all[w.ID] = true
	}
	return all
}

// orders lists the order of every page that was committed, first to last.
func (e *early) orders() string {
	e.t.Helper()
	rows, err := storetest.Inspect(e.t, e.url).Query(`SELECT order_code FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED' ORDER BY id`)
	if err != nil {
		e.t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var code sql.NullString
		if err := rows.Scan(&code); err != nil {
			e.t.Fatal(err)
		}
		all = append(all, code.String)
	}
	return strings.Join(all, " ")
}

const (
	offsets  = `{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, order: ASC, end: [EMPTY_PAGE]}`
	capped   = `{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, cap: 200, order: ASC, end: [EMPTY_PAGE]}`
	numbered = `{type: PAGE, pageSize: 12, maxPageSize: 1000, sizeParam: rows, positionParam: page, cap: CAP, order: ASC, end: [EMPTY_PAGE]}`
	byTimes  = `{type: TIME, pageSize: 200, maxPageSize: 1000, sizeParam: rows, end: [EMPTY_PAGE]}`
)

func day(n int) patra.Instant { return patra.InstantOf(from) + patra.Instant(n)*patra.Day }

// A slice that reaches a limit is left with what it proved, and its rest is read in smaller ones. Nothing is lost on the
// way, whatever the order and the limit.
func TestASliceIsLeftEarlyAndItsRestIsCut(t *testing.T) {
	descending := strings.NewReplacer("order: asc", "order: desc", "order: ASC", "order: DESC")
	for _, c := range []struct {
		name, text, budget, reason string
		requests                   int64
		order                      string
		confirmed                  patra.Window
	}{
		{"requests", paged(offsets, "P1M"), `{"maxRequests": 3}`, patra.ResliceRequests, 3, "ASC", patra.Window{From: day(0), To: day(1)}},
		{"records", paged(offsets, "P1M"), `{"maxRecords": 251}`, patra.ResliceRecords, 6, "ASC", patra.Window{From: day(0), To: day(2)}},
		{"going down", strings.Replace(descending.Replace(paged(offsets, "P1M")), "order: DESC, end", "order: FIXED, end", 1), `{"maxRequests": 3}`, patra.ResliceRequests, 3, "DESC", patra.Window{From: day(3), To: day(4)}},
		{"no order is promised", strings.Replace(paged(offsets, "P1M"), "order: ASC, earliest", "order: NONE, earliest", 1), `{"maxRequests": 3}`, patra.ResliceRequests, 3, "NONE", patra.Window{}},
		{"a walk by time reads the last day again", paged(byTimes, "P1M"), `{"maxRequests": 2}`, patra.ResliceRequests, 2, "ASC", patra.Window{From: day(0), To: day(2)}},
		{"deeper than the provider answers", strings.Replace(paged(capped, "P1M"), "trust: EXACT", "trust: ESTIMATE", 1), `{}`, patra.ResliceCap, 5, "ASC", patra.Window{From: day(0), To: day(1)}},
		{"a count says so on the first page", paged(capped, "P1M"), `{}`, patra.ResliceCap, 1, "ASC", patra.Window{}},
		{"more pages than the provider answers", paged(strings.Replace(numbered, "CAP", "39", 1), "P1M"), `{}`, patra.ResliceCap, 1, "ASC", patra.Window{}},
		{"as many pages as the provider answers, and no room to see the end", paged(strings.Replace(numbered, "CAP", "40", 1), "P1M"), `{}`, patra.ResliceCap, 48, "ASC", patra.Window{From: day(0), To: day(2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			works := newWorks()
			e := newEarly(t, c.text, pages(works.Handler()))
			e.say("$.budget", c.budget)
			e.run()
			sl := e.only()
			if sl.Reslice.Reason != c.reason || sl.Reslice.Requests != c.requests {
				t.Errorf("left because of %+v", sl.Reslice)
			}
			if (sl.Confirmed == nil) != c.confirmed.IsEmpty() || (sl.Confirmed != nil && *sl.Confirmed != c.confirmed) {
				t.Errorf("confirmed %v, want %s", sl.Confirmed, c.confirmed)
			}
			if got := e.orders(); strings.ReplaceAll(got, c.order, "") != strings.Repeat(" ", strings.Count(got, " ")) {
				t.Errorf("pages are %s", got)
			}
			answers, err := e.store.CoverageEntries(t.Context(), e.plan.Plan.CursorID)
			if days := int64((c.confirmed.To - c.confirmed.From) / patra.Day); err != nil || (days > 0 && (len(answers) != 1 || answers[0].IDsSeen != days*120)) {
				t.Errorf("answers %+v for %d days, %v", answers, days, err)
			}
			if skipped, err := e.store.Batches(t.Context(), store.Filter{Status: patra.Skipped}); err != nil || len(skipped) > 0 {
				t.Errorf("%d pages were announced in vain, %v", len(skipped), err)
			}
			if last := e.events[len(e.events)-1]; last.Kind != executor.EventPartial || last.Reslice.Reason != c.reason {
				t.Errorf("told %+v", last)
			}
			e.finish(truth(works))
		})
	}
}

// Providers fail, slices are left after a few pages again and again, and in the end everything is there.
func TestNothingIsLostHoweverOftenASliceIsCut(t *testing.T) {
	for name, text := range map[string]string{
		"offsets":        strings.Replace(paged(offsets, "P1M"), "trust: EXACT", "trust: NONE", 1),
		"going down":     strings.NewReplacer("order: asc", "order: desc", "order: ASC", "order: DESC", "trust: EXACT", "trust: NONE").Replace(paged(offsets, "P1M")),
		"by time":        strings.Replace(paged(byTimes, "P1M"), "trust: EXACT", "trust: NONE", 1),
		"a scroll":       strings.NewReplacer("trust: EXACT", "trust: NONE", "size: P1D", "size: P1M", "pageSize: 200", "pageSize: 50").Replace(shippedFast(t, "crossref")),
		"with its count": paged(offsets, "P1M"),
	} {
		t.Run(name, func(t *testing.T) {
			faults := sim.Faults{ServerError: 0.05, Throttle: 0.05, CutBody: 0.05, Reset: 0.05}
			works := sim.New(sim.Config{Seed: rand.Uint64(), From: from, To: to, PerDay: 120, Exact: true, Faults: faults})
			e := newEarly(t, text, works.Handler())
			little := func() {
				e.say("$.budget", fmt.Sprintf(`{"maxRequests": %d, "maxRecords": %d}`, 2+rand.IntN(6), 60+rand.IntN(400)))
			}
			little()
			e.run()
			e.finish(truth(works), little)
			var cut int
			if err := storetest.Inspect(t, e.url).QueryRow(`SELECT COUNT(*) FROM ing_plan_slice WHERE status_code = 'SPLIT'`).Scan(&cut); err != nil || cut == 0 {
				t.Errorf("%d slices were cut, %v", cut, err)
			}
		})
	}
}

// What cannot be cut is read to its end whatever it takes, and fails where the provider gives no more.
func TestASliceThatCannotBeCutIsNotLeft(t *testing.T) {
	works := newWorks()
	e := newEarly(t, paged(offsets, "P1M"), works.Handler())
	e.say("$.budget", `{"maxRequests": 1, "maxRecords": 1}`)
	e.say("$.hints.whole", "true")
	e.run()
	e.finish(truth(works))

	e = newEarly(t, paged(capped, "P1M"), newWorks().Handler())
	e.say("$.hints.whole", "true")
	e.run()
	tasks, err := e.store.Tasks(t.Context(), store.Filter{})
	if err != nil || tasks[0].Status != patra.Failed || !strings.Contains(string(tasks[0].LastError), patra.CodeDeepPaging) {
		t.Errorf("tasks %+v, %v", tasks, err)
	}
}

// A look-back that ends early leaves what was counted before as it is: it would hold back completeness for ever.
func TestAReadingThatWasCountedIsNotReplacedByOneThatWasNot(t *testing.T) {
	works := newWorks()
	e := newEarly(t, paged(strings.Replace(offsets, "order: ASC, ", "", 1), "P1M"), works.Handler())
	e.exec(`UPDATE ing_plan_slice SET purpose_code = 'LOOKBACK'`)
	e.say("$.budget", `{"maxRequests": 4}`)
	e.run()
	if sl := e.only(); sl.Confirmed != nil {
		t.Errorf("confirmed %s", sl.Confirmed)
	}
	e.finish(truth(works))
}

// A walk that ends with its last permitted request is at its end.
func TestABudgetThatSufficesIsEnough(t *testing.T) {
	works := newWorks()
	e := newEarly(t, paged(offsets, "P1M"), works.Handler())
	e.say("$.budget", `{"maxRequests": 11, "maxRecords": 481}`) // ten pages and an empty one
	e.run()
	if last := e.events[len(e.events)-1]; last.Kind != executor.EventDone {
		t.Errorf("told %+v", last)
	}
	e.finish(truth(works))
}

// inTwoPhases is a source whose search says when each record changed, in order, and gives nothing else of it.
const inTwoPhases = `apiVersion: patra/v1
code: two-phases
name: Ids with times
recordType: work
defaults: {http: {baseUrl: "https://example.org"}, rate: {perSecond: 100000, burst: 1000}}
endpoints:
  search:
    role: SEARCH
    default: true
    detail: {endpoint: fetch, idsParam: ids, batch: 100}
    request: {method: GET, path: /search}
    pagination: {type: OFFSET, pageSize: 2, maxPageSize: 10, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", updatedAt: "$.at", total: {trust: NONE}}
    window: {field: changed, mode: CALENDAR, align: DAY, size: P1M, precision: DAY, upper: INCLUSIVE_DAY, order: ASC, earliest: 2002-01-01}
  fetch:
    role: DETAIL
    request: {method: GET, path: /fetch}
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
query:
  fields: {changed: {type: DATE, ops: [RANGE]}}
  render: [{field: changed, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
`

// Ids that came in order are no records yet: whoever confirmed their days would leave the records behind for good.
func TestIDsAloneConfirmNothing(t *testing.T) {
	e := newEarly(t, inTwoPhases, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		fmt.Fprintf(w, `{"items":[{"id":"a%[1]d","at":"2026-05-0%[2]dT01:00:00Z"},{"id":"b%[1]d","at":"2026-05-0%[2]dT02:00:00Z"}]}`, offset, min(offset/2+1, 4))
	}))
	e.say("$.budget", `{"maxRequests": 3}`)
	e.run()
	if sl := e.only(); sl.Confirmed != nil || sl.Reslice.Records != 6 {
		t.Errorf("confirmed %v after %+v", sl.Confirmed, sl.Reslice)
	}
}

// spoilt is a provider whose n-th answer is changed.
func spoilt(next http.Handler, n int64, change func(string) string) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		body := rec.Body.String()
		if asked.Add(1) == n {
			body = change(body)
		}
		w.WriteHeader(rec.Code)
		io.WriteString(w, body)
	})
}

// dateLast gives the last record of an answer another time.
func dateLast(body, at string) string {
	i := strings.LastIndex(body, `"indexed":{`)
	return body[:i] + strings.Replace(body[i:], `"date-time":"`, `"date-time":"`+at+`","was":"`, 1)
}

// The order is believed only as far as every record shows it.
func TestWhateverBreaksTheOrderIsNotConfirmed(t *testing.T) {
	first := func(body, old, new string) string { return strings.Replace(body, old, new, 1) }
	for name, change := range map[string]func(string) string{
		"a record against the order": func(b string) string { return dateLast(b, "2026-05-01T00:00:00Z") },
		"a record without a time": func(b string) string {
			i := strings.LastIndex(b, `"indexed":{`)
			return b[:i] + first(b[i:], `"indexed":{`, `"never":{`)
		},
		"a record that cannot be read":   func(b string) string { return first(b, `"DOI":"`, `"DOI":null,"was":"`) },
		"a record that nobody asked for": func(b string) string { return dateLast(b, "2026-05-07T00:00:00Z") },
	} {
		t.Run(name, func(t *testing.T) {
			works := newWorks()
			e := newEarly(t, paged(offsets, "P1M"), spoilt(works.Handler(), 3, func(b string) string {
				if out := change(b); out != b {
					return out
				}
				t.Errorf("the answer was not changed: %.300s", b)
				return b
			}))
			e.say("$.budget", `{"maxRequests": 4}`)
			e.run()
			if sl := e.only(); sl.Confirmed != nil {
				t.Errorf("confirmed %s", sl.Confirmed)
			}
			if got := e.orders(); got != "ASC ASC NONE NONE" {
				t.Errorf("pages are %s", got)
			}
			if name == "a record that cannot be read" || name == "a record without a time" {
				return // it is another record when it is read again
			}
			e.finish(truth(works))
		})
	}
}

// A run that goes on with a scan has not seen its first pages: it counts them and believes what the ledger says of them.
func TestAScanThatIsGoneOnWithConfirmsWhatTheLedgerSays(t *testing.T) {
	for name, broken := range map[string]bool{"in order": false, "order broken before": true} {
		t.Run(name, func(t *testing.T) {
			works := newWorks()
			handler := works.Handler()
			if broken {
				handler = spoilt(handler, 1, func(b string) string { return strings.Replace(b, `"indexed":{`, `"never":{`, 1) })
			}
			e := newEarly(t, paged(offsets, "P1M"), handler)
			e.say("$.budget", `{"maxRequests": 4}`)
			for range 3 { // each run commits one page and is stopped
				e.stopAfterOnePage()
			}
			e.run()
			sl := e.only()
			if sl.Reslice.Requests != 4 || sl.Reslice.Records != 197 {
				t.Errorf("left because of %+v", sl.Reslice)
			}
			if (sl.Confirmed == nil) != broken || (!broken && *sl.Confirmed != patra.Window{From: day(0), To: day(1)}) {
				t.Errorf("confirmed %v", sl.Confirmed)
			}
			answers, err := e.store.CoverageEntries(t.Context(), e.plan.Plan.CursorID)
			if err != nil || (!broken && (len(answers) != 1 || answers[0].State != patra.StateSealed || answers[0].IDsSeen < 120 || answers[0].IDsSeen > 150)) {
				t.Errorf("answers %+v, %v", answers, err)
			}
			if !broken {
				e.finish(truth(works))
			}
		})
	}
}

// Whoever had the token of a stateful walk may have used pages up that never arrived: another run begins anew.
func TestAStatefulScanIsNotGoneOnWith(t *testing.T) {
	works := newWorks()
	e := newEarly(t, strings.Replace(shippedFast(t, "crossref"), "size: P1D", "size: P1M", 1), works.Handler())
	e.stopAfterOnePage()
	e.run()
	task, err := e.store.Tasks(t.Context(), store.Filter{})
	if err != nil || len(task) != 1 || task[0].Status != patra.Succeeded || task[0].ScanNo != 2 {
		t.Errorf("tasks %+v, %v", task, err)
	}
	e.finish(truth(works))
}

func (e *early) stopAfterOnePage() {
	e.t.Helper()
	ctx, stop := context.WithCancel(e.t.Context())
	defer stop()
	x := runner(e.t, e.store, e.plan)
	x.Config.Workers = 1
	x.Observe = func(ev executor.Event) {
		if ev.Kind == executor.EventPage {
			stop()
		}
	}
	if err := x.Run(ctx); err != nil {
		e.t.Fatal(err)
	}
}

// A search that gives only ids proves nothing about time. What it found is left, and fetched by others: here by slices
// that ask for some ids of the day only, because a day has more than the provider answers.
func TestADayThatIsTooFullIsCutByIDs(t *testing.T) {
	works := newWorks()
	text := strings.NewReplacer("cap: 9998", "cap: 70", "pageSize: 9998", "pageSize: 50").Replace(shippedFast(t, "pubmed"))
	e := newEarly(t, text, works.Handler())
	e.prober = &executor.Prober{Store: e.store, Gate: gate.NewLocal(), Client: trusted, Log: slog.New(slog.DiscardHandler)}
	e.run()
	all, err := e.store.PartialSlices(t.Context(), 0, 10)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d of 4 days wait to be cut, %v", len(all), err)
	}
	for _, sl := range all {
		if sl.Reslice.Reason != patra.ResliceCap || sl.Reslice.Requests != 1 || sl.Confirmed != nil || *sl.Reslice.Total != 120 {
			t.Errorf("left because of %+v, confirmed %v", sl.Reslice, sl.Confirmed)
		}
	}
	e.finish(ids(works.PubMed().Truth(from, to)))
	answers, err := e.store.CoverageEntries(t.Context(), e.plan.Plan.CursorID)
	if err != nil || len(answers) != 4 {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for _, a := range answers {
		if a.Kind != patra.KindGroup || a.State != patra.StateSealed || a.IDsSeen != 120 || a.Stored != 120 || *a.CountAfter != 120 {
			t.Errorf("answer %+v", a)
		}
	}
}

// Where a walk is bound by no filter, records of all times belong to it.
func TestAWalkWithoutAFilterHasNothingOutside(t *testing.T) {
	for _, landmark := range []bool{false, true} {
		works := newWorks()
		e := newEarly(t, paged(offsets, "P1M"), works.Handler())
		e.exec(`UPDATE ing_plan_slice SET window_to = window_to - ?`, int64(patra.Day))
		if landmark {
			e.say("$.cursor", `{"type": "OFFSET", "stop": "EXHAUSTED"}`)
			e.say("$.strategy", `"CURSOR_LANDMARK"`)
		}
		e.run()
		var outside int
		if err := storetest.Inspect(t, e.url).QueryRow(`SELECT SUM(n_outside) FROM ing_task_run_batch`).Scan(&outside); err != nil || (outside == 0) != landmark {
			t.Errorf("%d records are outside, with a filter: %v, %v", outside, !landmark, err)
		}
	}
}

func (e *early) exec(query string, args ...any) {
	e.t.Helper()
	if _, err := storetest.Inspect(e.t, e.url).Exec(query, args...); err != nil {
		e.t.Fatal(err)
	}
}

// What is not understood is not guessed at.
func TestASliceThatIsNotUnderstoodFails(t *testing.T) {
	for name, change := range map[string][2]string{
		"the spec of a newer program":   {"$.v", "99"},
		"ids that are not searched for": {"$", `{"v": 1, "strategy": "ID_RANGE", "range": {"kind": "BUCKET", "key": "provider_id", "from": 0, "to": 1, "of": {"from": 0, "to": 1}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEarly(t, paged(offsets, "P1M"), newWorks().Handler())
			e.say(change[0], change[1])
			e.run()
			tasks, err := e.store.Tasks(t.Context(), store.Filter{})
			if err != nil || tasks[0].Status != patra.Failed {
				t.Errorf("tasks %+v, %v", tasks, err)
			}
		})
	}
}

func trusted(_ *source.Spec, base string) *http.Client {
	u, err := url.Parse(base)
	if err != nil {
		panic(fmt.Sprint("base URL ", base))
	}
	return egress.NewClient(egress.Options{Host: u.Host, Trusted: true, Connect: time.Second, Headers: 5 * time.Second, Total: 10 * time.Second})
}
