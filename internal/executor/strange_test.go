package executor_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// tries is how often a page is asked for in these tests.
const tries = 5

const inXML = `apiVersion: patra/v1
code: by-offset
name: Works in XML
recordType: work
defaults: {http: {baseUrl: "https://example.org", maxBody: 65536}, rate: {perSecond: 100000, burst: 1000}, retry: {maxAttempts: 5, backoff: {initial: 1ms, max: 2ms}}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: PAGINATION
    response: {format: XML, items: "/list/item", id: "id", updatedAt: "at", total: {path: "/list/total", trust: EXACT}}
    window: {field: at, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, order: ASC}
query:
  fields: {at: {type: DATE, ops: [RANGE]}}
  render: [{field: at, op: RANGE, params: {filter: ["from:{{from}}", "to:{{to}}"]}}]
  params: {filter: {name: filter, join: ","}}
`

const (
	byCounting = `{type: OFFSET, pageSize: 20, maxPageSize: 20, positionParam: offset, end: [EMPTY_PAGE]}`
	byLink     = `{type: URL, pageSize: 20, maxPageSize: 20, next: "/list/next", token: {state: STATELESS, onSame: ERROR}, end: [NO_TOKEN]}`
	byToken    = `{type: TOKEN, pageSize: 20, maxPageSize: 20, positionParam: offset, next: "/list/next", token: {state: STATELESS, onSame: ERROR}, end: [NO_TOKEN]}`
)

// xmlWorks are 50 works on each day, twenty on a page. instead may answer a request in its own way: it is told the day, from 1 on, the
// offset, and how often the page was asked for before. days are the days in the order in which they were asked for.
type xmlWorks struct {
	instead func(w http.ResponseWriter, day, offset, before int) bool
	links   string // what stands before the offset of the next page
	asked   map[string]int
	days    []int
}

// place is which of the days one was, from 1 on.
func (x *xmlWorks) place(day int) int { return slices.Index(x.days, day) + 1 }

func (x *xmlWorks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	day, offset := 0, asked(r, "offset")
	filter := r.URL.Query().Get("filter")
	if _, err := fmt.Sscanf(filter, "from:2026-05-%02d", &day); err != nil {
		http.Error(w, filter, http.StatusBadRequest)
		return
	}
	key := fmt.Sprintf("%d/%d", day, offset)
	if x.asked == nil {
		x.asked = map[string]int{}
	}
	before := x.asked[key]
	x.asked[key]++
	if x.place(day) == 0 {
		x.days = append(x.days, day)
	}
	if x.instead != nil && x.instead(w, day, offset, before) {
		return
	}
	x.page(w, day, offset, "")
}

func (x *xmlWorks) page(w io.Writer, day, offset int, before string) {
	fmt.Fprintf(w, `<?xml version="1.0"?>%s<list><total>50</total>`, before)
	for i := offset; i < min(offset+20, 50); i++ {
		fmt.Fprintf(w, `<item><id>%d/%d</id><at>2026-05-%02d</at></item>`, day, i, day)
	}
	if offset+20 < 50 {
		fmt.Fprintf(w, "<next>%s%d</next>", x.links, offset+20)
	}
	io.WriteString(w, "</list>")
}

