package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"patra/internal/sim"
	"patra/internal/store/storetest"
)

// The world of the kill tests: 50 slices, 10,000 records.
const (
	killDays   = 50
	killPerDay = 200
)

var (
	killFrom = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	killTo   = killFrom.AddDate(0, 0, killDays)
)

// killed is a source that is harvested while processes die: its file, and what is really there.
type killed struct {
	code  string
	file  func(t testing.TB) string
	truth func(s *sim.Server) map[string][]byte
}

// byToken has a token that can be used once. Without a count to compare with, a page that was lost unnoticed would
// stay lost.
var byToken = killed{"crossref", func(t testing.TB) string {
	return strings.Replace(quickSource(t, "crossref"), "trust: EXACT", "trust: NONE", 1)
}, func(s *sim.Server) map[string][]byte {
	truth := map[string][]byte{}
	for w := range s.Truth(killFrom, killTo) {
		truth[w.ID] = w.JSON
	}
	return truth
}}

// byIDs gives ids first and records after.
var byIDs = killed{"pubmed", func(t testing.TB) string {
	return strings.Replace(quickSource(t, "pubmed"), "batch: 200", "batch: 50", 1)
}, func(s *sim.Server) map[string][]byte {
	truth := map[string][]byte{}
	for r := range s.PubMed().Truth(killFrom, killTo) {
		truth[r.ID] = r.Bytes
	}
	return truth
}}

// scene is a provider, a store and a folder to run patra in.
type scene struct {
	killed
	t        *testing.T
	dir, url string
	base     string
	provider *sim.Server
	requests atomic.Int64
	reached  chan struct{}
	mark     atomic.Int64
}

// Write counts the provider's access log, which has one line a request.
func (s *scene) Write(p []byte) (int, error) {
	if n := s.requests.Add(int64(bytes.Count(p, []byte("\n")))); n == s.mark.Load() {
		s.reached <- struct{}{}
	}
	return len(p), nil
}

