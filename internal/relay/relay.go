package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"patra"
)

// Store is what a relay needs of the tables.
type Store interface {
	AssignSequence(ctx context.Context) (n int, last int64, err error)
	EnsureSink(ctx context.Context, sink string, fromNow bool) error
	// AcquireLease, RenewLease and ReleaseLease are the lease. RenewLease and MarkSent fail with patra.ErrLeaseLost when somebody
	// else has the role.
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (patra.LeaderLease, bool, error)
	RenewLease(ctx context.Context, r patra.LeaderLease) error
	ReleaseLease(ctx context.Context, r patra.LeaderLease) error
	EventsAfter(ctx context.Context, position int64, limit, size int) ([]patra.Event, error)
	EventsOf(ctx context.Context, seqs []int64) ([]patra.Event, error)
	DueDeliveries(ctx context.Context, sink string, limit int) ([]patra.Delivery, error)
	PendingDeliveries(ctx context.Context, sink string, keys []string) (int64, map[string]bool, error)
	MarkSent(ctx context.Context, r *patra.LeaderLease, sink string, sent patra.DeliveryResult) error
}

// Sink is where events go.
type Sink struct {
	Name    string
	Filter  patra.EventFilter
	FromNow bool // a sink that is seen for the first time gets only what happens from then on
	// Open makes the way to the sink. It is called once in each term, after the role was taken.
	Open func(ctx context.Context) (Publisher, error)
}

// Progress is what became of one attempt to send.
type Progress struct {
	Sink              string
	Published, Failed int
	Aside             int
	Lag               int64
	Err               error // of an attempt with which nothing arrived
}

// Config sets how events are sent. A zero value takes the default.
type Config struct {
	Owner    string        // of this process, and of no other
	Lease    time.Duration // for which a process that gives no sign of life keeps the role
	Poll     time.Duration // between looks when there is nothing to do
	Batch    int           // events in hand
	Size     int           // and how many bytes they have at most, if it is more than one
	Attempts int64         // for an event, before it is set aside
	Waiting  int64         // events that may wait; with more the sink gets no new ones
	Grace    time.Duration // for what is on its way when the process is told to stop
	Once     bool          // end when nothing is left
}

func (c Config) filled() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&c.Lease, 30*time.Second)
	set(&c.Poll, time.Second)
	set(&c.Grace, 10*time.Second)
	if c.Batch == 0 {
		c.Batch = 100
	}
	if c.Size == 0 {
		c.Size = 4 << 20
	}
	if c.Attempts == 0 {
		c.Attempts = 10
	}
	if c.Waiting == 0 {
		c.Waiting = 10_000
	}
	return c
}

// Relay sends the events of a store to its sinks.
type Relay struct {
	Store   Store
	Sinks   []Sink
	Config  Config
	Log     *slog.Logger
	Observe func(Progress) // may be nil; called from several goroutines
	Tracer  trace.Tracer   // nil: nothing is traced
	Guard   func()         // deferred by every goroutine, to catch what breaks it; nil: nobody does
}

// ErrDown means that a sink does not answer, and that whoever waits should not wait any longer.
var ErrDown = errors.New("the sink does not answer")

// ErrElsewhere means that another process sends to the sink.
var ErrElsewhere = errors.New("another process sends to it, or was killed and its lease is not over yet")

// patience is with how many failures in a row a relay that is to end gives up.
const patience = 4

// Run sends until ctx ends, or with Once until nothing is left. Being told to stop is a good end: what is on its way is
// waited for, written down, and the roles are given back.
func (r *Relay) Run(ctx context.Context) error {
	cfg := r.Config.filled()
	group, inner := errgroup.WithContext(ctx)
	if cfg.Once { // one sink that is away does not keep events from the others
		group, inner = &errgroup.Group{}, ctx
	}
	for _, sink := range r.Sinks {
		group.Go(func() error {
			if r.Guard != nil {
				defer r.Guard()
			}
			if err := r.serve(inner, cfg, sink); err != nil {
				return fmt.Errorf("sink %s: %w", sink.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// serve takes the role of a sink whenever it can be had.
func (r *Relay) serve(ctx context.Context, cfg Config, sink Sink) error {
	for failures := int64(0); ctx.Err() == nil; {
		role, ok, err := r.acquire(ctx, cfg, sink)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && cfg.Once:
			return err
		case err != nil:
			failures++
			r.Log.Log(ctx, logLevel(err), "the role of a sink could not be taken", "sink", sink.Name, "reason", err.Error())
			rest(ctx, min(pause(failures, rand.Float64()), longRest))
			continue
		case !ok && cfg.Once:
			return ErrElsewhere
		case !ok:
			rest(ctx, cfg.Lease/4)
			continue
		}
		failures = 0
		r.Log.Info("a sink is sent to from here", "sink", sink.Name, "owner", cfg.Owner, "after", role.Position)
		t := &leaderTerm{Relay: r, cfg: cfg, sink: sink, role: role}
		switch err := t.run(ctx); {
		case errors.Is(err, patra.ErrLeaseLost):
			r.Log.Warn("another process has taken over", "sink", sink.Name)
		case err != nil && ctx.Err() == nil && !cfg.Once:
			r.Log.Log(ctx, logLevel(err), "sending to a sink was interrupted", "sink", sink.Name, "reason", err.Error())
			rest(ctx, cfg.Poll)
		default:
			return err
		}
	}
	return nil
}

// longRest is how long a store that is away is left alone at most: the events wait for it and not for a sink.
const longRest = 10 * time.Second

// logLevel is how grave an error is. That the store is away is said by itself, once for all who notice.
func logLevel(err error) slog.Level {
	if errors.Is(err, patra.ErrUnavailable) {
		return slog.LevelDebug
	}
	return slog.LevelError
}

func (r *Relay) acquire(ctx context.Context, cfg Config, sink Sink) (patra.LeaderLease, bool, error) {
	if err := r.Store.EnsureSink(ctx, sink.Name, sink.FromNow); err != nil {
		return patra.LeaderLease{}, false, err
	}
	return r.Store.AcquireLease(ctx, patra.RelayLease(sink.Name), cfg.Owner, cfg.Lease)
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
