package cli

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patra/internal/sim"
	"patra/internal/store/storetest"
	"patra/internal/verifier"
)

// The world under torture has days that are read while everything goes wrong, and two to which papers go that change
// meanwhile; those are read when all is calm.
const (
	tortureDays = 12
	calmDays    = 2
)

var tortureFrom = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// stage is a provider, a store and a folder to run patra in.
type stage struct {
	tortured
	ordeal
	t          *testing.T
	to, calmTo time.Time
	dir, url   string
	aside      string // a folder for what is seen from outside
	base       string
	provider   *sim.Server
	log        *accessLog
	db         *sql.DB
	faults     sim.Faults
	done       map[string]int64 // what was done to processes
	findings   []string
	verdict    []verifier.Invariant // what the judge said at the end
}

// tortureSecret is a secret that is sent with every request, and may stand nowhere.
const tortureSecret = "canary-4711/yellow+bird=="

// newStage sets everything up; fuller days than usual are read for longer, so that there is more to be killed in.
func newStage(t *testing.T, e storetest.Engine, src tortured, o ordeal, seed uint64, fuller int) *stage {
	s := &stage{tortured: src, ordeal: o, t: t, dir: t.TempDir(), aside: t.TempDir(), url: e.URL(t), faults: o.load(t), done: map[string]int64{}, to: tortureFrom.AddDate(0, 0, tortureDays), calmTo: tortureFrom.AddDate(0, 0, tortureDays+calmDays)}
	s.log = newAccessLog(t, s.aside)
	c := sim.Config{Seed: seed, From: tortureFrom, To: s.calmTo, PerDay: src.perDay * fuller, Exact: true, Log: s.log, Faults: s.faults}
	if o.profile == "throttle" {
		c.Rate, c.Burst = tortureRate, tortureBurst+forgiven
	}
	s.provider = sim.New(c)
	server := httptest.NewServer(s.provider.Handler())
	t.Cleanup(server.Close)
	s.base = server.URL + src.path
	lying := o.profile == "lying" // about counts: they must be asked for, and a slice is cut by what they say
	s.write(src.code+".yaml", src.text(t, lying || seed%2 == 0, lying))
	s.write("patra.yaml", fmt.Sprintf("contact: torture@example.org\nsources: {dir: .}\nlog: {level: warn}\nplanner: {probes: 0}\nsecrets: {canary: \"env:CANARY\"}\n"+
		"executor: {workers: 2, perPartition: 16, lease: %s, heartbeat: 500ms, taskAttempts: 100}\n", tortureLease))
	if out, err := s.patra("migrate").CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	s.db = storetest.Inspect(t, s.url)
	return s
}

func (s *stage) write(name, text string) {
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// patra is one process of the real program.
func (s *stage) patra(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), "patra", args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "PATRA_STORE_URL="+s.url, "PATRA_LOG_FORMAT=text", "PATRA_EVIDENCE_URL=file:evidence", "CANARY="+tortureSecret)
	return c
}

// ask is a command about the days up to one.
func (s *stage) ask(command []string, to time.Time) *exec.Cmd {
	args := slices.Concat(command, []string{s.code, "--base-url", s.base, "--from", tortureFrom.Format(time.DateOnly), "--to", to.Format(time.DateOnly)}, s.args)
	return s.patra(args...)
}

var planning = []string{"plan", "HARVEST"}

// plan asks for the work, and again for what has failed of it.
func (s *stage) plan() {
	s.resume()
	for range 10 { // it may be halted just when somebody wants to plan
		out, err := s.ask(planning, s.to).CombinedOutput()
		switch {
		case err == nil:
			return
		case !bytes.Contains(out, []byte("is halted since")):
			s.find("planning failed: %v\n%s", err, out)
			return
		}
		s.resume()
	}
	s.find("whoever wants to plan is halted again and again")
}

// resume is what a person does when a source was stopped because the provider no longer knew us.
func (s *stage) resume() {
	if s.count(`SELECT COUNT(*) FROM ing_control WHERE kind_code = 'HALT' AND state_code = 'HALTED'`) == 0 {
		return
	}
	if out, err := s.patra("resume", s.code).CombinedOutput(); err != nil {
		s.find("it cannot be resumed: %v\n%s", err, out)
	}
}

// planTwice is two planners who begin at the same moment. One of them may find that the other has planned everything.
func (s *stage) planTwice() {
	var both [2]*exec.Cmd
	for i := range both {
		both[i] = s.ask(planning, s.to)
		if err := both[i].Start(); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, c := range both {
		if err := c.Wait(); err != nil && s.faults.Unauthorized == 0 { // which may halt them
			s.find("two planners at once: %v", err)
		}
	}
}

// planKilled is a plan whose planner dies on the way, or shortly after.
func (s *stage) planKilled(after time.Duration) {
	c := s.ask(planning, s.to)
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Kill() // it may have ended
	_ = c.Wait()
}

// count asks for one number.
func (s *stage) count(query string, args ...any) (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(query, args...).Scan(&n); err != nil {
		s.t.Fatalf("%v in %s", err, query)
	}
	return n
}

// openTasks are those that wait or run, and those whose slice waits to be cut. When it is cut, others have the rest of it.
const openTasks = `FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id WHERE t.status_code IN ('QUEUED', 'RUNNING') OR s.status_code = 'PARTIAL'`

// open is how many tasks are not at their end.
func (s *stage) open() int {
	return s.count(`SELECT COUNT(*) ` + openTasks)
}

// stuck says of every open task what it waits for, and what stands in the way of all: whoever finds this wants to know why.
func (s *stage) stuck() string {
	var b strings.Builder
	s.list(&b, `SELECT t.id, t.status_code, s.status_code AS slice, s.reslice, t.wait_code, t.priority, t.attempt_count, t.scan_no, t.next_ordinal, t.scheduled_at, t.leased_until, t.last_error `+openTasks)
	s.list(&b, `SELECT scope_code, scope_key, kind_code, state_code, version, until_at, reason FROM ing_control`)
	fmt.Fprintf(&b, "now %d\n", time.Now().UnixMicro())
	return b.String()
}

// list writes the rows that a query finds.
func (s *stage) list(b *strings.Builder, query string) {
	rows, err := s.db.Query(query)
	if err != nil {
		s.t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		s.t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.t.Fatal(err)
		}
		for i, v := range values {
			fmt.Fprintf(b, "%s=%s ", names[i], v.String)
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) find(format string, args ...any) {
	s.findings = append(s.findings, fmt.Sprintf(format, args...))
}
