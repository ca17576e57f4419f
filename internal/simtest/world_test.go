package simtest

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/relay"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
)

// options say how long a world lasts and what is wrong with it.
type options struct {
	days  int
	wrong *wrong // nil: nothing
}

// outcome is what became of a world.
type outcome struct {
	seed     uint64
	profile  string
	poison   float64
	days     int
	findings []finding
	figures
}

// figures are what happened in a world, for those who want to know that something did.
type figures struct {
	sessions, requests, records, updated, events, quarantined, runs int64
	faults                                                          map[string]int64
	took                                                            time.Duration // of real time
}

// world is everything that is simulated.
type world struct {
	t       testing.TB
	seed    uint64
	profile profile
	options
	file      *source.File
	spec      *source.Spec
	start     time.Time // of the harvest
	end       time.Time
	provider  *sim.Server
	access    *accessLog
	wire      *sim.Wire
	log       *slog.Logger
	stores    []*store.Store // one for each process that lives at the same time; the last is the planner's, the one before the relay's
	db        *sql.DB        // of whoever looks on from outside
	sink      *sink
	cursor    int64
	lastStart time.Time // of a session
	judge     *judge
	leases    *leases
	sleepers  names

	mu      sync.Mutex
	notes   map[string]int64
	moments []time.Time    // when processes were killed or stopped, or went on
	jumped  map[int64]bool // plans that were made by a clock that was wrong
}

// workersEach and lease are those of every executor.
const (
	executors   = 3
	workersEach = 2
	leaseTime   = time.Minute
)

// Run lives through a world and gives what the judge found.
func Run(t *testing.T, seed uint64, p profile, o options) (out outcome) {
	t.Helper()
	folder, began := folder(t), time.Now()
	template(t, filepath.Join(folder, "patra.db"))
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(newYear)) // bubbles begin before some providers did
		w := newWorld(t, seed, p, o, folder)
		w.live()
		out = w.outcome()
	})
	out.took = time.Since(began)
	return out
}

