package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"patra/internal/api"
	"patra/internal/config"
	"patra/internal/planner"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// questions is how every route that looks is asked: what can be said behind its path. A word with a dollar stands for
// something that is there: $source is the code of a source, $task is the id of a task, and so on.
var questions = map[string][]string{
	"/alerts":                               {""},
	"/alerts/history":                       {"", "?cursor=OQ"},
	"/alerts/receivers":                     {""},
	"/audit":                                {"", "?action=PAUSE", "?target=$source", "?actor=ada&since=2026-01-01", "?limit=1"},
	"/batches":                              {"", "?run=$run", "?task=$task", "?plan=$plan", "?status=FAILED", "?source=$source", "?slice=$slice", "?watermark=$cursor", "?plan=$plan&status=FAILED", "?source=$source&status=FAILED", "?cursor=OQ"},
	"/batches/{id}":                         {""},
	"/controls":                             {""},
	"/cursors":                              {"", "?source=$source", "?cursor=OQ"},
	"/cursors/{id}":                         {""},
	"/cursors/{id}/coverage":                {"", "?from=2010-01-02&to=2027-03-08"},
	"/cursors/{id}/timeline":                {"", "?cursor=OQ"},
	"/errors/top":                           {"", "?since=2010-01-01&limit=3"},
	"/events":                               {"", "?type=record.*", "?subject=cursor/$cursor", "?subject=$source/$type/$record", "?source=$source&since=2026-01-01", "?cursor=OQ"},
	"/exports":                              {""},
	"/gaps":                                 {"", "?source=$source", "?watermark=$cursor&from=2010-03-02&to=2027-03-08"},
	"/gates":                                {""},
	"/gates/{key}":                          {""},
	"/healing":                              {"", "?source=$source", "?task=$task", "?source=$source&task=$task", "?cursor=OQ"},
	"/overview":                             {""},
	"/plans":                                {"", "?source=$source", "?status=READY", "?watermark=$cursor", "?source=$source&status=READY", "?cursor=OQ"},
	"/plans/{id}":                           {""},
	"/plans/{id}/lineage":                   {""},
	"/politeness":                           {"", "?since=31d", "?since=7d&daily=true&key=$key", "?key=$source"},
	"/quarantine":                           {"", "?source=$source", "?status=OPEN", "?source=$source&status=OPEN", "?source=$source&record=bad100", "?code=MISSING_ID", "?cursor=OQ"},
	"/quarantine/{id}":                      {""},
	"/queue":                                {""},
	"/quotas":                               {""},
	"/records":                              {"", "?source=$source", "?source=$source&id=10.5555/", "?source=$source&type=$type&id=10.5555/", "?where=title~a", "?source=$source&where=title%3Dx", "?source=$source&changed_since=2026-01-01&deleted=true&updated_from=2026-01-01", "?source=$source&limit=2", "?deleted=true"},
	"/records/export":                       {"?limit=3", "?format=csv&limit=3", "?source=$source&where=title~a&limit=3", "?source=$source&changed_since=2010-01-01&deleted=exclude&limit=3", "?type=$type&updated_from=2010-01-01&updated_to=2027-01-01&limit=3"},
	"/records/{source}/{type}/{id}":         {""},
	"/records/{source}/{type}/{id}/history": {""},
	"/records/{source}/{type}/{id}/why":     {"", "?date=2026-05-03"},
	"/runs":                                 {"", "?task=$task", "?plan=$plan", "?status=FAILED", "?source=$source", "?slice=$slice", "?watermark=$cursor", "?plan=$plan&status=FAILED", "?cursor=OQ"},
	"/runs/{id}":                            {""},
	"/schedules":                            {""},
	"/session":                              {""},
	"/signals":                              {"", "?source=$source", "?source=$source&status=NEW", "?status=NEW", "?plan=$plan", "?record=10.5555/1", "?cursor=OQ"},
	"/sinks":                                {""},
	"/slices":                               {"", "?plan=$plan", "?watermark=$cursor", "?source=$source", "?status=FAILED", "?source=$source&status=READY", "?plan=$plan&status=FAILED", "?cursor=OQ"},
	"/slices/{id}":                          {""},
	"/sources":                              {""},
	"/sources/{code}":                       {""},
	"/sources/{code}/diff":                  {"", "?from=$now"},
	"/sources/{code}/history":               {""},
	"/sources/{code}/certificates":          {"", "?endpoint=works&limit=5"},
	"/sources/{code}/spec":                  {"", "?operation=BACKFILL"},
	"/stream":                               {""},
	"/system":                               {""},
	"/tasks":                                {"", "?plan=$plan", "?slice=$slice", "?status=FAILED", "?status=QUEUED", "?source=$source", "?source=$source&status=FAILED", "?watermark=$cursor", "?plan=$plan&status=QUEUED", "?plan=$plan&source=$source", "?cursor=OQ"},
	"/tasks/{id}":                           {""},
	"/tasks/{id}/why":                       {""},
	"/tokens":                               {""},
	"/waivers":                              {"", "?watermark=$cursor", "?cursor=OQ"},
}

