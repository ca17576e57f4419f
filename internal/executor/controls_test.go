package executor_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
	"patra/sources"
)

// counter sees every request before the provider does.
type counter struct {
	mu   sync.Mutex
	sent []time.Time
}

func (c *counter) add() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, time.Now())
	return len(c.sent)
}

func (c *counter) n() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sent)
}

func healings(t *testing.T, s *store.Store) map[string]int {
	t.Helper()
	all, err := s.Healings(t.Context(), "", 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, h := range all {
		n[h.Action]++
	}
	return n
}

// A provider is gone for ten minutes. Four workers notice, stop all at once, and one request after each cooldown tries
// whether it is back. Then everything is read, and no task has failed.
func TestAnOutageIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, gone = 4, 10 * time.Minute
		began := time.Now()
		var seen counter
		b := newBubbleOf(t, 6, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := seen.add()
				if time.Since(began) < gone {
					if n > 4 { // whoever tries does not sit on its task for as long as that
						w.Header().Set("Retry-After", "120") // which holds for everybody
					}
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
		told := map[string]int{}
		var mu sync.Mutex
		x := b.executor(nil)
		x.Config.Workers, x.Controls = workers, b.Store
		x.Observe = func(e executor.Event) {
			mu.Lock()
			defer mu.Unlock()
			told[nameOf(e)]++
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 40*time.Minute {
			t.Errorf("it took %s", took)
		}
		var during []time.Duration
		for _, at := range seen.sent {
			if at.Sub(began) < gone {
				during = append(during, at.Sub(began))
			}
		}
		var tries []time.Duration
		for _, at := range during {
			if at > 30*time.Second {
				tries = append(tries, at)
			}
		}
		if first := len(during) - len(tries); first > 2*workers {
			t.Errorf("%d requests before everybody knew: %v", first, during)
		}
		if len(tries) == 0 || len(tries) > 4 {
			t.Errorf("tries at %v", tries)
		}
		for i := 1; i < len(tries); i++ {
			if tries[i]-tries[i-1] < time.Minute {
				t.Errorf("tries at %v", tries)
			}
		}
		healed := healings(t, b.Store)
		if healed[patra.HealOpen] != len(tries) || healed[patra.HealHalfOpen] != len(tries) || healed[patra.HealClose] != 1 {
			t.Errorf("healed %v after %d tries", healed, len(tries))
		}
		if told[patra.HealOpen] != healed[patra.HealOpen] || told[patra.HealHalfOpen] != healed[patra.HealHalfOpen] || told[patra.HealClose] != 1 || told[executor.EventHeld] == 0 {
			t.Errorf("told %v, healed %v", told, healed)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 6*60 {
			t.Errorf("%d records, %v", n, err)
		}
		tasks, err := b.Tasks(t.Context(), store.Filter{})
		for _, task := range tasks {
			if err != nil || task.Status != patra.Succeeded || task.Attempts > 2 {
				t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
			}
		}
	})
}

// A task that cannot succeed, and that is alone, looks like an outage. It is tried with patience, and not for ever.
func TestALoneTaskThatCannotSucceedFailsInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var seen counter
		b := newBubbleWith(t, 1, sim.Quota{}, patra.Harvest, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				seen.add()
				w.WriteHeader(http.StatusInternalServerError)
			})
		}, "initial: 500ms, max: 30s", "initial: 500ms, max: 30s")
		x := b.executor(nil)
		x.Controls = b.Store
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if took < 15*time.Minute || took > 3*time.Hour || seen.n() > 16 {
			t.Errorf("it took %s and %d requests", took, seen.n())
		}
		tasks, err := b.Tasks(t.Context(), store.Filter{})
		if err != nil || tasks[0].Status != patra.Failed || tasks[0].Attempts != 3 {
			t.Errorf("%+v, %v", tasks, err)
		}
	})
}