// newYear is when all worlds begin.
var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// folder is one in memory, where there is such a thing: a year has some ten thousand transactions, and a simulated one loses
// no power.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("/dev/shm", "patra-world-"+store.NewOwner())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// empty is a store without anything in it, as a file.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "patra-world-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "patra.db")
	s, err := store.Open(context.Background(), "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	if _, err := s.Migrate(context.Background()); err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

func template(t *testing.T, file string) {
	t.Helper()
	data, err := empty()
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t testing.TB, seed uint64, p profile, o options, folder string) *world {
	w := &world{t: t, seed: seed, profile: p, options: o, start: time.Now(), notes: map[string]int64{}, jumped: map[int64]bool{}, sink: &sink{}, leases: &leases{held: map[int64]held{}}}
	if w.wrong == nil {
		w.wrong = &wrong{}
	}
	w.log = slog.New(slog.DiscardHandler)
	if os.Getenv("SIMULATE_LOG") != "" { // for whoever looks for something
		w.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	w.leases.w = w
	w.profile.perDay = cmp.Or(w.wrong.perDay, p.perDay)
	w.end = w.start.Add(time.Duration(o.days) * day)
	w.file = p.file(t, w.wrong.change...)
	w.spec = p.spec(t, p.file(t)) // the judge goes by what is right
	w.access = &accessLog{}
	w.provider = sim.New(sim.Config{Seed: seed, From: w.start.Add(-history), To: w.end, PerDay: w.profile.perDay, Living: true, Rate: w.spec.Rate.PerSecond, Burst: 1 << 20,
		Faults: sim.Faults{Poison: p.poison}, Log: w.access})
	var server *http.Server
	w.wire, server = sim.Listen(w.wrong.serve(w, w.provider.Handler()))
	t.Cleanup(func() { server.Close() })
	url := "sqlite:" + filepath.Join(folder, "patra.db")
	for range executors + 2 {
		s, err := store.Open(t.Context(), url, store.WithClock(time.Now))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		w.stores = append(w.stores, s)
	}
	var err error
	if w.db, err = sql.Open("sqlite", "file:"+filepath.Join(folder, "patra.db")+"?_pragma=busy_timeout(10000)&_synchronous=OFF"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	w.db.SetMaxOpenConns(1)
	w.judge = newJudge(w)
	return w
}

// history is how much of the provider lies before the first harvest.
const history = 12 * day

// dice are those of one thing in one session: what one thing draws changes nothing for another.
func (w *world) dice(session int, what uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(session)<<8|what))
}

// The things that draw.
const (
	diceHour = iota
	diceWeather
	dicePlanner
	diceRelay
	diceFleet // and one for each executor
)

// note counts something that happened, and when, if it was to a process.
func (w *world) note(what string, p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes[what]++
	if p != nil {
		w.moments = append(w.moments, time.Now())
		if !p.resumes.IsZero() {
			w.moments = append(w.moments, p.resumes)
		}
	}
}

// live is the whole story: sessions with everything that goes wrong, some days of calm, and the end.
func (w *world) live() {
	calm := w.end.Add(-3 * day)
	n := 0
	for at := w.start.Add(w.profile.every); at.Before(w.end); at = at.Add(w.profile.every) {
		time.Sleep(time.Until(at.Add(w.hour(n))))
		w.session(n, time.Now().After(calm))
		if n++; w.wrong.name != "" && w.judge.convinced() {
			return
		}
	}
	w.finish(n)
}

// hour is how much later than its time a session begins: minutes after it, and at some hour of the day.
func (w *world) hour(session int) time.Duration {
	late := time.Duration(3+w.dice(session, diceHour).IntN(40)) * time.Minute
	if w.profile.every >= day {
		late += time.Duration(w.dice(0, diceHour).IntN(6)) * time.Hour
	}
	return late
}

// session is one harvest.
func (w *world) session(n int, calm bool) {
	w.lastStart = time.Now()
	w.weather(n, calm)
	d := w.dice(n, dicePlanner)
	switch {
	case !calm && d.IntN(30) == 0:
		w.note("planner-absent", nil) // the next one has more to do
	default:
		w.plan(d, calm, planner.Request{})
	}
	if n == 5 { // what lies before the first harvest is fetched once, beside the daily work
		from, to := patra.InstantOf(w.start.Add(-10*day)), patra.InstantOf(w.start.Add(-2*day))
		w.plan(d, calm, planner.Request{Operation: patra.Backfill, From: &from, To: &to})
	}
	w.work(n, calm)
	w.publish(n, calm)
	w.judge.session(n, calm)
}

// weather is how the provider behaves during a session.
func (w *world) weather(n int, calm bool) {
	d := w.dice(n, diceWeather)
	f := sim.Faults{Latency: 150 * time.Millisecond}
	kind := "calm"
	if !calm {
		kind = []string{"calm", "throttle", "flaky", "lying", "outage", "mixed"}[d.IntN(6)]
	}
	if w.wrong.weather != nil && !calm {
		f, kind = *w.wrong.weather, "made"
		f.Latency = 150 * time.Millisecond
	}
	w.note("weather-"+kind, nil)
	switch kind {
	case "throttle":
		f.Throttle, f.Unavailable, f.RetryAfter = 0.08, 0.05, true
	case "flaky":
		f.ServerError, f.Reset, f.CutBody, f.CutChunked, f.CutPlain, f.HalfGzip, f.SlowBody, f.ExpireToken, f.Timeout, f.Transient = 0.03, 0.04, 0.03, 0.02, 0.02, 0.02, 0.02, 0.04, 0.02, 0.03
	case "lying":
		f.ErrorBody, f.EmptyBody, f.WrongTotal, f.EmptyPage, f.ShortPage, f.Duplicate, f.Damaged = 0.01, 0.02, 0.05, 0.05, 0.08, 0.04, 0.04
	case "mixed":
		f.ServerError, f.Reset, f.Throttle, f.RetryAfter, f.ShortPage, f.ExpireToken, f.CutBody = 0.02, 0.03, 0.03, true, 0.05, 0.03, 0.02
	case "outage":
		f.ServerError = 1
		after := f
		after.ServerError = 0
		time.AfterFunc(time.Duration(1+d.IntN(40))*time.Minute, func() { w.provider.Weather(after) })
	}
	w.provider.Weather(f)
}

// process is a new incarnation of a program.
func (w *world) process(ctx context.Context, name string, f fate) (*process, context.Context) {
	ctx, stop := context.WithCancel(ctx)
	return &process{name: name, w: w, stop: stop, fate: f}, ctx
}

// client is the way out of a process to the provider.
func (w *world) client(p *process) (*http.Transport, func(*source.Spec, string) *http.Client) {
	tr := &http.Transport{DialContext: w.wire.Dial, DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	return tr, func(spec *source.Spec, _ string) *http.Client {
		return &http.Client{Transport: line{p, tr}, Timeout: time.Duration(spec.HTTP.Timeout.Total), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
}

// vars are what sources ask for.
var vars = source.Vars{Contact: "w@example.org", Version: "world"}

// planner makes a planner of a process; it counts through the same gate as everybody.
func (w *world) planner(p *process) (*planner.Planner, *http.Transport) {
	s := doors{w.stores[len(w.stores)-1], p}
	tr, client := w.client(p)
	pl := &planner.Planner{Store: s, Config: planner.Config{SafetyLag: 10 * time.Minute, TaskAttempts: 5, Target: 10_000, MaxPages: 2000, MinStep: time.Hour, Probes: 100, BackfillShare: 0.5}}
	if w.seed%2 == 0 {
		pl.Prober = &executor.Prober{Store: s, Gate: turnstile{w.gate(w.stores[len(w.stores)-1]), p}, Client: client, Vars: vars, Log: w.log}
	}
	return pl, tr
}

// plan lets a planner plan, and another if the first is killed.
func (w *world) plan(d *rand.Rand, calm bool, req planner.Request) {
	req.Source, req.Endpoint, req.Contact, req.Params, req.BaseURL = w.file, w.profile.endpoint, vars.Contact, w.profile.params, "http://provider"+w.profile.path
	if req.Operation == "" && req.From == nil && req.Fill == nil {
		first := patra.InstantOf(w.start.Add(-2 * day))
		req.First = &first
	}
	for range 5 {
		var f fate
		jump := time.Duration(0)
		if !calm {
			f = drawFate(d, 0.1, 0.05, 14)
			if d.IntN(12) == 0 {
				jump = time.Duration(d.IntN(121)-60) * time.Minute
				w.note("clock-jump", nil)
			}
		}
		p, ctx := w.process(w.t.Context(), "planner", f)
		pl, tr := w.planner(p)
		res, err := pl.Plan(ctx, patra.InstantOf(time.Now().Add(jump)), req)
		p.stop()
		tr.CloseIdleConnections()
		if res != nil && res.Plan.ID != 0 {
			if jump != 0 {
				w.jumped[res.Plan.ID] = true
			}
			if req.Operation == "" && res.Plan.CursorID != 0 {
				w.cursor = res.Plan.CursorID
			}
		}
		if err == nil {
			return
		}
		w.log.Info("planning failed", "reason", err.Error())
		w.note("planning-failed", nil)
		time.Sleep(time.Minute)
	}
}

// drawFate draws what befalls a process within its first calls.
func drawFate(d *rand.Rand, kill, pause float64, calls int) fate {
	at, after, r, long := 1+d.IntN(calls), d.IntN(2) == 0, d.Float64(), d.IntN(600)
	switch {
	case r < kill:
		return fate{at: at, after: after}
	case r < kill+pause:
		return fate{at: at, after: after, pause: time.Duration(20+long) * time.Second}
	}
	return fate{}
}

// gate is the gate of one process.
func (w *world) gate(s *store.Store) executor.Gate {
	if w.wrong.gate != nil {
		return w.wrong.gate(w, s)
	}
	return gate.NewShared(s, gate.WithLedger(s, func(op patra.Operation) float64 { return patra.QuotaShare(op, 0.5) }))
}

// work lets the fleet work until nothing is left to do, or for three hours. Whoever is killed gets a successor.
func (w *world) work(n int, calm bool) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Hour)
	defer cancel()
	var fleet sync.WaitGroup
	for slot := range executors {
		fleet.Go(func() {
			d := w.dice(n, diceFleet+uint64(slot))
			time.Sleep(time.Duration(d.IntN(5000)) * time.Millisecond)
			for life := 0; ctx.Err() == nil; life++ {
				var f fate
				if !calm && life < 3 {
					f = drawFate(d, 0.15, cmp.Or(w.wrong.pause, 0.12), 60)
				}
				if !w.executor(ctx, d, slot, f) {
					return
				}
				time.Sleep(time.Duration(1+d.IntN(90)) * time.Second)
			}
		})
	}
	tended := make(chan struct{})
	go func() {
		defer close(tended)
		w.tend(ctx)
	}()
	fleet.Wait()
	cancel()
	<-tended
}

// workOff lets the fleet work until nothing is left to do, however much there is: at the end of a year that can be a third of
// all its windows, and then all of them. A quota may permit only a part of that in a day.
func (w *world) workOff(n int) {
	for until := time.Now().Add(60 * day); time.Now().Before(until); time.Sleep(time.Hour) {
		w.tendOnce(w.t.Context())
		w.work(n, true)
		if w.open()+w.count(`SELECT COUNT(*) FROM ing_plan WHERE status_code IN ('PARTIAL', 'DRAFT', 'SLICING')`) == 0 {
			return
		}
	}
}

// executor is one life of an executor; it tells whether it was killed.
func (w *world) executor(ctx context.Context, d *rand.Rand, slot int, f fate) bool {
	p, ctx := w.process(ctx, fmt.Sprint("executor ", slot), f)
	defer p.stop()
	s := w.stores[slot]
	tr, client := w.client(p)
	defer tr.CloseIdleConnections()
	strain := patra.DefaultWalkLimits()
	if d.IntN(3) == 0 {
		strain.Pages = 3 // so that slices are left before their end, and cut
	}
	x := &executor.Executor{
		Store: doors{s, p}, Controls: doors{s, p}, Gate: turnstile{w.gate(s), p}, Client: client, Log: w.log,
		Config: executor.Config{Owner: store.NewOwner(), Workers: workersEach, Lease: leaseTime, Heartbeat: 20 * time.Second, Poll: 15 * time.Second, Grace: time.Second, Prefetch: d.IntN(2) == 0,
			Memory: 1 << 28, Strain: strain, Vars: vars, Outlast: true},
		Done: func(context.Context) (bool, error) { return w.open() == 0, nil },
	}
	if err := x.Run(ctx); err != nil && !p.gone() {
		w.note("executor-failed", nil)
		w.log.Info("an executor ended", "reason", err.Error())
		return true
	}
	return p.gone()
}

// open is how much there is left to do.
func (w *world) open() int64 {
	return w.count(`SELECT (SELECT COUNT(*) FROM ing_task WHERE status_code IN ('QUEUED', 'RUNNING')) + (SELECT COUNT(*) FROM ing_plan_slice WHERE status_code = 'PARTIAL')`)
}

// tend looks after plans while the fleet works.
func (w *world) tend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
		}
		w.tendOnce(ctx)
	}
}

