package cli

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra"
	"patra/internal/relay/relaytest"
	"patra/internal/sim"
)

// The fleet as it is run where much is harvested: a planner, three executors, a relay and an API, processes of their own, on
// MariaDB, with the gate in Redis and events to NATS. FLEET_OUTAGE and FLEET_ROUNDS make it long: `make fleet`.
const (
	outageVariable = "FLEET_OUTAGE"
	roundsVariable = "FLEET_ROUNDS"
)

// armada is that fleet, and the servers that it lives on.
type armada struct {
	*fleet
	database, redis *server
	bus             *relaytest.NATS
	api             string
	outage          time.Duration
	rounds          int
	long            bool
	log             []string // what was done, for the report
	began           time.Time
}

// swift is a provider that refuses now and then, and whose papers change while they are read.
var swift = ordeal{"throttle", func(f *sim.Faults) {
	f.AbsurdWait, f.Throttle, f.Unavailable, f.MoveEvery = 0, 0.01, 0.01, 3
	f.Latency = 5 * time.Millisecond
}}

func newArmada(t *testing.T) *armada {
	a := &armada{outage: 6 * time.Second, rounds: 1, began: time.Now()}
	fuller := 5
	if text := os.Getenv(outageVariable); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", outageVariable, err)
		}
		a.outage, a.rounds, a.long, fuller = d, int(number(t, roundsVariable, 3)), true, 60
	}
	database, engine := ownMariaDB(t)
	a.database, a.redis, a.bus = database, ownRedis(t), relaytest.NewNATS(t)
	s := newStage(t, engine, torturedSources[0], swift, 5, fuller)
	a.api = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	s.write("patra.yaml", fmt.Sprintf("contact: fleet@example.org\nsources: {dir: .}\nlog: {level: info}\nplanner: {probes: 0, inventory: 6}\nsecrets: {canary: \"env:CANARY\"}\n"+
		"executor: {workers: 2, perPartition: 16, lease: %s, heartbeat: 500ms, taskAttempts: 20}\ngate: {backend: redis, redis: {url: \"redis://127.0.0.1:%d/0\"}}\n"+
		"api: {listen: \"%s\"}\nevents: {lease: 2s}\nsinks:\n  - {name: bus, type: NATS, url: \"%s\", events: [record.*]}\n", tortureLease, a.redis.port, a.api, a.bus.URL()))
	a.fleet = &fleet{stage: s}
	for _, role := range []string{rolePlanner, roleExecutor, roleExecutor, roleExecutor, roleRelay, roleAPI} {
		a.members = append(a.members, &member{args: []string{"serve", "--role", role}})
	}
	s.plan()
	for _, m := range a.members {
		a.launch(m)
		a.ready(m)
	}
	return a
}

// did notes what was done.
func (a *armada) did(format string, args ...any) {
	a.log = append(a.log, fmt.Sprintf("%6.1fs ", time.Since(a.began).Seconds())+fmt.Sprintf(format, args...))
}

// ready waits until a process says that it serves.
func (a *armada) ready(m *member) {
	a.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(string(m.out.copy()), "Serving "); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || len(m.ended) > 0 {
			a.t.Fatalf("%s does not start\n%s", m.args[2], m.out.tail())
		}
	}
}

// roll tells one after the other to stop, waits until it has done so in good order, and starts it again.
func (a *armada) roll() {
	a.t.Helper()
	for _, m := range a.members {
		a.stage.log.await(4, 5*time.Second) // each of them while something is under way
		began := time.Now()
		a.signal(m, syscall.SIGTERM)
		select {
		case err := <-m.ended:
			if err != nil || !strings.Contains(string(m.out.copy()), "Drained and stopped") {
				a.find("%s was told to stop and ended with %v\n%s", m.args[2], err, m.out.tail())
			}
		case <-time.After(20 * time.Second):
			a.t.Fatalf("%s does not stop\n%s", m.args[2], m.out.tail())
		}
		a.launch(m)
		a.ready(m)
		a.did("%s was restarted in %s", m.args[2], time.Since(began).Round(10*time.Millisecond))
	}
}

// underWay fails a test that would prove nothing: the harvest must be in the middle of its work.
func (a *armada) underWay(what string) {
	a.t.Helper()
	if !a.stage.log.await(5, 30*time.Second) || a.open() == 0 {
		a.t.Fatalf("nobody harvests %s\n%s", what, strings.Join(a.log, "\n"))
	}
	a.revive()
}

// absent takes the database away, for longer than every lease.
func (a *armada) absent() {
	a.t.Helper()
	before := make([]int, len(a.members))
	for i, m := range a.members {
		before[i] = len(m.out.copy())
	}
	a.database.kill()
	a.did("the database was killed, %d requests so far", a.stage.log.count())
	time.Sleep(a.outage)
	a.revive() // which finds everybody who ended
	asked := a.stage.log.count()
	a.database.up()
	a.did("the database is back, %d requests so far", asked)
	back := time.Now()
	if !a.stage.log.await(5, 20*time.Second) {
		a.find("nobody harvests after the database is back")
	}
	a.did("the harvest goes on %s after that", time.Since(back).Round(10*time.Millisecond))
	for i, m := range a.members {
		a.calmly(m, string(m.out.copy()[before[i]:]))
	}
}