// twoEndpoints is the shipped source with a second way to the same records.
func twoEndpoints(t *testing.T) *source.File {
	t.Helper()
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(politeRate, "perSecond: 100000, burst: 1000", "initial: 500ms, max: 30s", "initial: 1ms, max: 2ms", "pageSize: 200", "pageSize: 50").Replace(string(data))
	from := strings.Index(text, "  works:\n")
	rest := strings.Index(text, "\n  # One work by its DOI") // and what follows stays as it is
	block := text[from:rest]
	second := strings.NewReplacer("  works:\n", "  again:\n", "order: asc}}", "order: asc}, headers: {X-Endpoint: again}}").Replace(block)
	f, err := source.Load("crossref.yaml", []byte(text[:from]+strings.Replace(block, "role: SEARCH", "role: SEARCH\n    default: true", 1)+"\n"+second+text[rest:]))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stopWhenHeld ends a run when all that is left waits for a person.
func (h *harness) stopWhenHeld(x *executor.Executor, at patra.WorkScope) {
	x.Done = func(ctx context.Context) (bool, error) {
		hold, err := h.store.PeekAdmission(ctx, at)
		if err != nil {
			return false, err
		}
		running, err := h.store.Tasks(ctx, store.Filter{Status: patra.Running})
		if err != nil || len(running) > 0 {
			return false, err
		}
		work, err := h.store.Tasks(ctx, store.Filter{Status: patra.Queued})
		for _, task := range work {
			if task.Endpoint != at.Endpoint || hold.Allowed() {
				return false, err
			}
		}
		return true, err
	}
}

func TestARefusalHaltsTheEndpointAndNoOther(t *testing.T) {
	const workers = 4
	var refuse atomic.Bool
	var after, others atomic.Int64
	refuse.Store(true)
	var first atomic.Bool
	wrap := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Endpoint") == "again" {
				others.Add(1)
				next.ServeHTTP(w, r)
				return
			}
			if refuse.Load() {
				if !first.CompareAndSwap(false, true) {
					after.Add(1)
				}
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	file := twoEndpoints(t)
	h := newHarness(t, sim.Config{Seed: 1, PerDay: 200}, wrap, file)
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	p := &planner.Planner{Store: h.store, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	req := planner.Request{Source: file, Basis: patra.BasisCertified, Endpoint: "again", Contact: "t@example.org", From: &start, To: &end, BaseURL: h.base}
	again, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), req)
	if err != nil {
		t.Fatal(err)
	}
	at := h.plan.Plan.WorkScope()
	x := h.executor(workers)
	x.Config.CursorID, x.Controls = 0, h.store
	h.stopWhenHeld(x, at)
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := after.Load(); n > workers+1 {
		t.Errorf("%d requests after the first refusal", n)
	}
	states, err := h.store.SliceStates(t.Context(), again.Plan.CursorID)
	if err != nil || states[patra.Succeeded] != 4 || others.Load() == 0 {
		t.Errorf("the other endpoint did not go on: %v, %v", states, err)
	}
	if h.events[patra.HealHalt] != 1 || healings(t, h.store)[patra.HealHalt] != 1 {
		t.Errorf("events %v", h.events)
	}
	// Nothing more is planned there, and whoever asks is told why.
	req.Endpoint, req.Force = "works", true
	if _, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), req); err == nil || !strings.Contains(err.Error(), "patra resume crossref/works") {
		t.Errorf("planned all the same: %v", err)
	}
	triggers, err := h.store.Triggers(t.Context(), store.Filter{Status: patra.Rejected})
	if err != nil || len(triggers) != 1 {
		t.Errorf("%d triggers were refused, %v", len(triggers), err)
	}
	// A person mends it.
	refuse.Store(false)
	done, err := h.store.Resume(t.Context(), at.EndpointTarget(), "a new key", "me")
	if err != nil || done.Revived == 0 {
		t.Errorf("resumed %+v, %v", done, err)
	}
	x = h.executor(workers)
	x.Controls = h.store
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}

// A pause in the middle of everything: no request is sent after it but those that were on their way. Then all goes on
// where it was.
func TestAPauseStopsAtTheNextPage(t *testing.T) {
	for _, text := range []string{"crossref", "crossref/works", "crossref/*/HARVEST", "plan:1", "cursor:1"} {
		t.Run(text, func(t *testing.T) {
			const workers = 4
			target, err := patra.ParseTarget(text)
			if err != nil {
				t.Fatal(err)
			}
			var seen counter
			h := newHarness(t, sim.Config{Seed: 1}, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					seen.add()
					next.ServeHTTP(w, r)
				})
			}, fast(t))
			x := h.executor(workers)
			x.Controls = h.store
			var once sync.Once
			announced := 0
			observe := x.Observe
			x.Observe = func(e executor.Event) {
				observe(e)
				if e.Kind != executor.EventPage {
					return
				}
				once.Do(func() {
					if _, err := h.store.Pause(t.Context(), target, "", "me"); err != nil {
						t.Error(err)
					}
					pages, err := h.store.Batches(t.Context(), store.Filter{Limit: 1000})
					if err != nil {
						t.Error(err)
					}
					announced = len(pages)
				})
			}
			h.stopWhenHeld(x, h.plan.Plan.WorkScope())
			if text == "plan:1" || text == "cursor:1" { // whose tasks are parked
				x.Done = func(ctx context.Context) (bool, error) {
					n, _, err := h.store.ActiveTasks(ctx, target)
					return n == 0, err
				}
			}
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			// A page is announced before it is asked whether it may be asked for: one that was not announced by then is never asked for.
			if n := seen.n(); announced == 0 || n > announced {
				t.Errorf("%d requests, and %d were announced when it was paused", n, announced)
			}
			tasks, err := h.store.Tasks(t.Context(), store.Filter{})
			for _, task := range tasks {
				if err != nil || (task.Status == patra.Queued && task.Attempts != 0) || task.Status == patra.Running {
					t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
				}
			}
			if _, err := h.store.Resume(t.Context(), target, "", "me"); err != nil {
				t.Fatal(err)
			}
			x = h.executor(workers)
			x.Controls = h.store
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.exact()
			h.complete()
		})
	}
}