func (w *world) tendOnce(ctx context.Context) {
	p, ctx := w.process(ctx, "tender", fate{})
	defer p.stop()
	pl, tr := w.planner(p)
	defer tr.CloseIdleConnections()
	if err := pl.ContinueAll(ctx, patra.InstantOf(time.Now())); err != nil {
		w.log.Info("tending failed", "reason", err.Error())
	}
}

// publish lets a relay send what has happened.
func (w *world) publish(n int, calm bool) {
	d := w.dice(n, diceRelay)
	w.sink.weather(d, calm)
	for range 3 {
		var f fate
		if !calm {
			f = drawFate(d, 0.15, 0.05, 12)
		}
		p, ctx := w.process(w.t.Context(), "relay", f)
		r := &relay.Relay{Store: doors{w.stores[len(w.stores)-2], p}, Log: w.log, Config: relay.Config{Owner: store.NewOwner(), Lease: 30 * time.Second, Poll: time.Second, Batch: 20, Once: true},
			Sinks: []relay.Sink{{Name: "memory", Filter: patra.EventFilter{Types: []string{"record.*"}}, Open: func(context.Context) (relay.Publisher, error) { return w.wrong.publisher(outlet{w.sink, p}), nil }}}}
		err := r.Run(ctx)
		p.stop()
		if err == nil && !p.gone() {
			return
		}
		time.Sleep(time.Minute)
	}
}