// calmly looks at what a process said while the database was away: that it is, once, and little else.
func (a *armada) calmly(m *member, log string) {
	if m.args[2] == roleAPI { // whom nobody asked
		return
	}
	if n := linesWith(log, "level=WARN", "the store cannot be used now"); n != 1 {
		a.find("%s said %d times that the database is away\n%s", m.args[2], n, log)
	}
	if n := strings.Count(log, "\n"); n > 40 {
		a.find("%s had %d lines to say about it\n%s", m.args[2], n, log)
	}
}

// healthy asks the API for something that is in the database.
func (a *armada) healthy() {
	a.t.Helper()
	resp, err := http.Get("http://" + a.api + "/api/v1/plans")
	if err != nil {
		a.find("the API does not answer: %v", err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		a.find("the API answers with %d", resp.StatusCode)
	}
}

// TestFleet: everybody is restarted during a harvest, one after the other; then the database is away, in the long form also
// Redis and NATS; and the result is exact.
func TestFleet(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	a := newArmada(t)
	for range a.rounds {
		a.underWay("while everybody is restarted")
		a.roll()
	}
	a.underWay("when the database goes away")
	a.absent()
	a.underWay("after the database was away")
	a.healthy()
	if a.long {
		a.withoutRedis()
		a.withoutNATS()
		a.roll()
	}
	a.provider.Calm()
	if !a.drain(a.fleet, 5*time.Minute) {
		a.find("%d tasks are still open", a.open())
	}
	a.stage.finish()
	a.told()
	a.dismiss()
	a.check(a.fleet)
	a.judge()
	for _, text := range a.findings {
		t.Error(text)
	}
	t.Log("\n" + strings.Join(a.log, "\n"))
}

// withoutRedis takes the place away where the gate is lent to.
func (a *armada) withoutRedis() {
	a.t.Helper()
	a.underWay("when Redis goes away")
	a.redis.kill()
	asked := a.stage.log.count()
	time.Sleep(10 * time.Second)
	a.did("Redis was away for 10s, %d requests meanwhile", a.stage.log.count()-asked)
	a.redis.up()
	a.underWay("after Redis was away")
}

// withoutNATS takes the sink away.
func (a *armada) withoutNATS() {
	a.t.Helper()
	a.underWay("when NATS goes away")
	a.bus.Down(a.t)
	time.Sleep(10 * time.Second)
	a.bus.Up(a.t)
	a.did("NATS was away for 10s")
	a.underWay("after NATS was away")
}

// told waits until the sink has everything.
func (a *armada) told() {
	a.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		unnumbered := a.count(`SELECT COUNT(*) FROM ing_outbox WHERE seq IS NULL`)
		behind := a.count(`SELECT (SELECT COALESCE(MAX(seq), 0) FROM ing_outbox) - position FROM ing_lease WHERE name LIKE 'relay%'`)
		if unnumbered == 0 && behind == 0 {
			return
		}
		if time.Now().After(deadline) {
			a.find("the sink is %d events behind, and %d have no number", behind, unnumbered)
			return
		}
	}
}

// judge compares what the sink has with what happened, and looks where the watermark is.
func (a *armada) judge() {
	a.t.Helper()
	want := map[string]bool{}
	rows, err := a.db.Query(`SELECT r.provider_id, o.rev FROM ing_outbox o JOIN ing_record r ON r.id = o.record_id`)
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	changed := 0
	for rows.Next() {
		var id string
		var rev int
		if err := rows.Scan(&id, &rev); err != nil {
			a.t.Fatal(err)
		}
		want[id+" "+strconv.Itoa(rev)] = true
		if rev > 1 {
			changed++
		}
	}
	if err := rows.Err(); err != nil || len(want) == 0 || changed == 0 {
		a.find("%d events, %d of changes, %v", len(want), changed, err)
	}
	arrived := relaytest.Read(a.t, a.bus)
	first := relaytest.FirstOfEach(arrived)
	at := map[string]int{}
	for _, e := range first {
		if e.Data.Rev != at[e.Data.ID]+1 {
			a.find("%s has version %d after %d", e.Data.ID, e.Data.Rev, at[e.Data.ID])
		}
		at[e.Data.ID] = e.Data.Rev
		delete(want, e.Data.ID+" "+strconv.Itoa(e.Data.Rev))
	}
	if len(want) > 0 {
		a.find("%d events never came to the sink", len(want))
	}
	end := int64(patra.InstantOf(a.calmTo))
	if n := a.count(`SELECT COUNT(*) FROM ing_cursor WHERE normalized_instant = ?`, end); n != 1 {
		a.find("the watermark is not at the end of what was asked for")
	}
	a.did("%d records, %d events (%d of changes, %d sent again), %d requests, %d runs, %d of them lost", a.count(`SELECT COUNT(*) FROM ing_record`), len(first), changed, len(arrived)-len(first),
		a.stage.log.count(), a.count(`SELECT COUNT(*) FROM ing_task_run`), a.count(`SELECT COUNT(*) FROM ing_task_run WHERE status_code = 'LOST'`))
}