// listed says which words the rows of a list are good for, and in which of their fields they are.
var listed = []struct{ word, list, field string }{
	{"key", "/gates", "key"}, {"cursor", "/cursors?source=$source", "id"}, {"plan", "/plans?source=$source", "id"}, {"slice", "/slices?source=$source", "id"}, {"task", "/tasks?source=$source", "id"},
	{"failed", "/tasks?status=FAILED&source=$source", "id"}, {"queued", "/tasks?status=QUEUED&source=$source", "id"}, {"run", "/runs?source=$source", "id"}, {"batch", "/batches?source=$source", "id"}, {"quarantined", "/quarantine", "id"},
	{"record", "/records?source=$source", "id"}, {"type", "/records?source=$source", "record_type"},
}

// holes are the words that stand in the braces of a path.
var holes = map[string][]string{
	"/batches/{id}": {"$batch"}, "/cursors/{id}": {"$cursor"}, "/cursors/{id}/coverage": {"$cursor"}, "/cursors/{id}/timeline": {"$cursor"}, "/gates/{key}": {"$key"}, "/plans/{id}": {"$plan"}, "/plans/{id}/lineage": {"$plan"},
	"/quarantine/{id}": {"$quarantined"}, "/records/{source}/{type}/{id}": {"$source/$type/$record"}, "/records/{source}/{type}/{id}/history": {"$source/$type/$record"},
	"/records/{source}/{type}/{id}/why": {"$source/$type/$record", "$source/$type/nobody-has-seen-it"}, "/runs/{id}": {"$run"}, "/slices/{id}": {"$slice"}, "/sources/{code}": {"$source"}, "/sources/{code}/diff": {"$source"},
	"/sources/{code}/history": {"$source"}, "/sources/{code}/certificates": {"$source"}, "/sources/{code}/spec": {"$source"}, "/tasks/{id}": {"$task", "$failed", "$queued"}, "/tasks/{id}/why": {"$task", "$failed", "$queued"},
}

// visitor asks everything that can be asked of the whole program.
type visitor struct {
	t     testing.TB
	sent  storetest.Statements
	app   *app
	cfg   config.Config
	store *store.Store
	plan  *planner.Planner
	http  http.Handler
	asked int
	words map[string]string
}

// visit opens the whole program over a store, and looks at what is there to ask for.
func visit(t testing.TB, a *app, source string) *visitor {
	t.Helper()
	v := &visitor{t: t, words: map[string]string{"source": source, "now": time.Now().UTC().Format(time.RFC3339Nano)}}
	cfg, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), cfg.Store.URL, store.WithTrace(v.sent.Tell))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	v.cfg, v.store, v.app = cfg, s, &app{environ: a.environ, stdout: io.Discard, stderr: io.Discard, config: &cfg, store: s, mirror: a.mirror}
	if v.plan, err = v.app.planner(s, cfg.Contact, false); err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		var rows struct{ Items []map[string]any }
		if err := json.Unmarshal(v.ask(api.Prefix+v.said(l.list)).Body.Bytes(), &rows); err != nil || len(rows.Items) == 0 {
			continue // an address that needs it will be missed
		}
		v.words[l.word] = fmt.Sprint(rows.Items[0][l.field])
	}
	return v
}

// said puts what is there in the place of words. What is not there leaves nothing.
func (v *visitor) said(text string) string {
	for _, word := range slices.Sorted(func(yield func(string) bool) {
		for w := range v.words {
			if !yield(w) {
				return
			}
		}
	}) {
		text = strings.ReplaceAll(text, "$"+word, url.PathEscape(v.words[word]))
	}
	if strings.Contains(text, "$") {
		return ""
	}
	return text
}

