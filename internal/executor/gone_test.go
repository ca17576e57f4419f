package executor_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// losing is a provider that loses works, and finds them again.
type losing struct {
	*testing.T
	st    *store.Store
	dbURL string
	file  *source.File
	url   string
	turn  int

	lost  atomic.Pointer[func(asked int64, id string) bool] // which works it refuses to give
	plain atomic.Pointer[http.HandlerFunc]                  // how it refuses, where it is not as Crossref does
	asked atomic.Int64                                      // how many works were asked for by id
}

const goneRule = "update: {gone: {refusals: 3, over: PT0S}}\n"

// newLosing harvests from a provider that loses nothing yet.
func newLosing(t *testing.T, e storetest.Engine, text string) *losing {
	t.Helper()
	l := &losing{T: t}
	l.loses(func(int64, string) bool { return false })
	var err error
	if l.file, err = source.Load("crossref.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 20, Exact: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, id, byID := strings.Cut(r.URL.Path, "/works/")
		switch {
		case !byID || !(*l.lost.Load())(l.asked.Add(1), id):
			provider.Handler().ServeHTTP(w, r)
		case l.plain.Load() != nil:
			(*l.plain.Load())(w, r)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "Resource not found.")
		}
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	var plan *planner.Result
	l.st, l.dbURL, plan = planOn(t, e, l.file, nil, server.URL)
	if err := runner(t, l.st, plan).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *losing) loses(which func(asked int64, id string) bool) { l.lost.Store(&which) }

func (l *losing) refuses(how http.HandlerFunc) { l.plain.Store(&how) }

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// update asks for known records again and gives the states of the tasks.
func (l *losing) update(pick *patra.RecordSelector) map[patra.Status]int {
	l.Helper()
	l.turn++
	p := &planner.Planner{Store: l.st, Config: planner.Config{TaskAttempts: 1, Target: 1000, MaxPages: 1000, MinStep: time.Minute}}
	update, err := p.Plan(l.Context(), patra.InstantOf(time.Now()), planner.Request{Source: l.file, Operation: patra.Update, ByID: true, Pick: pick, Force: true, Contact: "t@example.org", BaseURL: l.url})
	if err != nil {
		l.Fatal(err)
	}
	x := runner(l.T, l.st, update)
	x.Config.PlanID = update.Plan.ID
	x.Done = func(ctx context.Context) (bool, error) {
		states, err := l.st.PlanStates(ctx, update.Plan.ID)
		return states[patra.Ready] == 0, err
	}
	if err := x.Run(l.Context()); err != nil {
		l.Fatal(err)
	}
	states, err := l.st.PlanStates(l.Context(), update.Plan.ID)
	if err != nil {
		l.Fatal(err)
	}
	return states
}

func named(ids ...string) *patra.RecordSelector {
	return &patra.RecordSelector{By: patra.PickNamed, IDs: ids}
}

func (l *losing) ids(q store.RecordQuery) (all []string) {
	l.Helper()
	if err := l.st.Find(l.Context(), q, func(r patra.Record) error {
		all = append(all, r.ProviderID)
		return nil
	}); err != nil {
		l.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func (l *losing) has(what string, q store.RecordQuery, want ...string) {
	l.Helper()
	slices.Sort(want)
	if got := l.ids(q); !slices.Equal(got, want) {
		l.Errorf("%d are %s, want %d: %v", len(got), what, len(want), got)
	}
}

// TestARecordIsLostAndFound: what the provider refuses to give is missing, gone after three refusals, and there again when
// it is given. Its neighbours stay as they are.
func TestARecordIsLostAndFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		l := newLosing(t, e, shippedFast(t, "crossref")+goneRule)
		all := l.ids(store.RecordQuery{})
		lost := []string{all[3], all[40], all[41]}
		l.loses(func(_ int64, id string) bool { return slices.Contains(lost, id) })
		for i := range 4 {
			if states := l.update(nil); states[patra.Succeeded] != 1 {
				t.Fatalf("update %d: %v", i, states)
			}
			if i < 2 {
				l.has("missing", store.RecordQuery{Missing: true}, lost...)
				l.has("gone", store.RecordQuery{Gone: true})
			} else {
				l.has("missing", store.RecordQuery{Missing: true})
				l.has("gone", store.RecordQuery{Gone: true}, lost...)
			}
		}
		l.has("deleted", store.RecordQuery{Deleted: true})
		l.loses(func(_ int64, id string) bool { return id == lost[0] })
		if states := l.update(named(lost...)); states[patra.Succeeded] != 1 {
			t.Error(states)
		}
		l.has("gone", store.RecordQuery{Gone: true}, lost[0])
		storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
	})
}

