package cli

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/store/storetest"
)

// A harvest that runs obeys a lower rate within a second or so, a cooldown at once, and the end of both; nobody restarts it.
func TestARunningHarvestObeysTheGate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	d := &doorman{}
	s := newGateScene(t, storetest.Engines()[0], d, nil)
	s.must(s.patra("plan", "HARVEST", "crossref", "--base-url", s.base, "--from", killFrom.Format(time.DateOnly), "--to", killFrom.AddDate(0, 0, gateDays).Format(time.DateOnly)))
	server := s.serve("--role", "executor")
	var end sync.Once
	stop := func() {
		end.Do(func() {
			_ = server.Process.Signal(syscall.SIGTERM)
			_ = server.Wait()
		})
	}
	defer stop()
	d.await(t, 20)
	s.must(s.patra("gate", "set", "crossref", "--per-second", "2", "--reason", "test"))
	slow := d.during(1500*time.Millisecond, 3*time.Second)
	s.must(s.patra("gate", "set", "crossref", "--cooldown", "10m"))
	still := d.during(500*time.Millisecond, time.Second)
	s.must(s.patra("gate", "set", "crossref", "--per-second", "default", "--end-cooldown"))
	d.await(t, d.count()+20) // in ten minutes, if nobody hears of the end
	t.Logf("%d in three seconds at 2 a second, %d in a cooldown", slow, still)
	if slow == 0 || slow > 2*3+1 {
		t.Errorf("%d requests came in three seconds, at 2 a second", slow)
	}
	if still > 0 {
		t.Errorf("%d requests came inside a cooldown", still)
	}
	stop()
}

// must runs a command that has to go well.
func (s *scene) must(c *exec.Cmd) {
	s.t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatal(fmt.Errorf("%w\n%s", err, out))
	}
}

// during counts the requests that come in a stretch of time, after a while.
func (d *doorman) during(after, span time.Duration) (n int) {
	<-time.After(after)
	from := patra.InstantOf(time.Now())
	<-time.After(span)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range d.came {
		if at >= from && at < from.Add(span) {
			n++
		}
	}
	return n
}

func (d *doorman) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.came)
}
