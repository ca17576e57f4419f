package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"patra/internal/store/storetest"
)

// stuck is a provider that answers nothing until it is let go.
type stuck struct {
	next    http.Handler
	reached chan time.Time
	let     chan struct{}
	once    sync.Once
}

func (s *stuck) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.reached <- time.Now()
	select {
	case <-s.let:
		s.next.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// within gives when the next request came, or fails.
func (s *stuck) within(t *testing.T, d time.Duration) time.Time {
	t.Helper()
	select {
	case at := <-s.reached:
		return at
	case <-time.After(d):
		t.Fatalf("no request came within %s", d)
		return time.Time{}
	}
}

// TestTakenOver: one of two servers that only work through the queue dies with a request in flight. The other has its task
// after the lease has run out and somebody has looked, which a short lease makes a few seconds; and in the end all is there.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		s := newScene(t, e, byToken)
		behind, err := url.Parse(s.base)
		if err != nil {
			t.Fatal(err)
		}
		door := &stuck{next: httputil.NewSingleHostReverseProxy(behind), reached: make(chan time.Time, 1000), let: make(chan struct{})}
		server := httptest.NewServer(door)
		t.Cleanup(server.Close)
		t.Cleanup(func() { door.once.Do(func() { close(door.let) }) })
		s.base = server.URL
		config := "contact: kill@example.org\nsources: {dir: .}\nexecutor: {workers: 1, lease: 3s, heartbeat: 1s}\nplanner: {probes: 0}\n"
		if err := os.WriteFile(filepath.Join(s.dir, "patra.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		day := killFrom.AddDate(0, 0, 1).Format(time.DateOnly)
		if out, err := s.patra("plan", "HARVEST", s.code, "--base-url", s.base, "--from", killFrom.Format(time.DateOnly), "--to", day, "--no-probe").CombinedOutput(); err != nil {
			t.Fatalf("plan: %v\n%s", err, out)
		}
		first := s.worker()
		door.within(t, 20*time.Second)
		second := s.worker()
		died := time.Now()
		if err := first.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = first.Wait()
		if took := door.within(t, 20*time.Second).Sub(died); took < time.Second || took > 8*time.Second { // a lease of 3 s, a look every second, and a slow machine
			t.Errorf("the task was taken over after %s", took)
		}
		door.once.Do(func() { close(door.let) })
		db := storetest.Inspect(t, s.url)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			var open int
			if err := db.QueryRow(`SELECT COUNT(*) FROM ing_plan_slice WHERE status_code = 'READY'`).Scan(&open); err != nil || time.Now().After(deadline) {
				t.Fatalf("%d slices are open, %v\n%s", open, err, second.Stderr)
			}
			if open == 0 {
				break
			}
		}
		if err := second.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := second.Wait(); err != nil {
			t.Errorf("the server that was told to stop: %v\n%s", err, second.Stderr)
		}
		var owners, lost int
		if err := db.QueryRow(`SELECT COUNT(DISTINCT lease_owner), SUM(status_code = 'LOST') FROM ing_task_run`).Scan(&owners, &lost); err != nil || owners != 2 || lost != 1 {
			t.Errorf("%d owners, %d lost runs, %v", owners, lost, err)
		}
		storetest.CheckInvariants(t, db)
	})
}

// worker is a server that only works through the queue.
func (s *scene) worker() *exec.Cmd {
	c := s.patra("serve", "--role", "executor")
	c.Stdout, c.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}
