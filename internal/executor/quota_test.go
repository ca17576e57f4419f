package executor_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/gate"
	"patra/internal/planner"
	"patra/internal/query"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
)

func plainly(h http.Handler) http.Handler { return h }

// metered is a gate whose quotas are counted in a store.
func metered(s *store.Store) *gate.Local {
	return gate.NewLocal(gate.WithLedger(s, func(op patra.Operation) float64 { return patra.QuotaShare(op, 0.5) }))
}

// quotaUsed is the most that the ledger has of a key in any window that has not ended, and how long ago that began.
func quotaUsed(t *testing.T, s *store.Store, key string) (most int64) {
	t.Helper()
	all, err := s.QuotaOf(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		most = max(most, u.Used)
	}
	return most
}

// A harvest needs more than an hour's quota. It stops when that is used up, without a failed attempt, waits until the
// provider's hour is over by any clock that it may have, and goes on by itself. The provider, whose clock is off, never
// has to refuse a request.
func TestAHarvestWaitsForTheQuota(t *testing.T) {
	for _, off := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const hourly, workers = 8, 3
				var seen counter
				b := newBubbleWith(t, 6, sim.Quota{Limit: hourly, Every: time.Hour, Ahead: off}, patra.Harvest, func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						seen.add()
						next.ServeHTTP(w, r)
					})
				}, "rate: {perSecond: 3, burst: 3", "rate: {perSecond: 100000, burst: 1000, quota: {hourly: 8, reserve: 0%}")
				began := time.Now()
				x := b.executor(nil)
				x.Gate, x.Controls, x.Config.Workers, x.Config.Poll = metered(b.Store), b.Store, workers, time.Minute
				if err := x.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 6*60 {
					t.Errorf("%d records, %v", n, err)
				}
				stats := b.provider.Stats()
				if stats.OverQuota > 0 || stats.QuotaUsed > hourly || stats.QuotaUsed <= hourly-workers {
					t.Errorf("the provider saw %d in an hour and refused %d", stats.QuotaUsed, stats.OverQuota)
				}
				hours := map[time.Duration]int{}
				for _, at := range seen.sent {
					hours[at.Sub(began).Truncate(time.Hour)]++
					if since := at.Sub(began) % time.Hour; at.Sub(began) > 10*time.Minute && (since < 5*time.Minute || since > 20*time.Minute) {
						t.Errorf("a request at %s, which is too early or too late", at.UTC())
					}
				}
				if least := (len(seen.sent) + hourly - 1) / hourly; len(hours) < least || len(hours) > least+1 { // what a run had paid for when another found the end is lost
					t.Errorf("%d requests in %d hours: %v", len(seen.sent), len(hours), hours)
				}
				tasks, err := b.Tasks(t.Context(), store.Filter{})
				for _, task := range tasks {
					if err != nil || task.Status != patra.Succeeded || task.Attempts != 1 {
						t.Errorf("task %d is %s after %d attempts, %v", task.ID, task.Status, task.Attempts, err)
					}
				}
				if healed := healings(t, b.Store)[patra.HealQuota]; healed != len(hours)-1 {
					t.Errorf("told %d times in %d hours", healed, len(hours))
				}
				if runs, err := b.Runs(t.Context(), store.Filter{Limit: 1000}); err != nil || len(runs) > 6+2*workers*len(hours) { // and not each task again and again
					t.Errorf("%d runs, %v", len(runs), err)
				}
			})
		})
	}
}

// History has used up its share of the day; it waits, and a harvest goes on.
func TestHistoryLeavesTheRestOfTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b := newBubbleWith(t, 8, sim.Quota{Limit: 20}, patra.Backfill, plainly, "rate: {perSecond: 3, burst: 3", "rate: {perSecond: 100000, burst: 1000, quota: {daily: 20, reserve: 0%}")
		x := b.executor(nil)
		x.Gate, x.Controls, x.Config.Poll = metered(b.Store), b.Store, time.Minute
		x.Done = func(ctx context.Context) (bool, error) {
			all, err := b.Controls(ctx)
			return len(all) > 0, err
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := b.provider.Stats().QuotaUsed; n != 10 {
			t.Errorf("history used %d of 20", n)
		}
		all, err := b.Controls(t.Context())
		if err != nil || len(all) != 1 || all[0].String() != "crossref/*/BACKFILL" || all[0].State != patra.UsedUp || all[0].Until != patra.InstantOf(began.Add(24*time.Hour+5*time.Minute)) {
			t.Errorf("%+v, %v", all, err)
		}
		from := b.window.To - 2*patra.Day
		p := &planner.Planner{Store: b.Store, Config: planner.Config{TaskAttempts: 3, Target: 10_000, MaxPages: 2000, MinStep: time.Hour, BackfillShare: 0.5}}
		plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: b.file, Contact: "t@example.org", From: &from, To: &b.window.To, BaseURL: "http://provider"})
		if err != nil || plan.Added == 0 {
			t.Fatalf("%+v, %v", plan, err)
		}
		x.Done = func(ctx context.Context) (bool, error) {
			states, err := b.SliceStates(ctx, plan.Plan.CursorID)
			return states[patra.Ready] == 0, err
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		states, err := b.SliceStates(t.Context(), plan.Plan.CursorID)
		if stats := b.provider.Stats(); err != nil || states[patra.Succeeded] == 0 || stats.QuotaUsed <= 10 || stats.OverQuota > 0 || time.Since(began) > time.Hour {
			t.Errorf("harvest %v after %s, %d used, %v", states, time.Since(began), stats.QuotaUsed, err)
		}
	})
}

