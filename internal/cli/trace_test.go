package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"patra/internal/api"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// traceCanary is a key that the provider gets with every request and nobody else sees.
const traceCanary = "canary-Key+/0815=="

// receiver is a collector: it takes what a real one would.
type receiver struct {
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	raw   bytes.Buffer
	spans map[string]*otlp.Span // by id
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, spans: map[string]*otlp.Span{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			r.t.Error(err)
			return
		}
		body = unpacked
	}
	b, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &sent)
	}
	if err != nil || req.URL.Path != "/v1/traces" {
		r.t.Errorf("%s: %v", req.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(b)
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// named are the spans of a name.
func (r *receiver) named(name string) (found []*otlp.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// path are the names from the root to a span.
func (r *receiver) path(s *otlp.Span) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := []string{s.Name}
	for len(s.ParentSpanId) > 0 {
		parent, ok := r.spans[hex.EncodeToString(s.ParentSpanId)]
		if !ok {
			names = append(names, "?")
			break
		}
		if !bytes.Equal(parent.TraceId, s.TraceId) {
			names = append(names, "another trace")
		}
		names, s = append(names, parent.Name), parent
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}

func attrs(s *otlp.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = strings.Trim(strings.SplitN(a.Value.String(), ":", 2)[1], `"`)
	}
	return all
}

// tracedScene is a scene whose provider wants a key, and whose processes tell a collector what they do.
func tracedScene(t *testing.T, e storetest.Engine, url, more string) *scene {
	s := newScene(t, e, killed{"crossref", func(t testing.TB) string {
		return strings.Replace(byToken.file(t), "\n  rate:", "\n  auth: {type: API_KEY, in: query, name: api_key, secret: acme}\n  rate:", 1)
	}, byToken.truth})
	provider := s.provider.Handler()
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("api_key") != traceCanary {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		q.Del("api_key")
		r.URL.RawQuery = q.Encode()
		provider.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	s.base = door.URL
	config := "contact: kill@example.org\nsources: {dir: .}\nsecrets: {acme: 'env:TRACE_CANARY'}\nexecutor: {workers: 4, lease: 5s, heartbeat: 1s, taskAttempts: 10}\nplanner: {probes: 0}\napi: {listen: off}\nlog: {sample: 100%}\ntrace: {url: '" + url + "'" + more + "}\n"
	if err := os.WriteFile(filepath.Join(s.dir, "patra.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) withKey(args ...string) *exec.Cmd {
	c := s.patra(args...)
	c.Env = append(c.Env, "TRACE_CANARY="+traceCanary, "PATRA_LOG_FORMAT=json")
	c.Stdout, c.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return c
}

// firstDays are the dates of a window that begins at the beginning.
func firstDays(n int) []string {
	return []string{"--from", killFrom.Format(time.DateOnly), "--to", killFrom.AddDate(0, 0, n).Format(time.DateOnly)}
}

// TestATraceShowsPlanBatchAndCall: one process makes a plan and another one reads it. A collector sees one trace from the
// planner to every request, with the parents and the attributes that people look for, and never the key of the provider;
// and the lines of the second process name the same runs and the same trace.
func TestATraceShowsPlanBatchAndCall(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		r := newReceiver(t)
		s := tracedScene(t, e, r.URL, "")
		if out, err := output(s.withKey(append([]string{"plan", "HARVEST", s.code, "--no-probe", "--base-url", s.base}, firstDays(3)...)...)); err != nil {
			t.Fatalf("plan: %v\n%s", err, out)
		}
		worker := s.withKey("serve", "--role", "executor")
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		db := storetest.Inspect(t, s.url)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			var open int
			if err := db.QueryRow(`SELECT COUNT(*) FROM ing_plan_slice WHERE status_code = 'READY'`).Scan(&open); err != nil || time.Now().After(deadline) {
				t.Fatalf("%d slices are open, %v\n%s", open, err, worker.Stderr)
			}
			if open == 0 {
				break
			}
		}
		if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := worker.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, worker.Stderr)
		}
		log := worker.Stderr.(*bytes.Buffer).String()

		count := func(query string) (n int) {
			if err := db.QueryRow(query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		pages, runs := count(`SELECT COUNT(*) FROM ing_task_run_batch`), count(`SELECT COUNT(*) FROM ing_task_run`)
		for name, want := range map[string]struct {
			n    int
			path string
		}{
			"PlannerTrigger":  {1, "PlannerTrigger"},
			"CompileSpec":     {1, "PlannerTrigger > CompileSpec"},
			"Slice":           {3, "PlannerTrigger > CompileSpec > Slice"},
			"ExecutorTrigger": {runs, "PlannerTrigger > ExecutorTrigger"},
			"PickTask":        {runs, "PlannerTrigger > ExecutorTrigger > PickTask"},
			"Run":             {runs, "PlannerTrigger > ExecutorTrigger > PickTask > Run"},
			"Batch":           {pages, "PlannerTrigger > ExecutorTrigger > PickTask > Run > Batch"},
			"HTTP Call":       {count(`SELECT COUNT(*) FROM ing_request WHERE sent_at IS NOT NULL`), "PlannerTrigger > ExecutorTrigger > PickTask > Run > Batch > HTTP Call"},
			"Commit":          {count(`SELECT COUNT(*) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`), "PlannerTrigger > ExecutorTrigger > PickTask > Run > Batch > Commit"},
		} {
			found := r.named(name)
			if len(found) != want.n {
				t.Errorf("%d spans %q, and there should be %d", len(found), name, want.n)
			}
			for _, span := range found {
				if got := r.path(span); got != want.path {
					t.Errorf("a span is at %s, and should be at %s", got, want.path)
				}
			}
		}
		if t.Failed() {
			t.FailNow()
		}
		for _, span := range r.named("Batch") {
			a := attrs(span)
			if a["status"] == "SUCCEEDED" && (a["source"] != "crossref" || a["endpoint"] != "works" || a["op"] != "HARVEST" || a["page"] == "" || a["hasNext"] == "" || a["http.status"] != "200" || a["priority"] == "" || a["run_id"] == "" || a["batch_id"] == "" ||
				a["correlation_id"] != "ing-"+a["run_id"]+"-"+a["batch_no"]) {
				t.Errorf("a page has %v", a)
			}
			if a["status"] == "FAILED" && (a["error.level"] == "" || a["error.code"] == "" || span.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR) {
				t.Errorf("a page that failed has %v", a)
			}
		}
		trigger := r.named("PlannerTrigger")[0]
		if a := attrs(trigger); a["plan_id"] != "1" || a["schedule_instance_id"] != "1" || a["slices"] != "3" || a["status"] != "READY" {
			t.Errorf("the plan has %v", a)
		}
		for _, span := range r.named("HTTP Call") {
			if a := attrs(span); a["url.full"] != s.base+"/works" {
				t.Errorf("a request has %v", a)
			}
		}
		for where, text := range map[string]string{"trace": r.raw.String(), "log": log} {
			for _, secret := range []string{traceCanary, "canary-Key", "api_key", "kill@example.org"} {
				if strings.Contains(text, secret) {
					t.Errorf("%q is in the %s", secret, where)
				}
			}
		}
		checkLines(t, log, hex.EncodeToString(trigger.TraceId), count(`SELECT COUNT(*) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED'`))
		storetest.CheckInvariants(t, db)
	})
}

func output(c *exec.Cmd) (string, error) {
	err := c.Run()
	return fmt.Sprintf("%s%s", c.Stdout, c.Stderr), err
}

// checkLines makes sure that a server's log is what people and machines need.
func checkLines(t *testing.T, log, trace string, pages int) {
	t.Helper()
	said := map[string]int{}
	for line := range strings.Lines(log) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("a line is not JSON: %s", line)
		}
		msg := l["msg"].(string)
		said[msg]++
		if msg == "role begins" || msg == "role ended" {
			if l["role"] != "executor" || msg == "role ended" && !strings.HasPrefix(fmt.Sprint(l["reason"]), "told to stop") {
				t.Errorf("%s", line)
			}
			continue
		}
		for _, key := range []string{"time", "level", "schedule_instance_id", "plan_id", "slice_id", "task_id", "run_id", "source", "endpoint", "op", "trace_id", "span_id"} {
			if l[key] == nil {
				t.Errorf("%s is missing: %s", key, line)
			}
		}
		if l["trace_id"] != trace {
			t.Errorf("another trace: %s", line)
		}
		if msg == "page is kept" && (l["correlation_id"] != fmt.Sprintf("ing-%v-%v", l["run_id"], l["batch_no"]) || l["batch_id"] == nil || l["records"] == nil) {
			t.Errorf("%s", line)
		}
	}
	if said["role begins"] != 1 || said["role ended"] != 1 || said["task is claimed"] < 3 || said["task is let go"] != said["task is claimed"] || said["page is kept"] != pages {
		t.Errorf("%v, and %d pages were kept", said, pages)
	}
}