// ask sends one request. One caller may not ask so often, so there is a new server every now and then.
func (v *visitor) ask(address string) *httptest.ResponseRecorder {
	v.t.Helper()
	if v.asked%100 == 0 {
		v.http = v.app.apiServer(v.cfg, v.store, v.plan, nil).Handler()
	}
	v.asked++
	wait := time.Minute
	if strings.HasSuffix(address, "/stream") { // which would last
		wait = 50 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(v.t.Context(), wait)
	defer cancel()
	w := httptest.NewRecorder()
	v.http.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+address, nil))
	return w
}

// all walks over every address of every route that looks, as the description of the program has them.
func (v *visitor) all(each func(address string, w *httptest.ResponseRecorder)) {
	v.t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	w := v.ask("/api/openapi.json")
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || len(doc.Paths) < 40 {
		v.t.Fatalf("%d paths, %v: %d %.200s", len(doc.Paths), err, w.Code, w.Body)
	}
	v.sent.Take()
	for path, methods := range doc.Paths {
		if _, looks := methods["get"]; !looks {
			continue
		}
		for _, address := range v.addresses(strings.TrimPrefix(path, api.Prefix)) {
			w := v.ask(address)
			if w.Code != http.StatusOK {
				v.t.Errorf("%s: %d %.300s", address, w.Code, w.Body)
			}
			each(address, w)
		}
	}
}

// addresses are those under which a route is asked. A route that nobody said how to ask is a failure.
func (v *visitor) addresses(path string) (all []string) {
	v.t.Helper()
	says, ok := questions[path]
	if !ok {
		v.t.Errorf("%s is not among the questions: write down how it is asked", path)
	}
	fills := []string{""}
	at := strings.Index(path, "{")
	if at >= 0 {
		if fills = holes[path]; len(fills) == 0 {
			v.t.Errorf("%s is not among the holes: write down what stands in its braces", path)
		}
	}
	for _, fill := range fills {
		whole := path
		if at >= 0 {
			whole = path[:at] + fill + path[strings.LastIndex(path, "}")+1:]
		}
		for _, say := range says {
			if address := v.said(whole + say); address != "" {
				all = append(all, api.Prefix+address)
			}
		}
	}
	if len(all) == 0 {
		v.t.Errorf("%s was not asked: there is nothing here that it could be asked with (%v)", path, v.words)
	}
	return all
}

// frugal sees that no statement of any route reads a whole table that grows.
func (v *visitor) frugal(url string) {
	v.t.Helper()
	db, told := storetest.Inspect(v.t, url), map[string]bool{}
	v.all(func(address string, _ *httptest.ResponseRecorder) {
		for _, s := range v.sent.Take() {
			for _, w := range storetest.Wasteful(v.t, db, s) {
				if key := s.Name + w.Step; !told[key] {
					told[key] = true
					v.t.Errorf("%s: %s does %q\n%s\n  %s", address, s.Name, w.Step, s.Text, strings.Join(w.Plan, "\n  "))
				}
			}
		}
	})
}

// busy is an office in which people have done something, too.
func busy(t testing.TB) *office {
	t.Helper()
	o := newOffice(t, false)
	o.patra(exitOK, "source", "apply", "crossref")
	o.patra(exitOK, "pause", "locked", "--reason", "maintenance")
	o.patra(exitOK, "signal", "add", "crossref", "10.5555/1")
	o.patra(exitOK, "gate", "set", "crossref", "--per-second", "5")
	return o
}

// No way to look reads a whole table that grows, whoever answers it.
func TestNoRouteReadsAWholeTable(t *testing.T) {
	o := busy(t)
	visit(t, o.app, "crossref").frugal(o.cfg.Store.URL)
}

// Whoever looks changes nothing, wherever they look.
func TestNoRouteThatLooksWrites(t *testing.T) {
	o := busy(t)
	v, db := visit(t, o.app, "crossref"), storetest.Inspect(t, o.cfg.Store.URL)
	before := storetest.Sums(t, db)
	v.all(func(address string, _ *httptest.ResponseRecorder) {
		for table, sum := range storetest.Sums(t, db) {
			if sum != before[table] {
				t.Errorf("after %s, %s is another", address, table)
				before[table] = sum
			}
		}
	})
	if v.asked < 100 {
		t.Errorf("only %d questions were asked", v.asked)
	}
}