func newScene(t *testing.T, e storetest.Engine, k killed) *scene {
	s := &scene{killed: k, t: t, dir: t.TempDir(), url: e.URL(t), reached: make(chan struct{}, 1)}
	s.provider = sim.New(sim.Config{Seed: 11, From: killFrom, To: killTo, PerDay: killPerDay, Exact: true, Log: s, Faults: sim.Faults{Latency: 3 * time.Millisecond, ServerError: 0.01, CutBody: 0.01, Reset: 0.01}})
	server := httptest.NewServer(s.provider.Handler())
	t.Cleanup(server.Close)
	s.base = server.URL
	// Three faults in a row open the breaker, which nobody here has two minutes to wait for.
	file := strings.Replace(k.file(t), "\n  rate:", "\n  breaker: {failures: 3, cooldown: 1s..2s}\n  rate:", 1)
	if err := os.WriteFile(filepath.Join(s.dir, k.code+".yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	config := "contact: kill@example.org\nsources: {dir: .}\nexecutor: {workers: 4, lease: 5s, heartbeat: 1s, taskAttempts: 10}\nplanner: {probes: 0}\n" // one slice a day, so that there are many to be killed in
	if err := os.WriteFile(filepath.Join(s.dir, "patra.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := s.patra("migrate").CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	return s
}

// patra is one process of the real program.
func (s *scene) patra(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), "patra", args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "PATRA_STORE_URL="+s.url, "PATRA_LOG_FORMAT=text")
	return c
}

func (s *scene) harvest() *exec.Cmd {
	c := s.patra("harvest", s.code, "--base-url", s.base, "--from", killFrom.Format(time.DateOnly), "--to", killTo.Format(time.DateOnly))
	c.Stdout, c.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return c
}

// startUntil starts a harvest and returns when the provider has seen n more requests, or when it ended before.
func (s *scene) startUntil(n int64) (c *exec.Cmd, ended chan error) {
	s.t.Helper()
	s.mark.Store(s.requests.Load() + n)
	c, ended = s.harvest(), make(chan error, 1)
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { ended <- c.Wait() }()
	select {
	case <-s.reached:
	case err := <-ended:
		ended <- err
	}
	return c, ended
}

// finish runs a harvest to its end; it must be complete.
func (s *scene) finish() {
	s.t.Helper()
	c := s.harvest()
	if err := c.Run(); err != nil {
		s.t.Fatalf("%v\n%s\n%s", err, c.Stdout, c.Stderr)
	}
}

// exact compares what patra exports with what the provider really has, byte by byte.
func (s *scene) exact() {
	s.t.Helper()
	truth := s.truth(s.provider)
	if len(truth) != killDays*killPerDay {
		s.t.Fatalf("the provider has %d works", len(truth))
	}
	export := s.patra("records", "export", "--format", "jsonl")
	out, err := export.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			ID  string          `json:"id"`
			Rev int             `json:"rev"`
			Raw json.RawMessage `json:"raw"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			s.t.Fatal(err)
		}
		want, ok := truth[r.ID]
		if !ok || r.Rev != 1 || !sameJSON(want, r.Raw) {
			s.t.Errorf("record %s rev %d is not what the provider has", r.ID, r.Rev)
		}
		delete(truth, r.ID)
	}
	if len(truth) > 0 {
		s.t.Errorf("%d records are missing", len(truth))
	}
	db := storetest.Inspect(s.t, s.url)
	storetest.CheckInvariants(s.t, db)
	var slices, sealed int
	if err := db.QueryRow(`SELECT COUNT(*), SUM(state_code = 'SEALED') FROM ing_coverage`).Scan(&slices, &sealed); err != nil || slices < killDays || sealed != slices {
		s.t.Errorf("%d windows are covered, %d sealed, %v", slices, sealed, err)
	}
}

// sameJSON compares an item with what was exported: JSON without insignificant space, other formats as a text.
func sameJSON(a, b []byte) bool {
	if text := ""; json.Unmarshal(b, &text) == nil {
		return text == string(a)
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// TestKilled: a process is killed with -9 at three random points of a harvest; later processes finish it, with
// exactly the right records.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, k := range []killed{byToken, byIDs} {
		t.Run(k.code, func(t *testing.T) { storetest.Each(t, func(t *testing.T, e storetest.Engine) { killThrice(t, e, k) }) })
	}
}

func killThrice(t *testing.T, e storetest.Engine, k killed) {
	t.Parallel()
	s := newScene(t, e, k)
	for i := range 3 {
		n := 5 + rand.Int64N(75)
		c, ended := s.startUntil(n)
		if err := c.Process.Kill(); err != nil {
			t.Fatalf("kill %d after %d requests: %v\n%s", i+1, n, err, c.Stderr)
		}
		if err := <-ended; err == nil {
			t.Fatalf("the harvest ended before it was killed after %d requests", n)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, s.url)) // a death leaves no promise broken
	}
	db := storetest.Inspect(t, s.url)
	var lost int
	if err := db.QueryRow(`SELECT COUNT(*) FROM ing_task_run WHERE status_code = 'RUNNING'`).Scan(&lost); err != nil || lost == 0 {
		t.Fatalf("no run was cut off by the kills, %v", err)
	}
	s.finish()
	s.exact()
}

// TestPaused: a process is stopped in the middle of its work for longer than its leases, while another goes on with
// the harvest. When the first one wakes up it can spoil nothing. If it was stopped inside a transaction on SQLite,
// nobody can write until it wakes up; then the other waits.
func TestPaused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		s := newScene(t, e, byToken)
		zombie, ended := s.startUntil(40)
		if err := zombie.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		second := s.harvest()
		finished := make(chan error, 1)
		if err := second.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { finished <- second.Wait() }()
		select {
		case err := <-finished:
			finished <- err
		case <-time.After(15 * time.Second): // three leases
		}
		if err := zombie.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err := <-finished; err != nil {
			t.Errorf("the process that went on: %v\n%s", err, second.Stderr)
		}
		if err := <-ended; err != nil {
			t.Errorf("the process that slept: %v\n%s", err, zombie.Stderr)
		}
		s.exact()
	})
}

// TestInterrupted: Ctrl-C drains, says so with exit code 4, and loses no attempt. The provider is well: a run that three
// failures in a row have ended has used up its attempt, whoever is interrupted later.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		s := newScene(t, e, byToken)
		s.provider.Calm()
		c, ended := s.startUntil(30)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		<-ended
		if code := c.ProcessState.ExitCode(); code != exitIncomplete {
			t.Errorf("exit code %d\n%s", code, c.Stderr)
		}
		db := storetest.Inspect(t, s.url)
		var running, attempts int
		if err := db.QueryRow(`SELECT SUM(status_code = 'RUNNING'), SUM(CASE WHEN status_code = 'QUEUED' THEN attempt_count ELSE 0 END) FROM ing_task`).Scan(&running, &attempts); err != nil || running != 0 || attempts != 0 {
			t.Errorf("%d tasks are still leased, %d attempts are lost, %v", running, attempts, err)
		}
		s.finish()
		s.exact()
	})
}
