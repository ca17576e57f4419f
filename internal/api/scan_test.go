package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patra"
	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// peopled is a server on a store in which something of everything has happened.
func peopled(t testing.TB, opts ...store.Option) (*room, *storetest.World) {
	t.Helper()
	w := storetest.NewWorld(t, storetest.Engines()[0], 12)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		w.Work(w.Take(), w.Record(fmt.Sprint("10.5555/", i), storetest.Origin+patra.Day, "first"), w.Record("10.5555/same", storetest.Origin+patra.Instant(i)*patra.Day, fmt.Sprint(i)))
	}
	ctx, now := t.Context(), w.Clock.Instant()
	bad := w.Take() // a page that fails, and with it the task
	page, err := w.OpenAt(bad, 1, 1, 1)
	must(err)
	fault := patra.Fault{Level: patra.LevelRequest, Code: patra.CodeHTTP, Status: 400, Text: "the provider refuses the request"}
	_, err = w.FailPage(ctx, bad, now, page, patra.PageFailure{Exchange: patra.Exchange{SentAt: now, FinishedAt: now, Status: 400, Outcome: patra.OutcomeHTTPError, Level: patra.LevelRequest}, Fault: fault}, nil)
	must(err)
	must(w.Finish(ctx, bad, now, patra.RunResult{Status: patra.Failed, Fault: &fault}))
	aside := w.Take() // and one with an item that is no record, which goes on
	page, err = w.OpenAt(aside, 1, 1, 1)
	must(err)
	result := w.Result(true, w.Record("10.5555/x", storetest.Origin, "x"))
	result.Quarantined = []patra.RejectedItem{{ItemNo: 2, ID: "10.5555/bad", Code: patra.CodeMissingID, Path: "$.id", Fragment: []byte(`{"id":null}`)}}
	_, _, err = w.CommitPage(ctx, aside, now, "work", page, result, nil)
	must(err)
	_, err = w.AddSignals(ctx, now, "demo", "work", "", []string{"10.5555/1"}, patra.SignalManual, "", "test")
	must(err)
	must(w.RecordHealing(ctx, patra.Healing{TaskID: bad.TaskID, Source: "demo", Endpoint: "works", Action: patra.HealShrink, Reason: patra.CodeTooLarge, At: now}))
	_, err = w.Pause(ctx, patra.Target{Scope: patra.ScopeEndpoint, Key: "other/works"}, "maintenance", "ada")
	must(err)
	_, err = w.Waive(ctx, now, patra.Waiver{CursorID: w.Cursor.ID, Window: patra.Window{From: storetest.Origin + 12*patra.Day, To: storetest.Origin + 13*patra.Day}, Reason: "lost", By: "ada"})
	must(err)
	return open(t, func(o *api.Options) { o.Store = storetest.Engines()[0].Connect(t, w.URL, opts...) }), w
}

