package executor_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"patra"
	"patra/internal/executor"
	"patra/internal/sim"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// europe is Europe PMC in pages of 20, four days in two slices, with something in front of it.
func europe(t *testing.T, front func(next http.Handler) http.Handler) *early {
	t.Helper()
	text := strings.NewReplacer("pageSize: 500", "pageSize: 20", "size: P1D", "size: P4D", "burst: 1000}", "burst: 1000}\n  retry: {maxAttempts: 30, backoff: {initial: 1ms, max: 2ms}}").Replace(shippedFast(t, "europepmc"))
	return newEarly(t, text, front(long().Handler()))
}

// long is a world in which records of the tests' days were made long before.
func long() *sim.Server {
	return sim.New(sim.Config{Seed: 9, From: from.AddDate(0, -1, 0), To: to.AddDate(0, 1, 0), PerDay: 120, Exact: true})
}

func europeans() map[string]bool { return ids(long().EuropePMC().By("UPDATE_DATE").Truth(from, to)) }

// strained runs once with limits, and gives why the slices were left.
func (e *early) strained(limits patra.WalkLimits) map[string]int {
	e.t.Helper()
	x := runner(e.t, e.store, e.plan)
	x.Config.Workers, x.Config.Strain = 1, limits
	x.Observe = func(ev executor.Event) { e.events = append(e.events, ev) }
	if err := x.Run(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	storetest.CheckInvariants(e.t, storetest.Inspect(e.t, e.url))
	why := map[string]int{}
	for _, ev := range e.events {
		if ev.Reslice != nil {
			why[ev.Reslice.Reason]++
		}
	}
	return why
}

// healed counts the rows of an action.
func (e *early) healed(action string) (n int) {
	e.t.Helper()
	all, err := e.store.Healings(e.t.Context(), "europepmc", 0, 1000)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, h := range all {
		if h.Action == action && h.TaskID != 0 && h.RunID != 0 {
			n++
		}
	}
	return n
}

func TestAWalkThatIsTooHardIsCutShorter(t *testing.T) {
	every := func(n int64, status int) func(http.Handler) http.Handler {
		var seen atomic.Int64
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if seen.Add(1)%n == 0 {
					w.WriteHeader(status)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	plain := func(next http.Handler) http.Handler { return next }
	for _, c := range []struct {
		name   string
		front  func(http.Handler) http.Handler
		limits patra.WalkLimits
		want   string
	}{
		{"many pages", plain, patra.WalkLimits{Pages: 3}, patra.ReslicePages},
		{"many refusals for speed", every(3, 429), patra.WalkLimits{Refusals: 2, RefusedIn: 300 * patra.Second}, patra.ResliceThrottled},
		{"many errors", every(4, 503), patra.WalkLimits{Recent: 5, ErrorShare: 0.2}, patra.ResliceErrors},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := europe(t, c.front)
			if why := e.strained(c.limits); why[c.want] != 2 {
				t.Errorf("slices were left for %v", why)
			}
			if n := e.healed(patra.HealReslice); n != 2 {
				t.Errorf("%d rows say so", n)
			}
			e.finish(europeans())
		})
	}
}

func TestFarMoreThanWasExpectedIsCutShorter(t *testing.T) {
	e := europe(t, func(next http.Handler) http.Handler { return next })
	if _, err := storetest.Inspect(t, e.url).Exec(`UPDATE ing_plan_slice SET estimate_records = 10, estimate_source_code = 'HISTORY'`); err != nil {
		t.Fatal(err)
	}
	if why := e.strained(patra.WalkLimits{Overrun: 3, OverrunFrom: 50}); why[patra.ResliceEstimate] != 2 {
		t.Errorf("slices were left for %v", why)
	}
	e.finish(europeans())
}

// A page that is too large is asked for in smaller ones, and nothing is cut.
func TestPagesThatAreTooLargeBecomeSmaller(t *testing.T) {
	e := europe(t, func(next http.Handler) http.Handler { return next })
	if why := e.strained(patra.WalkLimits{Body: 1000}); len(why) != 0 {
		t.Errorf("slices were left for %v", why)
	}
	if n := e.healed(patra.HealShrink); n != 2 { // 20, then 10 on a page
		t.Errorf("pages became smaller %d times", n)
	}
	e.finish(europeans())
	batches, err := e.store.Batches(t.Context(), store.Filter{Limit: 1000})
	if err != nil || len(batches) == 0 {
		t.Fatal(err)
	}
	var most int64
	for _, b := range batches {
		if b.Ordinal > 2 { // the first, and the one that was on its way, are of the old size
			most = max(most, b.RecordCount)
		}
	}
	if most != 10 {
		t.Errorf("later pages have up to %d records", most)
	}
}

// A body over the limit can be had in smaller pages; where the position depends on their size, from the beginning.
func TestAPageThatCannotBeHadIsAskedForInSmallerOnes(t *testing.T) {
	limits := map[string]string{"europepmc": "120000", "crossref": "60000"} // which a page of 80 exceeds and one of 20 does not
	for code := range limits {
		t.Run(code, func(t *testing.T) {
			works := long()
			file := strings.NewReplacer("pageSize: 500", "pageSize: 80", "pageSize: 200", "pageSize: 80", "    maxBody: 67108864\n", "").Replace(shippedFast(t, code))
			file = strings.Replace(file, "    timeout:", "    maxBody: "+limits[code]+"\n    timeout:", 1)
			e := newEarly(t, file, works.Handler())
			if why := e.strained(patra.WalkLimits{}); len(why) != 0 {
				t.Errorf("slices were left for %v", why)
			}
			all, err := e.store.Healings(t.Context(), code, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			actions := map[string]int{}
			for _, h := range all {
				actions[h.Action]++
			}
			if actions[patra.HealShrink] == 0 || (actions[patra.HealRestart] > 0) != (code == "crossref") {
				t.Errorf("healing %v", actions)
			}
			want := europeans()
			if code == "crossref" {
				want = map[string]bool{}
				for w := range works.Truth(from, to) {
					want[w.ID] = true
				}
			}
			e.finish(want)
		})
	}
}

// A provider that leads back to a page that was read before would be followed for ever.
func TestAWalkInCirclesIsNoticed(t *testing.T) {
	var n atomic.Int64
	circle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := "A"
		if r.URL.Query().Get("cursor") == "A" {
			next = "B"
		}
		fmt.Fprintf(w, `{"message": {"next-cursor": %q, "total-results": 1000, "items": [{"DOI": "%d", "indexed": {"date-time": "2026-05-01T00:00:00Z"}}]}}`, next, n.Add(1))
	})
	text := paged(`{type: TOKEN, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: cursor, initial: "*", next: "$.message['next-cursor']", token: {state: STATELESS, onSame: END}, end: [EMPTY_PAGE]}`, "P4D")
	const tries = 4
	e := newEarly(t, strings.Replace(text, "maxAttempts: 30", "maxAttempts: 4", 1), circle)
	e.strained(patra.WalkLimits{})
	tasks, err := e.store.Tasks(t.Context(), store.Filter{})
	if err != nil || len(tasks) == 0 {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if task.Status != patra.Failed || !strings.Contains(string(task.LastError), patra.CodeLoop) {
			t.Errorf("task %d is %s: %s", task.ID, task.Status, task.LastError)
		}
	}
	if most := int64((3 + tries) * len(tasks)); n.Load() > most {
		t.Errorf("%d requests until it was noticed", n.Load())
	}
}