// strange are answers that may be an accident. at says what a page with a day and an offset is answered.
var strange = []struct {
	name, code, pagination string
	answer                 func(x *xmlWorks, w http.ResponseWriter, day, offset int) bool
}{
	{"a document that declares an entity", patra.CodeBadBody, byCounting, func(x *xmlWorks, w http.ResponseWriter, day, offset int) bool {
		x.page(w, day, offset, `<!DOCTYPE list [<!ENTITY a "b">]>`)
		return true
	}},
	{"a redirect", patra.CodeHTTP, byCounting, func(_ *xmlWorks, w http.ResponseWriter, _, _ int) bool {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusFound)
		return true
	}},
	{"a body that is too large", patra.CodeTooLarge, byCounting, func(_ *xmlWorks, w http.ResponseWriter, _, _ int) bool {
		io.WriteString(w, "<list>"+strings.Repeat(" ", 70000)+"</list>")
		return true
	}},
	{"a body that is compressed in another way than was asked for", patra.CodeEncoding, byCounting, func(_ *xmlWorks, w http.ResponseWriter, _, _ int) bool {
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "\x8b\x02\x80<list/>\x03")
		return true
	}},
	{"a link to another host", patra.CodeLinkAway, byLink, func(_ *xmlWorks, w http.ResponseWriter, day, offset int) bool {
		if offset == 0 {
			return false
		}
		fmt.Fprintf(w, `<list><total>50</total><item><id>%d/x</id><at>2026-05-%02d</at></item><next>https://user:word@elsewhere.example/works?offset=40</next></list>`, day, day)
		return true
	}},
	{"a token that comes again", patra.CodeLoop, byToken, func(_ *xmlWorks, w http.ResponseWriter, day, offset int) bool {
		if offset == 0 {
			return false
		}
		fmt.Fprintf(w, `<list><total>50</total><item><id>%d/x</id><at>2026-05-%02d</at></item><next>%d</next></list>`, day, day, offset)
		return true
	}},
	{"a token that is refused", patra.CodeTokenExpired, byToken, func(_ *xmlWorks, w http.ResponseWriter, _, offset int) bool {
		if offset == 0 {
			return false
		}
		w.WriteHeader(http.StatusGone)
		return true
	}},
}

// whole is a plan of four days none of which can be cut any shorter.
func (e *early) whole() {
	e.t.Helper()
	e.exec(`UPDATE ing_plan_slice SET slice_spec = JSON_SET(slice_spec, '$.hints.whole', JSON('true'))`)
	e.exec(`UPDATE ing_task SET max_attempts = 5`)
}

