package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// Two servers share a store. A schedule whose time was missed is made up for once, by one of them; the queue is worked
// through by both; a schedule that cannot become a plan is kept with the reason; and being told to stop is a good end.
func TestServe(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		s := newScene(t, e, byToken)
		config, err := os.OpenFile(filepath.Join(s.dir, "patra.yaml"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = config.WriteString("schedules:\n" +
			"  - {name: daily, cron: '0 0 * * *', source: crossref, origin: " + killFrom.Format(time.DateOnly) + "}\n" +
			"  - {name: broken, cron: '0 0 * * *', source: crossref, query: 'titel:x'}\n" +
			"  - {name: asleep, cron: '* * * * *', source: crossref, paused: true}\n")
		if err != nil {
			t.Fatal(err)
		}
		config.Close()
		st, err := store.Open(t.Context(), s.url)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for _, job := range []string{"daily", "broken"} { // they ran the day before yesterday, and then nobody was there
			at := patra.InstantOf(time.Now().Add(-50 * time.Hour))
			_, err := st.AcceptTrigger(t.Context(), at, patra.Trigger{Scheduler: patra.SchedulerCron, JobID: job, LogID: at.String(), Trigger: patra.TriggerScheduled, TriggeredAt: at,
				Params: json.RawMessage(`{}`), Source: "crossref", Operation: patra.Harvest})
			if err != nil {
				t.Fatal(err)
			}
		}
		servers := []*exec.Cmd{s.serve(), s.serve()}
		s.await(st, int64(len(s.truth(s.provider))))
		for _, c := range servers {
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range servers {
			if err := c.Wait(); err != nil || !strings.Contains(c.Stdout.(*bytes.Buffer).String(), "Drained and stopped") {
				t.Errorf("serve ended with %v\n%s%s", err, c.Stdout, c.Stderr)
			}
		}
		s.fires(st)
		storetest.CheckInvariants(t, storetest.Inspect(t, s.url))
	})
}

func (s *scene) serve(args ...string) *exec.Cmd {
	c := s.patra(append([]string{"serve", "--base-url", s.base}, args...)...)
	c.Stdout, c.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// await waits until all records are there and nothing is open.
func (s *scene) await(st *store.Store, want int64) {
	s.t.Helper()
	for deadline := time.Now().Add(slower * 2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		n, err := st.CountRecords(s.t.Context(), "crossref")
		if err != nil {
			s.t.Fatal(err)
		}
		open, err := st.Slices(s.t.Context(), store.Filter{Status: patra.Ready, Limit: 1})
		if err != nil {
			s.t.Fatal(err)
		}
		if n == want && len(open) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d of %d records are there", n, want)
		}
	}
}

// fires checks what came of the schedules.
func (s *scene) fires(st *store.Store) {
	s.t.Helper()
	for job, want := range map[string]patra.Status{"daily": patra.Planned, "broken": patra.Rejected} {
		fired, err := st.Triggers(s.t.Context(), store.Filter{Job: job})
		if err != nil || len(fired) != 2 || fired[0].Status != want {
			s.t.Errorf("%s fired %d times, %+v, %v", job, len(fired)-1, fired, err)
		}
		if job == "broken" && !strings.Contains(string(fired[0].Error), "no field titel") {
			s.t.Errorf("the reason is %s", fired[0].Error)
		}
	}
	if fired, err := st.Triggers(s.t.Context(), store.Filter{Job: "asleep"}); err != nil || len(fired) != 0 {
		s.t.Errorf("a paused schedule fired: %+v, %v", fired, err)
	}
}
