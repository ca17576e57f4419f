package cli

import (
	"bytes"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"patra/internal/observe"
	"patra/internal/store/storetest"
)

// watched is a serving process and where it tells how it is.
type watched struct {
	*exec.Cmd
	t    *testing.T
	out  *lockedBuffer
	base string
}

var numbersAt = regexp.MustCompile(`Numbers are at (http://\S+)/metrics(, as somebody else listens at [0-9.:]+)?\.\n`)

// watch starts a process and waits until it says where its numbers are.
func (s *scene) watch(listen string, args ...string) *watched {
	s.t.Helper()
	w := &watched{Cmd: s.patra(append([]string{"serve"}, args...)...), t: s.t, out: &lockedBuffer{}}
	w.Env = append(w.Env, "PATRA_API_LISTEN=off", "PATRA_OPS_LISTEN="+listen)
	w.Stdout, w.Stderr = w.out, w.out
	if err := w.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = w.Process.Kill() })
	w.base = w.out.numbers(s.t)
	return w
}

// numbers waits until a process has said where its numbers are.
func (b *lockedBuffer) numbers(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if found := numbersAt.FindSubmatch(b.copy()); found != nil {
			return strings.Replace(string(found[1]), "[::]", "127.0.0.1", 1)
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody says where the numbers are:\n%s", b.copy())
		}
	}
}

func (w *watched) get(path string, change ...func(*http.Request)) (int, string) {
	w.t.Helper()
	return fetch(w.t, w.base+path, change...)
}

func fetch(t *testing.T, address string, change ...func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// A serving process tells how it is, at the address that somebody said or at a free one; profiles are for this machine only.
func TestWhereNumbersAre(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	c := s.patra("serve")
	c.Env = append(c.Env, "PATRA_OPS_LISTEN=here")
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "ops.listen is not an address") {
		t.Errorf("%v\n%s", err, out)
	}
	first, second := s.watch("", "--role", "executor"), s.watch("", "--role", "executor")
	if first.base == second.base {
		t.Errorf("both are at %s", first.base)
	}
	for _, w := range []*watched{first, second} {
		if !strings.HasPrefix(w.base, "http://127.0.0.1:") {
			t.Errorf("numbers are at %s", w.base)
		}
		if code, said := w.get("/healthz"); code != http.StatusNoContent || said != "" {
			t.Errorf("alive: %d %s", code, said)
		}
		if code, said := w.get("/readyz"); code != http.StatusOK || said != `{"ready":true,"checks":[{"name":"draining","ok":true},{"name":"store","ok":true},{"name":"tables","ok":true}]}`+"\n" {
			t.Errorf("ready: %d %s", code, said)
		}
		health := s.patra("health", "--ready")
		health.Env = append(health.Env, "PATRA_OPS_LISTEN="+strings.TrimPrefix(w.base, "http://"))
		if out, err := health.CombinedOutput(); err != nil || string(out) != "well, says "+w.base+"/readyz\n" {
			t.Errorf("%v: %s", err, out)
		}
		health = s.patra("health", "--url", w.base+"/healthz", "-o", "jsonl")
		if out, err := health.CombinedOutput(); err != nil || string(out) != `{"asked":"`+w.base+`/healthz","well":true}`+"\n" {
			t.Errorf("%v: %s", err, out)
		}
		if code, said := w.get("/debug/pprof/goroutine?debug=1"); code != http.StatusOK || !strings.Contains(said, "goroutine profile:") {
			t.Errorf("profile: %d %.100s", code, said)
		}
		if code, said := w.get("/debug/pprof/cmdline"); code != http.StatusOK || said != "patra" {
			t.Errorf("how it was called: %d %s", code, said)
		}
		if code, said := w.get("/debug/pprof/heap", func(r *http.Request) { r.Host = "rebound.example.org" }); code != http.StatusNotFound || !strings.Contains(said, "this machine only") {
			t.Errorf("profile under another name: %d %.100s", code, said)
		}
		if code, _ := w.get("/"); code != http.StatusNotFound {
			t.Errorf("nothing is %d", code)
		}
	}
	if !strings.Contains(string(second.out.copy()), ", as somebody else listens at 127.0.0.1:9090.") {
		t.Errorf("%s", second.out.copy())
	}
	everywhere := s.watch("0.0.0.0:0", "--role", "executor")
	everywhere.base = strings.Replace(everywhere.base, "0.0.0.0", "127.0.0.1", 1)
	if code, said := everywhere.get("/debug/pprof/goroutine"); code != http.StatusNotFound || !strings.Contains(said, "Profiles are given to this machine only: let ops.listen name an address such as 127.0.0.1:9090, and ask there.") {
		t.Errorf("profile to everybody: %d %.100s", code, said)
	}
	if code, said := everywhere.get("/metrics"); code != http.StatusOK || !strings.Contains(said, "patra_build_info{goversion=") {
		t.Errorf("numbers: %d %.100s", code, said)
	}
	c = s.patra("serve", "--role", "executor")
	c.Env = append(c.Env, "PATRA_OPS_LISTEN=off")
	out := &lockedBuffer{}
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); !bytes.Contains(out.copy(), []byte("Serving")); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not serve")
		}
	}
	if bytes.Contains(out.copy(), []byte("Numbers are")) {
		t.Errorf("%s", out.copy())
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}

