package executor_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// The clock of the store, which decides about leases, jumps by an hour in the middle of a harvest, forward and back and back
// again. There are more processes than tasks, so that somebody is there who takes over what seems to be left. Who loses a lease by that writes nothing more, and all is read.
func TestTheClockOfTheStoreJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var off, asked, lost atomic.Int64
		jumps := map[int64]time.Duration{3: time.Hour, 6: 0, 9: -time.Hour, 12: 0}
		clock := func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		dbURL := storetest.Engines()[0].URL(t)
		b := newBubbleIn(t, dbURL, clock, 4, sim.Quota{}, patra.Harvest, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if jump, ok := jumps[asked.Add(1)]; ok {
					off.Store(int64(jump))
				}
				time.Sleep(25 * time.Second) // more than a heartbeat, less than a lease
				next.ServeHTTP(w, r)
			})
		})
		var taken sync.WaitGroup
		for range 6 {
			x := b.executor(nil)
			x.Observe = func(e executor.Event) {
				if e.Kind == executor.EventLost {
					lost.Add(1)
				}
			}
			taken.Go(func() {
				if err := x.Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		taken.Wait()
		runs, err := b.Runs(t.Context(), store.Filter{Limit: 1000})
		if n := asked.Load(); err != nil || n < 12 || len(runs) <= 4 || lost.Load() == 0 {
			t.Errorf("%d runs of four tasks sent %d requests, and %d noticed that others had taken over, %v", len(runs), n, lost.Load(), err)
		}
		cursor, err := b.Cursors(t.Context(), store.Filter{})
		if err != nil || cursor[0].Value != b.window.To || cursor[0].SealedThrough != b.window.To {
			t.Errorf("watermark %s, complete through %s, %v", cursor[0].Value, cursor[0].SealedThrough, err)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 4*60 {
			t.Errorf("%d records, %v", n, err)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
	})
}

// A provider whose clock is an hour ahead, or behind, says by its clock when it may be asked again.
func TestAProviderWhoseClockIsOff(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused atomic.Int64
				var came []time.Time
				b := newBubbleOf(t, 1, func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						there := time.Now().Add(off).UTC()
						w.Header().Set("Date", there.Format(http.TimeFormat))
						came = append(came, time.Now())
						if refused.Add(1) == 2 {
							w.Header().Set("Retry-After", there.Add(90*time.Second).Format(http.TimeFormat))
							w.WriteHeader(http.StatusTooManyRequests)
							return
						}
						next.ServeHTTP(w, r)
					})
				})
				if err := b.executor(nil).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if wait := came[2].Sub(came[1]); wait < 89*time.Second || wait > 2*time.Minute {
					t.Errorf("it was left alone for %s, and wanted 90 seconds", wait)
				}
				if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 60 {
					t.Errorf("%d records, %v", n, err)
				}
				cursor, err := b.Cursors(t.Context(), store.Filter{})
				if err != nil || cursor[0].Value != b.window.To {
					t.Errorf("watermark %s, %v", cursor[0].Value, err)
				}
			})
		})
	}
}