func TestATaskThatIsCalledOffSendsNothingMore(t *testing.T) {
	var seen counter
	h := newHarness(t, sim.Config{Seed: 1}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen.add()
			next.ServeHTTP(w, r)
		})
	}, fast(t))
	plan := patra.WorkTarget(patra.ScopePlan, h.plan.Plan.ID)
	x := h.executor(1)
	x.Controls = h.store
	observe := x.Observe
	x.Observe = func(e executor.Event) {
		observe(e)
		if e.Kind == executor.EventPage && seen.n() <= 2 && h.events[executor.EventPage] == 1 {
			if st, err := h.store.Cancel(t.Context(), plan, "", "me"); err != nil || st.Ended != 3 || st.Running != 1 {
				t.Errorf("cancelled %+v, %v", st, err)
			}
		}
	}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	states, err := h.store.SliceStates(t.Context(), h.plan.Plan.CursorID)
	if err != nil || states[patra.Cancelled] != 4 || seen.n() > 2 || // the page, and the one that was on its way
		h.events[executor.EventCancelled] != 1 {
		t.Errorf("slices %v after %d requests, events %v, %v", states, seen.n(), h.events, err)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, h.url))
	if st, err := h.store.RetryTarget(t.Context(), plan, "", "me"); err != nil || st.Revived != 4 {
		t.Errorf("retried %+v, %v", st, err)
	}
	x = h.executor(4)
	x.Controls = h.store
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}

// Somebody calls tasks off and takes them up again while four workers are at them. Whatever meets whatever, slice and task
// agree at every end, and in the end everything is there.
func TestCallingOffRacesWithWork(t *testing.T) {
	h := newHarness(t, sim.Config{Seed: 1, Faults: sim.Faults{ServerError: 0.05}}, nil, fast(t, "\n  retry:", "\n  breaker: {failures: 1000}\n  retry:"))
	x := h.executor(4)
	x.Controls = h.store
	ctx, stop := context.WithCancel(t.Context())
	x.Done = nil
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	tasks, err := h.store.Tasks(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		at := patra.WorkTarget(patra.ScopeTask, tasks[i%len(tasks)].ID)
		if _, err := h.store.Cancel(t.Context(), at, "", "me"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.RetryTarget(t.Context(), at, "", "me"); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	storetest.CheckInvariants(t, storetest.Inspect(t, h.url))
	if _, err := h.store.RetryTarget(t.Context(), patra.WorkTarget(patra.ScopePlan, h.plan.Plan.ID), "", "me"); err != nil {
		t.Fatal(err)
	}
	x = h.executor(4)
	x.Controls = h.store
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.exact()
	h.complete()
}

func TestRefusalsLowerTheLimit(t *testing.T) {
	var seen counter
	h := newHarness(t, sim.Config{Seed: 1}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seen.add() <= patra.RefusalsEnough {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		})
	}, fast(t))
	x := h.executor(4)
	x.Controls = h.store
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	controls, err := h.store.Controls(t.Context())
	if err != nil || len(controls) != 1 || controls[0].Detail.Limit != 3 || controls[0].Detail.Of != 4 || controls[0].Reason != patra.DownRefused {
		t.Errorf("in force: %+v, %v", controls, err)
	}
	if n := healings(t, h.store); n[patra.HealCooldown] != patra.RefusalsEnough || n[patra.HealDownshift] != 1 || h.events[patra.HealDownshift] != 1 {
		t.Errorf("healed %v, events %v", n, h.events)
	}
	h.exact()
	h.complete()
}

// A provider that becomes slow is asked by fewer at once, and by all again when it is quick.
func TestSlowAnswersLowerTheLimitAndQuickOnesLiftIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		var seen counter
		b := newBubbleOf(t, 80, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := now.Add(1)
				defer now.Add(-1)
				if k := seen.add(); k > 60 && k < 70 {
					most.Store(max(most.Load(), n))
				}
				wait := 5 * time.Second
				if seen.n() > 70 {
					wait = 2 * time.Second
				}
				<-time.After(wait)
				next.ServeHTTP(w, r)
			})
		})
		x := b.executor(nil)
		x.Config.Workers, x.Controls = 4, b.Store
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		healed := healings(t, b.Store)
		if healed[patra.HealDownshift] == 0 || healed[patra.HealUpshift] == 0 {
			t.Errorf("healed %v", healed)
		}
		if n := most.Load(); n > 3 {
			t.Errorf("%d asked at once", n)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 80*60 {
			t.Errorf("%d records, %v", n, err)
		}
	})
}

// nameOf is what an event is about: what was done to go on has the name of its row.
func nameOf(e executor.Event) string {
	if e.Healing != nil {
		return e.Healing.Action
	}
	return e.Kind
}