// TestAHarvestRevives: any page that brings the record ends its absence.
func TestAHarvestRevives(t *testing.T) {
	l := newLosing(t, storetest.Engines()[0], shippedFast(t, "crossref")+goneRule)
	all := l.ids(store.RecordQuery{})
	l.loses(func(_ int64, id string) bool { return id == all[7] })
	l.update(named(all[7]))
	l.has("missing", store.RecordQuery{Missing: true}, all[7])
	p := &planner.Planner{Store: l.st, Config: planner.Config{TaskAttempts: 1, Target: 1000, MaxPages: 1000, MinStep: time.Minute}}
	w := patra.Window{From: patra.InstantOf(from), To: patra.InstantOf(to)}
	again, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: l.file, Operation: patra.Harvest, From: &w.From, To: &w.To, Force: true, Contact: "t@example.org", BaseURL: l.url})
	if err != nil {
		t.Fatal(err)
	}
	x := runner(t, l.st, again)
	x.Config.PlanID = again.Plan.ID
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.has("missing", store.RecordQuery{Missing: true})
	storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
}

// TestAnOutageOf404LosesNothing: a provider that refuses everything is not believed. The update fails, nothing is missing,
// and the next one settles what it left.
func TestAnOutageOf404LosesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		for name, c := range map[string]struct {
			from int64 // the request by id from which on everything is refused
			pick func(all []string) *patra.RecordSelector
		}{
			"from the beginning":     {1, func([]string) *patra.RecordSelector { return nil }},
			"from the middle on":     {40, func([]string) *patra.RecordSelector { return nil }},
			"some that are named":    {1, func(all []string) *patra.RecordSelector { return named(all[:20]...) }},
			"a single one":           {1, func(all []string) *patra.RecordSelector { return named(all[5]) }},
			"just before the end":    {78, func([]string) *patra.RecordSelector { return nil }},
			"the last of the update": {80, func([]string) *patra.RecordSelector { return nil }},
		} {
			l := newLosing(t, e, shippedFast(t, "crossref")+goneRule)
			all := l.ids(store.RecordQuery{})
			if len(all) != 80 {
				t.Fatalf("%d records", len(all))
			}
			l.loses(func(asked int64, _ string) bool { return asked >= c.from })
			if states := l.update(c.pick(all)); states[patra.Failed] != 1 {
				t.Errorf("%s: %v", name, states)
			}
			l.has("missing", store.RecordQuery{Missing: true, Gone: true})
			if n := l.asked.Load(); n > c.from+20 { // the attempt that read something is not one of them
				t.Errorf("%s: asked %d times in an outage", name, n-c.from)
			}
			l.loses(func(int64, string) bool { return false })
			if states := l.update(nil); states[patra.Succeeded] != 1 {
				t.Errorf("%s: %v", name, states)
			}
			l.has("missing", store.RecordQuery{Missing: true, Gone: true})
			storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
		}
	})
}

// TestTooManyRefusalsDoNotCount: a provider that refuses every second id gives records all the same, and is not believed.
func TestTooManyRefusalsDoNotCount(t *testing.T) {
	l := newLosing(t, storetest.Engines()[0], shippedFast(t, "crossref")+goneRule)
	l.loses(func(asked int64, _ string) bool { return asked%2 == 0 })
	if states := l.update(nil); states[patra.Failed] != 1 {
		t.Error(states)
	}
	l.has("missing", store.RecordQuery{Missing: true, Gone: true})
	storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
}

// TestManyThatAreGoneSpoilNoUpdate: records that were missing before are no sign of an outage, however many they are.
func TestManyThatAreGoneSpoilNoUpdate(t *testing.T) {
	l := newLosing(t, storetest.Engines()[0], shippedFast(t, "crossref")+goneRule)
	all := l.ids(store.RecordQuery{})
	lost := all[:30]
	l.loses(func(_ int64, id string) bool { return slices.Contains(lost, id) })
	for part := range slices.Chunk(lost, 10) { // more at once would not be believed
		pick := append(slices.Clone(part), all[30:]...)
		if states := l.update(named(pick...)); states[patra.Succeeded] != 1 {
			t.Fatal(states)
		}
	}
	l.has("missing", store.RecordQuery{Missing: true}, lost...)
	for range 2 {
		if states := l.update(nil); states[patra.Succeeded] != 1 {
			t.Fatal(states)
		}
	}
	l.has("gone", store.RecordQuery{Gone: true}, lost...)
	storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
}