// work runs with the controls, one task after the other, until nothing is queued or everything stands still.
func (e *early) work() {
	e.t.Helper()
	x := runner(e.t, e.store, e.plan)
	x.Config.Workers, x.Controls = 1, e.store
	x.Observe = nil
	done := x.Done
	x.Done = func(ctx context.Context) (bool, error) {
		if all, err := e.store.Controls(ctx); err != nil || len(all) > 0 {
			return true, err
		}
		return done(ctx)
	}
	if err := x.Run(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	storetest.CheckInvariants(e.t, storetest.Inspect(e.t, e.url))
}

// ends are how the slices stand.
func (e *early) ends() string {
	e.t.Helper()
	tasks, err := e.store.Tasks(e.t.Context(), store.Filter{})
	if err != nil {
		e.t.Fatal(err)
	}
	var all []string
	for _, k := range tasks {
		all = append(all, string(k.Status))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (e *early) halts() (all []patra.Control) {
	e.t.Helper()
	all, err := e.store.Controls(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	return all
}

// An answer that may be an accident is asked for again. One that stays so fails its slice, and no other; the endpoint is halted when
// three windows have failed so, and none has succeeded between them.
func TestStrangeAnswers(t *testing.T) {
	for _, c := range strange {
		harvest := func(t *testing.T, when func(place, offset, before int) bool) (*early, *xmlWorks) {
			t.Helper()
			x := &xmlWorks{}
			if c.pagination == byLink {
				x.links = "?offset="
			}
			x.instead = func(w http.ResponseWriter, day, offset, before int) bool {
				return when(x.place(day), offset, before) && c.answer(x, w, day, offset)
			}
			e := newEarly(t, strings.Replace(inXML, "PAGINATION", c.pagination, 1), x)
			e.whole()
			e.work()
			return e, x
		}
		t.Run(c.name+", once", func(t *testing.T) {
			e, _ := harvest(t, func(place, offset, before int) bool { return place == 2 && offset == 20 && before == 0 })
			if got := e.ends(); got != "SUCCEEDED SUCCEEDED SUCCEEDED SUCCEEDED" || len(e.halts()) > 0 {
				t.Errorf("%s, %+v", got, e.halts())
			}
			if n, err := e.store.CountRecords(t.Context(), "by-offset"); err != nil || n != 200 {
				t.Errorf("%d records, %v", n, err)
			}
		})
		t.Run(c.name+", of two windows", func(t *testing.T) {
			e, x := harvest(t, func(place, offset, _ int) bool { return place <= 2 && offset == 20 })
			if got := e.ends(); got != "FAILED FAILED SUCCEEDED SUCCEEDED" || len(e.halts()) > 0 {
				t.Errorf("%s, %+v", got, e.halts())
			}
			if n := x.asked[fmt.Sprintf("%d/20", x.days[0])]; n < tries || n > tries+1 {
				t.Errorf("the page was asked for %d times", n)
			}
		})
		t.Run(c.name+", with a success between", func(t *testing.T) {
			e, _ := harvest(t, func(place, offset, _ int) bool { return place != 3 && offset == 20 })
			if got := e.ends(); got != "FAILED FAILED FAILED SUCCEEDED" || len(e.halts()) > 0 {
				t.Errorf("%s, %+v", got, e.halts())
			}
		})
		t.Run(c.name+", of all windows", func(t *testing.T) {
			away := false
			e, x := harvest(t, func(_, offset, _ int) bool { return offset == 20 && !away })
			halts := e.halts()
			if got := e.ends(); got != "FAILED FAILED FAILED QUEUED" || len(halts) != 1 || halts[0].Kind != patra.KindHalt || halts[0].Detail.Fault.Code != c.code {
				t.Fatalf("%s, %+v", got, halts)
			}
			if !strings.Contains(halts[0].Reason, "3 different windows") || len(x.days) > 3 {
				t.Errorf("%s; %v", halts[0].Reason, x.days)
			}
			failed, err := e.store.FailedBeside(t.Context(), "by-offset")
			if err != nil || failed.Count > 0 {
				t.Errorf("the halt and what it was counted by are told twice: %+v, %v", failed, err)
			}
			away = true
			st, err := e.store.Resume(t.Context(), patra.Target{Scope: patra.ScopeEndpoint, Key: "by-offset/works"}, "", "me")
			if err != nil || st.Revived != 3 {
				t.Errorf("resumed: %+v, %v", st, err)
			}
			e.work()
			if got := e.ends(); got != "SUCCEEDED SUCCEEDED SUCCEEDED SUCCEEDED" || len(e.halts()) > 0 {
				t.Errorf("%s, %+v", got, e.halts())
			}
		})
	}
}

// The name of a grammar is permitted, and where it is to be found is not looked at.
func TestANamedGrammarIsNotFetched(t *testing.T) {
	for _, doctype := range []string{
		`<!DOCTYPE list>`, `<!DOCTYPE list SYSTEM "HOST/list.dtd">`, `<!DOCTYPE list PUBLIC "-//X//DTD X [en]//EN" 'HOST/list.dtd?a[]=<b>' >`, "<!DOCTYPE\nlist SYSTEM\n'http://[::1]/x.dtd'>",
	} {
		x := &xmlWorks{}
		var e *early
		x.instead = func(w http.ResponseWriter, day, offset, _ int) bool {
			x.page(w, day, offset, strings.ReplaceAll(doctype, "HOST", e.base))
			return true
		}
		others := 0
		e = newEarly(t, strings.Replace(inXML, "PAGINATION", byCounting, 1), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/works" {
				others++
			}
			x.ServeHTTP(w, r)
		}))
		e.work()
		if got := e.ends(); got != "SUCCEEDED SUCCEEDED SUCCEEDED SUCCEEDED" || others > 0 {
			t.Errorf("%s: %s, and %d other requests", doctype, got, others)
		}
	}
}

// A provider of whose answers one in ten is strange is read to its end: none of them fails a slice.
func TestAProviderThatIsOftenStrange(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 5, Faults: sim.Faults{Redirect: 0.04, NotModified: 0.04, GzipBomb: 0.04}}, nil, fast(t, "maxAttempts: 5", "maxAttempts: 12"))
	x := h.executor(4)
	x.Controls = h.store
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
	if h.faults[patra.CodeHTTP] == 0 || h.faults[patra.CodeTooLarge] == 0 || h.events[executor.EventFailed] > 0 {
		t.Errorf("faults %v, events %v", h.faults, h.events)
	}
}