// TestNobodyCanListen: an address that is taken is named with its key and a way out, which is not that of a database; and a process
// whose only role cannot be served does not end as if all were well.
func TestNobodyCanListen(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().String()
	for _, tt := range []struct {
		name, api, ops, says string
	}{
		{"ops", "off", at, "address already in use; end the program that is there, or write another address to ops.listen\n"},
		{"api", at, "off", "address already in use; end the program that is there, or write another address to api.listen\n"},
		{"no role", "off", "off", "the API is the only role, and cannot be served; write a free address to api.listen\n"},
	} {
		c := s.patra("serve", "--role", roleAPI)
		c.Env = append(c.Env, "PATRA_API_LISTEN="+tt.api, "PATRA_OPS_LISTEN="+tt.ops)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != exitEnvironment || !strings.Contains(string(out), tt.says) || strings.Contains(string(out), "Serving") {
			t.Errorf("%s: %s\n%s", tt.name, c.ProcessState, out)
		}
	}
	// Whatever has begun by then ends as it does when it is told to stop.
	c := s.patra("serve")
	c.Env = append(c.Env, "PATRA_API_LISTEN="+at, "PATRA_OPS_LISTEN=off")
	out, _ := c.CombinedOutput()
	began, ended := linesWith(string(out), "role begins"), linesWith(string(out), "role ended", "told to stop: api.listen")
	if c.ProcessState.ExitCode() != exitEnvironment || began != 2 || ended != began {
		t.Errorf("%s: %d roles began, %d ended\n%s", c.ProcessState, began, ended, out)
	}
}

// While a process finishes what it is at, it says that it is not to be given more.
func TestNotReadyWhileDraining(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	behind, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	door := &stuck{next: httputil.NewSingleHostReverseProxy(behind), reached: make(chan time.Time, 1000), let: make(chan struct{})}
	server := httptest.NewServer(door)
	t.Cleanup(server.Close)
	t.Cleanup(func() { door.once.Do(func() { close(door.let) }) })
	day := killFrom.AddDate(0, 0, 1).Format(time.DateOnly)
	if out, err := s.patra("plan", "HARVEST", s.code, "--base-url", server.URL, "--from", killFrom.Format(time.DateOnly), "--to", day).CombinedOutput(); err != nil {
		t.Fatalf("plan: %v\n%s", err, out)
	}
	w := s.watch("127.0.0.1:0", "--role", "executor")
	door.within(t, 20*time.Second)
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		code, said := w.get("/readyz")
		if code == http.StatusServiceUnavailable {
			if !strings.Contains(said, `{"name":"draining","ok":false,"reason":"the process was told to stop, and finishes what it is at"},{"name":"store","ok":true}`) {
				t.Error(said)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d %s", code, said)
		}
	}
	if code, _ := w.get("/healthz"); code != http.StatusNoContent {
		t.Errorf("alive: %d", code)
	}
	door.once.Do(func() { close(door.let) })
	if err := w.Wait(); err != nil || !bytes.Contains(w.out.copy(), []byte("Drained and stopped")) {
		t.Errorf("%v\n%s", err, w.out.copy())
	}
}

// described are the numbers of docs/metrics.md.
func described(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile("(?m)^\\| `(patra_[a-z0-9_]+)` ").FindAllSubmatch(text, -1) {
		names = append(names, string(found[1]))
	}
	return names
}

// judgeNumbers says what is wrong with what a process tells: too much of it, or not in the form that others read.
func judgeNumbers(said string) (wrong []string) {
	n := 0
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	if n > observe.MostSeries/4 { // nobody here is hostile
		wrong = append(wrong, "there are too many series")
	}
	problems, err := promlint.New(strings.NewReader(said)).Lint()
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, p := range problems {
		if !strings.HasSuffix(p.Metric, "_latency_ms") { // as agreed
			wrong = append(wrong, p.Metric+": "+p.Text)
		}
	}
	return wrong
}

// Every number that is described is told by a server that has work, sinks and a provider that is not well.
func TestEveryNumberIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Engines()[0], byToken)
	behind, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // the provider is not well
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%11 == 5 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for name, change := range map[string]func(string) string{
		"crossref.yaml": func(text string) string {
			return strings.Replace(text, "burst: 100", "burst: 100, quota: {daily: 1000000}", 1)
		},
		"patra.yaml": func(text string) string {
			return text + "sinks:\n  - {name: feed, type: FILE, url: 'file:events.jsonl'}\n"
		},
	} {
		path := filepath.Join(s.dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := change(string(text))
		if changed == string(text) {
			t.Fatalf("nothing changes in %s", name)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.patra("pause", "arxiv").CombinedOutput(); err != nil {
		t.Fatalf("pause: %v\n%s", err, out)
	}
	to := killFrom.AddDate(0, 0, 20).Format(time.DateOnly)
	if out, err := s.patra("plan", "HARVEST", s.code, "--base-url", server.URL, "--from", killFrom.Format(time.DateOnly), "--to", to).CombinedOutput(); err != nil {
		t.Fatalf("plan: %v\n%s", err, out)
	}
	w := s.watch("127.0.0.1:0", "--role", "executor,planner,relay")
	missing := map[string]bool{}
	for _, name := range described(t) {
		missing[name] = true
	}
	if len(missing) < 50 {
		t.Fatalf("only %d numbers are described", len(missing))
	}
	for deadline := time.Now().Add(90 * time.Second); len(missing) > 0; time.Sleep(200 * time.Millisecond) {
		_, said := w.get("/metrics")
		for name := range missing {
			if strings.Contains(said, "\n# TYPE "+name+" ") {
				delete(missing, name)
			}
		}
		for _, wrong := range judgeNumbers(said) {
			t.Fatal(wrong)
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody tells %v in\n%s\n%s", slices.Sorted(maps.Keys(missing)), said, w.out.copy())
		}
	}
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("%v\n%s", err, w.out.copy())
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, s.url))
}