// TestOnlyAnAnswerThatThereIsNoRecordCounts: 404 and 410 count where the source does not say what they mean; every fault,
// and a status that means something else there, does not.
func TestOnlyAnAnswerThatThereIsNoRecordCounts(t *testing.T) {
	shipped := shippedFast(t, "crossref")
	ruleless := strings.Replace(shipped, `- {status: [404], match: "^Resource not found", means: EMPTY}`, `- {status: [422], match: "never", means: EMPTY}`, 1)
	if ruleless == shipped {
		t.Fatal("crossref has another rule")
	}
	for name, c := range map[string]struct {
		file   string
		answer http.HandlerFunc
		counts bool
	}{
		"404 as the source says":     {shipped, status(404, "Resource not found."), true},
		"404 in other words":         {shipped, status(404, "<html>no such host</html>"), false},
		"410 beside a rule":          {shipped, status(410, "it was here"), true},
		"404 without a rule":         {ruleless, status(404, "nothing"), true},
		"410 without a rule":         {ruleless, status(410, ""), true},
		"400":                        {ruleless, status(400, "no"), false},
		"422":                        {ruleless, status(422, "no"), false},
		"401":                        {ruleless, status(401, "no"), false},
		"403":                        {ruleless, status(403, "no"), false},
		"429":                        {ruleless, status(429, "slower"), false},
		"500":                        {ruleless, status(500, "oops"), false},
		"503":                        {ruleless, status(503, "oops"), false},
		"an answer that is cut off":  {ruleless, status(200, `{"message":`), false},
		"a web page":                 {ruleless, status(200, "<html>welcome</html>"), false},
		"a connection that is ended": {ruleless, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(c.file, "maxAttempts: 30", "maxAttempts: 1", 1)
			l := newLosing(t, storetest.Engines()[0], text+goneRule)
			all := l.ids(store.RecordQuery{})
			l.refuses(c.answer)
			l.loses(func(_ int64, id string) bool { return id == all[3] })
			l.update(named(all[2], all[3], all[4]))
			want := []string{}
			if c.counts {
				want = append(want, all[3])
			}
			l.has("missing", store.RecordQuery{Missing: true, Gone: true}, want...)
			storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
		})
	}
}

// TestIdsThatALargerAnswerLeavesOut: where many are asked for at once, an id counts as refused when it is left out of a
// whole answer and, asked for alone, is not given either.
func TestIdsThatALargerAnswerLeavesOut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		text := strings.Replace(shippedFast(t, "pubmed"), "batch: 200", "batch: 20", 1) + goneRule
		file, err := source.Load("pubmed.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 20, Exact: true})
		var lost atomic.Pointer[[]string]
		lost.Store(&[]string{})
		outage := atomic.Bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/efetch.fcgi") {
				provider.Handler().ServeHTTP(w, r)
				return
			}
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			ids := slices.DeleteFunc(strings.Split(r.PostForm.Get("id"), ","), func(id string) bool { return slices.Contains(*lost.Load(), id) })
			if len(ids) == 0 || outage.Load() {
				w.Header().Set("Content-Type", "text/xml")
				_, _ = io.WriteString(w, `<?xml version="1.0"?><PubmedArticleSet></PubmedArticleSet>`)
				return
			}
			r.PostForm.Set("id", strings.Join(ids, ","))
			body := r.PostForm.Encode()
			again := r.Clone(r.Context())
			again.Body, again.ContentLength, again.Form, again.PostForm = io.NopCloser(strings.NewReader(body)), int64(len(body)), nil, nil
			provider.Handler().ServeHTTP(w, again)
		}))
		t.Cleanup(server.Close)
		l := &losing{T: t, file: file, url: server.URL}
		var plan *planner.Result
		l.st, l.dbURL, plan = planOn(t, e, file, nil, server.URL)
		if err := runner(t, l.st, plan).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := l.ids(store.RecordQuery{})
		some := []string{all[1], all[2], all[30], all[31], all[32], all[33], all[34]}
		lost.Store(&some)
		for range 3 {
			if states := l.update(nil); states[patra.Succeeded] != 1 {
				t.Fatal(states)
			}
		}
		l.has("gone", store.RecordQuery{Gone: true}, some...)
		outage.Store(true)
		if states := l.update(nil); states[patra.Failed] != 1 {
			t.Error(states)
		}
		l.has("missing", store.RecordQuery{Missing: true})
		outage.Store(false)
		lost.Store(&[]string{})
		if states := l.update(nil); states[patra.Succeeded] != 1 {
			t.Error(states)
		}
		l.has("gone or missing", store.RecordQuery{Gone: true, Missing: true})
		storetest.CheckInvariants(t, storetest.Inspect(t, l.dbURL))
	})
}