// finish is the end of the story: people put into dispute what they doubt, what is in dispute is read again, and then what
// nobody could have seen in time.
func (w *world) finish(n int) {
	calm := w.dice(n, dicePlanner)
	w.doubt(calm)
	w.plan(calm, true, planner.Request{Fill: &planner.Fill{CursorID: w.cursor, Disputed: true}})
	w.workOff(n)
	w.publish(n, true)
	w.judge.session(n, true)
	w.judge.ended()
	from, to, again := patra.InstantOf(w.start.Add(-2*day)), patra.InstantOf(w.judge.horizon()), time.Now()
	w.plan(calm, true, planner.Request{From: &from, To: &to, Force: true})
	w.workOff(n + 1)
	w.publish(n+1, true)
	w.judge.session(n+1, true)
	w.judge.reconciled(again)
}

// doubt puts a third of what the harvest has read into dispute, as somebody does who has counted again. Most disputes of
// the days before are gone by now, because the look-back has read those windows once more.
func (w *world) doubt(d *rand.Rand) {
	s := w.stores[len(w.stores)-1]
	answers, err := s.CoverageEntries(w.t.Context(), w.cursor)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, sp := range patra.EffectiveEntries(answers) {
		if d.IntN(3) > 0 || sp.State != patra.StateSealed {
			continue
		}
		counted := sp.IDsSeen + 1
		why := patra.CoverageNote{At: patra.InstantOf(time.Now()), By: "somebody", From: sp.State, To: patra.StateDisputed, Reason: "counted again", Counted: &counted}
		if err := s.ResolveDispute(w.t.Context(), w.cursor, []int64{sp.ID}, why); err != nil {
			w.t.Fatal(err)
		}
		w.note("disputed", nil)
	}
}