// TestACollectorThatHangsHoldsNobodyUp: a collector that takes the connection and says nothing costs a harvest the few
// seconds that its end is waited for, and not one span more.
func TestACollectorThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-let }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(let) })
	s := tracedScene(t, storetest.Engines()[0], hanging.URL, "")
	began := time.Now()
	c := s.withKey(append([]string{"harvest", s.code, "--base-url", s.base}, firstDays(20)...)...)
	out, err := output(c)
	took := time.Since(began)
	if err != nil || took > 40*time.Second { // some 700 spans: waiting five seconds for each would take an hour
		t.Errorf("it took %s, %v\n%s", took, err, out)
	}
	if !strings.Contains(out, "traces were dropped") {
		t.Errorf("nobody says that spans are lost:\n%s", out)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, s.url))
}

// TestACallersTraceReachesThePlan: whoever asks for a plan over HTTP within a trace of their own finds the plan in it.
func TestACallersTraceReachesThePlan(t *testing.T) {
	r := newReceiver(t)
	o := newOffice(t, false)
	o.cfg.Trace.URL, o.cfg.Trace.Sample = r.URL, 100
	o.app.config = &o.cfg
	p, err := o.app.planner(o.store, o.cfg.Contact, false)
	if err != nil {
		t.Fatal(err)
	}
	server := o.app.apiServer(o.cfg, o.store, p, nil).Handler()
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ask := func(method, path, body string) int {
		req := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+api.Prefix+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("traceparent", caller)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, req)
		return w.Code
	}
	if code := ask(http.MethodPost, "/plans", `{"source":"crossref","operation":"BACKFILL","campaign":"traced","from":"2026-04-28","to":"2026-04-30"}`); code >= 300 {
		t.Fatalf("%d", code)
	}
	if code := ask(http.MethodGet, "/plans", ""); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	o.app.flushTraces(t.Context())
	asked, triggers := r.named("API"), r.named("PlannerTrigger")
	if len(asked) != 1 || len(triggers) != 1 || r.path(triggers[0]) != "? > API > PlannerTrigger" {
		t.Fatalf("%d requests and %d plans are traced", len(asked), len(triggers))
	}
	if hex.EncodeToString(asked[0].ParentSpanId) != "b7ad6b7169203331" || hex.EncodeToString(triggers[0].TraceId) != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the request is below %x of %x", asked[0].ParentSpanId, triggers[0].TraceId)
	}
	if a := attrs(asked[0]); a["http.status"] != "201" && a["http.status"] != "200" || !strings.HasSuffix(a["http.route"], "/plans") {
		t.Errorf("%v", a)
	}
	plans, err := o.store.Plans(t.Context(), store.Filter{Limit: 1})
	if err != nil || !strings.HasPrefix(plans[0].Trace, "00-0af7651916cd43dd8448eb211c80319c-") {
		t.Errorf("%+v, %v", plans, err)
	}
	o.sound()
}
