package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
)

// pipeClient talks to a handler through in-memory connections, so that simulated time can pass.
func pipeClient(t *testing.T, h http.Handler) *http.Client {
	wire, server := sim.Listen(h)
	transport := &http.Transport{DialContext: wire.Dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return &http.Client{Transport: transport}
}

// bubble is a store in memory, a provider and a plan, all in simulated time.
type bubble struct {
	*store.Store
	plan   *planner.Result
	client *http.Client

	file     *source.File
	provider *sim.Server
	window   patra.Window
}

func newBubble(t *testing.T, wrap func(http.Handler) http.Handler) *bubble {
	t.Helper()
	return newBubbleOf(t, 2, wrap)
}

// newBubbleOf has a task for each of some days.
func newBubbleOf(t *testing.T, days int, wrap func(http.Handler) http.Handler) *bubble {
	t.Helper()
	return newBubbleWith(t, days, sim.Quota{}, patra.Harvest, wrap)
}

// newBubbleWith has a provider with a quota, and a plan of one operation.
func newBubbleWith(t *testing.T, days int, quota sim.Quota, op patra.Operation, wrap func(http.Handler) http.Handler, change ...string) *bubble {
	t.Helper()
	return newBubbleIn(t, "sqlite::memory:", time.Now, days, quota, op, wrap, change...)
}

// newBubbleIn has a store at an address, with a clock of its own.
func newBubbleIn(t *testing.T, dbURL string, clock func() time.Time, days int, quota sim.Quota, op patra.Operation, wrap func(http.Handler) http.Handler, change ...string) *bubble {
	t.Helper()
	s, err := store.Open(t.Context(), dbURL, store.WithClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := patra.Date(1999, 12, 22)
	start := end - patra.Instant(days)*patra.Day // bubbles begin at the turn of the year 2000
	provider := sim.New(sim.Config{Seed: 5, From: start.Time(), To: end.Time(), PerDay: 60, Exact: true, Quota: quota})
	file := fast(t, append(change, "earliest: 2002-07-25", "earliest: 1990-01-01")...)
	p := &planner.Planner{Store: s, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour, BackfillShare: 0.5}}
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Operation: op, Contact: "t@example.org", From: &start, To: &end, BaseURL: "http://provider"})
	if err != nil {
		t.Fatal(err)
	}
	return &bubble{Store: s, plan: plan, client: pipeClient(t, wrap(provider.Handler())), file: file, provider: provider, window: patra.Window{From: start, To: end}}
}

func (b *bubble) executor(events chan<- string) *executor.Executor {
	return &executor.Executor{
		Store: b, Gate: gate.NewLocal(), Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return b.client },
		Config: executor.Config{Owner: store.NewOwner(), Workers: 1, Lease: time.Minute, Heartbeat: 20 * time.Second, Poll: time.Second, Grace: time.Second, Prefetch: true, Memory: 1 << 30, Strain: patra.DefaultWalkLimits()},
		Observe: func(e executor.Event) {
			if events != nil {
				events <- e.Kind
			}
		},
		Done: func(ctx context.Context) (bool, error) {
			states, err := b.SliceStates(ctx, b.plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		},
	}
}

// A request that takes far longer than the lease: heartbeats keep it, and nobody takes over.
func TestHeartbeatsCarryALongRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first atomic.Bool
		b := newBubble(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if first.CompareAndSwap(false, true) {
					<-time.After(10 * time.Minute)
				}
				next.ServeHTTP(w, r)
			})
		})
		began := time.Now()
		x := b.executor(nil)
		x.Config.Workers = 2 // the idle one would take over
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < 10*time.Minute {
			t.Error("the slow request was not waited for")
		}
		runs, err := b.Runs(t.Context(), store.Filter{})
		if err != nil || len(runs) != 2 {
			t.Errorf("%d runs for 2 tasks, %v", len(runs), err)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 120 {
			t.Errorf("%d records, %v", n, err)
		}
	})
}

// frozen is a store whose heartbeats do not arrive, as when a process is paused: its owner does not notice.
type frozen struct{ *store.Store }

func (frozen) Heartbeat(context.Context, patra.Lease) error { return nil }

// A worker sleeps through its lease in the middle of a page, another takes the task over and finishes it; when the
// sleeper wakes it can commit nothing, and says so.
func TestSleeperCannotCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asleep := make(chan struct{})
		wake := make(chan struct{})
		var first atomic.Bool
		b := newBubble(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if first.CompareAndSwap(false, true) {
					close(asleep)
					<-wake
				}
				next.ServeHTTP(w, r)
			})
		})
		events := make(chan string, 1000)
		sleeper := b.executor(events)
		sleeper.Store = frozen{b.Store}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- sleeper.Run(ctx) }()
		<-asleep
		if err := b.executor(nil).Run(t.Context()); err != nil { // waits for the lease to run out, then does everything
			t.Fatal(err)
		}
		cursor, err := b.Cursors(t.Context(), store.Filter{})
		if err != nil || cursor[0].Value != patra.Date(1999, 12, 22) {
			t.Fatalf("cursor %+v, %v", cursor, err)
		}
		before, err := b.Batches(t.Context(), store.Filter{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		close(wake)
		for kind := range events {
			if kind == executor.EventLost {
				break
			}
			t.Fatalf("the sleeper did something: %s", kind)
		}
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		after, err := b.Batches(t.Context(), store.Filter{Limit: 1000})
		if err != nil || len(after) != len(before) {
			t.Errorf("the ledger grew from %d to %d rows, %v", len(before), len(after), err)
		}
	})
}