// Whatever happens between the charge and the provider, each time that something leaves is charged, and once only where
// nothing went wrong. A count meets the same ledger.
func TestEveryRequestIsChargedToTheQuota(t *testing.T) {
	for _, c := range []struct {
		name   string
		dial   time.Duration
		broken int
		daily  int64
		came   int
		used   int64
		full   bool
	}{
		{name: "all is quick", daily: 10, came: 3, used: 3},
		{name: "the connection is slow", dial: 10 * time.Second, daily: 10, came: 3, used: 3},
		{name: "so slow that it may be tomorrow", dial: 40 * time.Second, daily: 10, came: 3, used: 4},
		{name: "the transport sends a second time", broken: 2, daily: 10, came: 4, used: 4},
		{name: "it is used up", daily: 2, came: 2, used: 2, full: true},
		{name: "it is used up when the transport sends a second time", broken: 2, daily: 2, came: 2, used: 2, full: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := store.Open(t.Context(), "sqlite::memory:", store.WithClock(time.Now))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if _, err := s.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				var seen counter
				works := newWorks().Handler()
				client := pipeClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if seen.add() == c.broken {
						panic(http.ErrAbortHandler)
					}
					works.ServeHTTP(w, r)
				}))
				transport := client.Transport.(*http.Transport)
				dial := transport.DialContext
				transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					<-time.After(c.dial)
					return dial(ctx, network, address)
				}
				p := &executor.Prober{Store: s, Gate: metered(s), Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
				spec := specOf(t, paged(offsets, "P1M"))
				none := source.Percent(0)
				spec.Rate.Quota.Daily, spec.Rate.Quota.Reserve = c.daily, &none
				for n := 0; n < 3 && err == nil; n++ {
					_, err = p.Probe(t.Context(), spec, query.All(), month, "http://provider")
				}
				if _, full := errors.AsType[*patra.QuotaError](err); full != c.full || err != nil && !full {
					t.Errorf("%v", err)
				}
				if used := quotaUsed(t, s, spec.Source); seen.n() != c.came || used != c.used {
					t.Errorf("%d came and %d were charged, want %d and %d", seen.n(), used, c.came, c.used)
				}
			})
		})
	}
}

// lostLedger is one that cannot be written.
type lostLedger struct{ gate.Ledger }

var errNoLedger = errors.New("the ledger cannot be written")

func (lostLedger) ChargeQuota(context.Context, string, patra.QuotaLimit, patra.QuotaCharge) error {
	return errNoLedger
}

func TestNothingIsSentWithoutALedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen counter
		client := pipeClient(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.add() }))
		g := gate.NewLocal(gate.WithLedger(lostLedger{}, func(patra.Operation) float64 { return 1 }))
		p := &executor.Prober{Store: &requests{}, Gate: g, Log: slog.New(slog.DiscardHandler), Client: func(*source.Spec, string) *http.Client { return client }}
		spec := specOf(t, paged(offsets, "P1M"))
		spec.Rate.Quota.Daily, spec.Rate.Concurrency = 10, 1
		began := time.Now()
		for range 2 { // the slot of the first one is free again
			if _, err := p.Probe(t.Context(), spec, query.All(), month, "http://provider"); !errors.Is(err, errNoLedger) || seen.n() > 0 {
				t.Errorf("%d were sent, %v", seen.n(), err)
			}
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("a slot was kept for %s", waited)
		}
	})
}

// What the provider says is left is less than we think: others use it too. It is believed.
func TestAProvidersCountIsBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubbleWith(t, 6, sim.Quota{Limit: 8}, patra.Harvest, plainly, "rate: {perSecond: 3, burst: 3",
			"rate: {perSecond: 100000, burst: 1000, quota: {daily: 100, reserve: 0%, headers: {remaining: X-RateLimit-Remaining, reset: X-RateLimit-Reset, resetIs: SECONDS}}")
		x := b.executor(nil)
		x.Gate, x.Controls, x.Config.Poll = metered(b.Store), b.Store, time.Minute
		x.Done = func(ctx context.Context) (bool, error) {
			all, err := b.Controls(ctx)
			return len(all) > 0, err
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stats := b.provider.Stats(); stats.QuotaUsed != 8 || stats.OverQuota > 0 {
			t.Errorf("%d used, %d refused", stats.QuotaUsed, stats.OverQuota)
		}
		if used := quotaUsed(t, b.Store, "crossref"); used != 100 {
			t.Errorf("the ledger says %d of 100", used)
		}
	})
}