func (w *world) count(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.db.QueryRow(query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%v in %s", err, query)
	}
	return n
}

func (w *world) outcome() outcome {
	f := figures{sessions: w.judge.sessions, requests: w.provider.Stats().Requests, records: w.count(`SELECT COUNT(*) FROM ing_record`), updated: w.count(`SELECT COUNT(*) FROM ing_record WHERE rev > 1`),
		events: int64(len(w.sink.got)), quarantined: w.count(`SELECT COUNT(DISTINCT provider_id) FROM ing_quarantine`), runs: w.count(`SELECT COUNT(*) FROM ing_task_run`), faults: w.provider.Stats().Faults}
	if f.faults == nil {
		f.faults = map[string]int64{}
	}
	f.faults["moves"] = w.provider.Stats().Moves
	for k, v := range w.notes {
		f.faults[k] = v
	}
	return outcome{seed: w.seed, profile: w.profile.name, poison: w.profile.poison, days: w.days, findings: w.judge.findings, figures: f}
}

// accessLog is the provider's log in memory.
type accessLog struct {
	mu      sync.Mutex
	entries []sim.Entry
}

// Write implements io.Writer.
func (l *accessLog) Write(line []byte) (int, error) {
	var e sim.Entry
	if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return len(line), nil
}

// since gives the entries from some place on.
func (l *accessLog) since(n int) []sim.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sim.Entry(nil), l.entries[n:]...)
}
