package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
)

// byOffsets changes the shipped source so that a page can be asked for again.
var byOffsets = []string{
	"type: TOKEN", "type: OFFSET", "positionParam: cursor", "positionParam: offset", "token: {state: STATEFUL, onSame: CONTINUE, ttl: PT5M}", "cap: 10000",
	"\n      initial: \"*\"", "", "\n      next: \"$.message['next-cursor']\"", "", "\n      stability: SNAPSHOT", "",
}

// pagesRead is how many pages are read in some time at 5 requests a second from a provider of which a share of the requests goes
// wrong, whatever the rate.
func pagesRead(t *testing.T, over time.Duration, share float64, wrong func(http.ResponseWriter)) (pages, requests int, records int64) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		dice := rand.New(rand.NewPCG(11, 12))
		b := newBubbleWith(t, 40, sim.Quota{}, patra.Harvest, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(50 * time.Millisecond)
				mu.Lock()
				requests++
				bad := dice.Float64() < share
				mu.Unlock()
				if bad {
					wrong(w)
					return
				}
				next.ServeHTTP(w, r)
			})
		}, append(byOffsets, politeRate, "perSecond: 5, burst: 5", "initial: 500ms, max: 30s", "initial: 500ms, max: 30s", "pageSize: 200", "pageSize: 2")...)
		x := b.executor(nil)
		x.Config.Workers, x.Controls = 4, b.Store
		x.Observe = func(e executor.Event) {
			if mu.Lock(); e.Kind == executor.EventPage {
				pages++
			}
			mu.Unlock()
		}
		ctx, cancel := context.WithTimeout(t.Context(), over)
		defer cancel()
		if err := x.Run(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		var err error
		if records, err = b.CountRecords(t.Context(), "crossref"); err != nil {
			t.Error(err)
		}
	})
	return pages, requests, records
}

// A provider that refuses two of five requests, however slow we are, and says each time to come back in a second, is waited for; and it
// does not bring us to a standstill.
func TestRefusalsByChanceAreWaitedFor(t *testing.T) {
	pages, requests, _ := pagesRead(t, 10*time.Minute, 0.4, func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	t.Logf("%d pages, %d requests", pages, requests)
	if pages < 400 {
		t.Errorf("%d pages in ten minutes", pages)
	}
}

// What goes wrong by chance costs what it costs to ask again, and not more.
func TestFaultsByChanceCostLittle(t *testing.T) {
	const over = 4 * time.Minute
	all, _, allRecords := pagesRead(t, over, 0, nil)
	if all < 1100 {
		t.Fatalf("%d pages without a fault", all)
	}
	for _, c := range []struct {
		name  string
		wrong func(http.ResponseWriter)
	}{
		{"503", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }},
		{"reset", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }},
	} {
		for _, want := range []struct{ share, least float64 }{{0.02, 0.95}, {0.05, 0.9}, {0.1, 0.8}, {0.2, 0.6}} {
			t.Run(fmt.Sprintf("%s %.0f %%", c.name, 100*want.share), func(t *testing.T) {
				pages, requests, records := pagesRead(t, over, want.share, c.wrong)
				t.Logf("%d pages of %d (%.0f %%), %d requests", pages, all, 100*float64(pages)/float64(all), requests)
				if float64(pages) < want.least*float64(all) || float64(records) < want.least*float64(allRecords) { // no page twice
					t.Errorf("%d pages of %d and %d records of %d, want %.0f %%", pages, all, records, allRecords, 100*want.least)
				}
			})
		}
	}
}

// A task whose attempts all fail, and each of which has read a page that none before it had read, is read to its end: nothing is read
// twice, and no attempt counts.
func TestProgressIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		failed, given := map[string]int{}, map[string]int{}
		b := newBubbleWith(t, 1, sim.Quota{}, patra.Harvest, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				page := r.URL.Query().Get("offset")
				failed[page]++
				bad := failed[page] <= 5
				if !bad {
					given[page]++
				}
				mu.Unlock()
				if bad {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				next.ServeHTTP(w, r)
			})
		}, append(byOffsets, "pageSize: 200", "pageSize: 5")...)
		x := b.executor(nil)
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := b.CountRecords(t.Context(), "crossref"); err != nil || n != 60 {
			t.Errorf("%d records, %v", n, err)
		}
		for page, times := range given {
			if times > 2 { // a walk by numbers is walked again to prove it
				t.Errorf("page %q was read %d times", page, times)
			}
		}
		tasks, err := b.Tasks(t.Context(), store.Filter{})
		if err != nil || tasks[0].Status != patra.Succeeded || len(given) < 12 {
			t.Errorf("%d pages, %+v, %v", len(given), tasks, err)
		}
	})
}