// questions is how every GET route is asked: what stands in its path, and what can be said behind it.
var questions = map[string][]string{
	"/overview":                             {""},
	"/alerts":                               {""},
	"/alerts/history":                       {"", "?limit=2"},
	"/alerts/receivers":                     {""},
	"/queue":                                {""},
	"/errors/top":                           {"", "?since=2026-01-01&limit=3"},
	"/cursors":                              {"", "?source=demo"},
	"/cursors/{id}":                         {"1"},
	"/cursors/{id}/timeline":                {"1", "1?cursor=OQ"},
	"/cursors/{id}/coverage":                {"1", "1?from=2026-03-02&to=2026-03-08"},
	"/gaps":                                 {"", "?source=demo", "?watermark=1&from=2026-03-02&to=2026-03-08"},
	"/waivers":                              {"", "?watermark=1"},
	"/healing":                              {"", "?source=demo", "?task=6", "?source=demo&task=6"},
	"/audit":                                {"", "?action=PAUSE", "?target=other/works", "?actor=ada&since=2026-01-01"},
	"/controls":                             {""},
	"/exports":                              {""},
	"/events":                               {"", "?type=record.*", "?subject=cursor/1", "?subject=demo/work/10.5555/same", "?source=demo&since=2026-01-01"},
	"/signals":                              {"", "?source=demo", "?source=demo&status=NEW", "?plan=1", "?record=10.5555/1"},
	"/plans":                                {"", "?source=demo", "?status=READY", "?watermark=1", "?source=demo&status=READY"},
	"/plans/{id}":                           {"1"},
	"/plans/{id}/lineage":                   {"1"},
	"/records":                              {"", "?source=demo", "?source=demo&id=10.5555/", "?source=demo&type=work&id=10.5555/", "?where=c%3Dfirst&where=c~f", "?source=demo&changed_since=2026-01-01&deleted=true&updated_from=2026-01-01", "?source=demo&limit=2"},
	"/records/{source}/{type}/{id}":         {"demo/work/10.5555%2F1"},
	"/records/{source}/{type}/{id}/history": {"demo/work/10.5555%2Fsame"},
	"/quarantine":                           {"", "?source=demo", "?status=OPEN", "?source=demo&status=OPEN", "?source=demo&record=10.5555/bad", "?code=MISSING_ID"},
	"/quarantine/{id}":                      {"1"},
	"/slices":                               {"", "?plan=1", "?watermark=1", "?source=demo", "?status=FAILED", "?source=demo&status=READY", "?plan=1&status=FAILED"},
	"/slices/{id}":                          {"1"},
	"/tasks":                                {"", "?plan=1", "?slice=2", "?status=FAILED", "?source=demo", "?source=demo&status=FAILED", "?watermark=1", "?plan=1&status=QUEUED", "?plan=1&source=demo"},
	"/tasks/{id}":                           {"1"},
	"/runs":                                 {"", "?task=1", "?plan=1", "?status=FAILED", "?source=demo", "?slice=2", "?plan=1&status=FAILED"},
	"/runs/{id}":                            {"1"},
	"/batches":                              {"", "?run=1", "?task=1", "?plan=1", "?status=FAILED", "?source=demo", "?slice=2", "?plan=1&status=FAILED", "?source=demo&status=FAILED"},
	"/batches/{id}":                         {"1"},
	"/tokens":                               {""},
	"/session":                              {""},
}

// ask are the addresses under which a route is asked.
func ask(t *testing.T, path string) (all []string) {
	t.Helper()
	path = strings.TrimPrefix(path, api.Prefix)
	says, ok := questions[path]
	if !ok {
		t.Errorf("%s is not among the questions: write down how it is asked", path)
	}
	before, after := path, ""
	if at := strings.Index(path, "{"); at >= 0 {
		before, after = path[:at], path[strings.LastIndex(path, "}")+1:]
	}
	for _, say := range says {
		id, query, _ := strings.Cut(say, "?")
		address := api.Prefix + before + id + after
		if query != "" {
			address += "?" + query
		}
		all = append(all, address)
	}
	return all
}

// No way to look reads a whole table: with a million pages and ten million records it must be as fast as with ten.
func TestNobodyReadsAWholeTable(t *testing.T) {
	var sent storetest.Statements
	r, w := peopled(t, store.WithTrace(sent.Tell))
	db := storetest.Inspect(t, w.URL)
	told := map[string]bool{}
	for _, route := range r.api.Routes() {
		if route.Method != http.MethodGet || strings.HasSuffix(route.Path, "/stream") {
			continue
		}
		for _, address := range ask(t, route.Path) {
			sent.Take()
			res, body := r.call("GET", address, "")
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", address, res.StatusCode, body)
			}
			for _, s := range sent.Take() {
				for _, w := range storetest.Wasteful(t, db, s) {
					if key := s.Name + w.Step + address; !told[key] {
						told[key] = true
						t.Errorf("%s: %s does %q\n%s\n  %s", address, s.Name, w.Step, s.Text, strings.Join(w.Plan, "\n  "))
					}
				}
			}
		}
	}
}

// Whoever looks changes nothing.
func TestLookingChangesNothing(t *testing.T) {
	r, w := peopled(t)
	db := storetest.Inspect(t, w.URL)
	before := storetest.Sums(t, db)
	for _, route := range r.api.Routes() {
		if route.Method != http.MethodGet || strings.HasSuffix(route.Path, "/stream") {
			continue
		}
		for _, address := range ask(t, route.Path) {
			if res, body := r.call("GET", address, ""); res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", address, res.StatusCode, body)
			}
		}
		for table, sum := range storetest.Sums(t, db) {
			if sum != before[table] {
				t.Errorf("after %s, %s is another", route.Path, table)
				before[table] = sum
			}
		}
	}
}
