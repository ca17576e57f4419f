package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/api"
	"patra/internal/config"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// canary is a secret of a source. Its provider says it back in whatever it answers, so it is in many hands, and must be in no
// answer of ours. It has what other spellings are made for.
const canary = `swordfish/0815+"ä&<b>`

// office is a whole server over a store that a real harvest has filled.
type office struct {
	t        testing.TB
	dir, sim string
	asked    *[]string // what providers were asked
	app      *app
	cfg      config.Config
	store    *store.Store
	server   *api.Server
	calls    int
	http     http.Handler
}

// unmapped is something that a provider says and no mapping reads: it stands in what was answered and nowhere else.
const unmapped = "only the provider says this"

// lockedSource wants to know who is asking.
const lockedSource = `apiVersion: patra/v1
code: locked
name: A locked source
recordType: work
defaults:
  http: {baseUrl: "https://example.org"}
  auth: {type: BEARER, secret: acme-key, rate: {perSecond: 1000, burst: 100}}
  rate: {perSecond: 1000, burst: 100, quota: {daily: 1000000}}
endpoints:
  works:
    role: SEARCH
    request: {method: GET, path: /works}
    pagination: {type: OFFSET, pageSize: 10, maxPageSize: 10, sizeParam: size, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, earliest: 2002-01-01}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
mapping: {title: "$.title"}
`

// newOffice harvests two sources from a simulated provider and opens a server on what there is then.
func newOffice(t testing.TB, tokens bool) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir(), asked: &[]string{}}
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	provider := sim.New(sim.Config{Seed: 5, From: from, To: from.AddDate(0, 0, 10), PerDay: 12, Exact: true}).Handler()
	hall := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said := r.Header.Get("Authorization"); said != "" {
			w.Header().Set("X-Said", said)
			items := []map[string]any{}
			if r.URL.Query().Get("offset") == "0" {
				items = []map[string]any{{"id": "1", "title": said, "inside": unmapped}, {"title": said + r.URL.Query().Get("from"), "inside": unmapped}}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
			return
		}
		provider.ServeHTTP(w, r)
	}))
	t.Cleanup(hall.Close)
	o.sim = hall.URL
	settings := "store: {url: 'sqlite:" + filepath.Join(o.dir, "patra.db") + "'}\ncontact: desk@example.org\nsources: {dir: '" + o.dir + "'}\nsecrets: {acme-key: 'env:ACME'}\nplanner: {probes: 0, inventory: 40}\n" +
		"sinks:\n  - {name: feed, type: FILE, url: 'file:" + filepath.Join(o.dir, "events.jsonl") + "'}\n" +
		"schedules:\n  - {name: daily, cron: '0 4 * * *', source: crossref}\n"
	if tokens {
		settings += "api: {tokens: on}\n"
	}
	for name, text := range map[string]string{"crossref.yaml": quickSource(t, "crossref"), "locked.yaml": lockedSource, "patra.yaml": settings} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.patra(exitOK, "harvest", "crossref", "--base-url", o.sim, "--from", "2026-05-02", "--to", "2026-05-05")
	o.patra(exitOK, "harvest", "crossref", "--base-url", o.sim, "--from", "2026-05-07", "--to", "2026-05-08", "-q", "type:journal-article")
	o.patra(exitOK, "harvest", "locked", "--base-url", o.sim, "--from", "2026-05-02", "--to", "2026-05-04")
	o.patra(exitOK, "plan", "BACKFILL", "crossref", "--base-url", o.sim, "--from", "2026-05-01", "--to", "2026-05-02")
	o.patra(exitOK, "source", "apply", "locked")
	o.patra(exitOK, "relay", "run", "--once")
	o.app = &app{environ: o.environ(), stdout: io.Discard, stderr: io.Discard, configPath: filepath.Join(o.dir, "patra.yaml"), mirror: o.sim}
	var err error
	if o.cfg, err = o.app.load(); err != nil {
		t.Fatal(err)
	}
	if o.store, err = o.app.openOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.store.Close() })
	p, err := o.app.planner(o.store, o.cfg.Contact, true)
	if err != nil {
		t.Fatal(err)
	}
	o.server = o.app.apiServer(o.cfg, o.store, p, nil)
	o.http = o.server.Handler()
	return o
}

// sound sees that whatever was done left no promise broken.
func (o *office) sound() {
	o.t.Helper()
	storetest.CheckInvariants(o.t, storetest.Inspect(o.t, o.cfg.Store.URL))
}

func (o *office) environ() []string { return []string{"ACME=" + canary, "HOME=" + o.dir} }

// patra is the command line of the same installation.
func (o *office) patra(code int, args ...string) string {
	o.t.Helper()
	var out, err bytes.Buffer
	if got := run(o.t.Context(), append([]string{"--config", filepath.Join(o.dir, "patra.yaml")}, args...), o.environ(), &out, &err); got != code {
		o.t.Fatalf("patra %s: exit code %d\n%s%s", strings.Join(args, " "), got, &out, &err)
	}
	return out.String()
}

// token lets somebody in.
func (o *office) token(name string, rank patra.TokenRole, evidence bool) string {
	o.t.Helper()
	k, err := api.Issue(o.t.Context(), o.store, now(), api.TokenRequest{Name: name, Rank: rank, Evidence: evidence, Days: 1}, "test")
	if err != nil {
		o.t.Fatal(err)
	}
	return k.Secret
}

// call sends one request. A body that is no text is sent as JSON.
func (o *office) call(method, path, token string, body any) *httptest.ResponseRecorder {
	o.t.Helper()
	var send io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		send = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			o.t.Fatal(err)
		}
		send = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	if strings.HasSuffix(path, "/stream") { // which would last
		ctx, cancel = context.WithTimeout(o.t.Context(), 20*time.Millisecond)
	}
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, send)
	o.calls++ // each from elsewhere: whoever guesses much is not even looked up
	r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", o.calls/256, o.calls%256)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	o.http.ServeHTTP(w, r)
	return w
}

// want calls and expects a status; it gives the answer.
func (o *office) want(status int, method, path, token string, body any) map[string]any {
	o.t.Helper()
	w := o.call(method, api.Prefix+path, token, body)
	if w.Code != status {
		o.t.Fatalf("%s %s %v: %d %s", method, path, body, w.Code, w.Body)
	}
	out := map[string]any{}
	if strings.Contains(w.Header().Get("Content-Type"), "json") && json.Unmarshal(w.Body.Bytes(), &out) != nil {
		o.t.Fatalf("%s %s: %s", method, path, w.Body)
	}
	return out
}
