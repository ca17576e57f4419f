package executor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patra"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// TestKnownRecordsAreFetchedAgain: an update by id fetches every known record once and searches for nothing. It is
// interrupted in the middle, and the next run goes on where it was.
func TestKnownRecordsAreFetchedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		file, err := source.Load("pubmed.yaml", []byte(strings.Replace(shippedFast(t, "pubmed"), "batch: 200", "batch: 20", 1)))
		if err != nil {
			t.Fatal(err)
		}
		provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
		var searches, fetches atomic.Int64
		var stop context.CancelFunc
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/esearch.fcgi") {
				searches.Add(1)
			} else if fetches.Add(1) == 10 && stop != nil {
				stop()
			}
			provider.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		st, dbURL, plan := planOn(t, e, file, nil, server.URL)
		if err := runner(t, st, plan).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		known, err := st.CountRecords(t.Context(), "pubmed")
		if err != nil || known != 480 {
			t.Fatal(known, err)
		}
		searches.Store(0)
		fetches.Store(0)

		p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 5, Target: 200, MaxPages: 1000, MinStep: time.Minute}}
		update, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Operation: patra.Update, ByID: true, Contact: "t@example.org", BaseURL: server.URL})
		if err != nil || update.Added != 3 {
			t.Fatalf("%+v, %v", update, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop = cancel
		for _, ctx := range []context.Context{ctx, t.Context()} {
			x := runner(t, st, update)
			x.Config.PlanID = update.Plan.ID
			x.Done = func(ctx context.Context) (bool, error) {
				states, err := st.PlanStates(ctx, update.Plan.ID)
				return states[patra.Ready] == 0, err
			}
			if err := x.Run(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if states, err := st.PlanStates(t.Context(), update.Plan.ID); err != nil || states[patra.Succeeded] != 3 {
			t.Errorf("%v, %v", states, err)
		}
		db := storetest.Inspect(t, dbURL)
		var ids, distinct, done int
		if err := db.QueryRow(`SELECT COUNT(*), COUNT(DISTINCT i.provider_id), SUM(i.status_code = 'DONE') FROM ing_task_item i JOIN ing_task t ON t.id = i.task_id WHERE t.plan_id = ?`,
			update.Plan.ID).Scan(&ids, &distinct, &done); err != nil || ids != 480 || distinct != 480 || done != 480 {
			t.Errorf("%d ids, %d of them different, %d done, %v", ids, distinct, done, err)
		}
		if searches.Load() != 0 || fetches.Load() < 24 || fetches.Load() > 24+3+6 {
			t.Errorf("%d searches and %d fetches for 480 ids in batches of 20", searches.Load(), fetches.Load())
		}
		if rows, err := st.Batches(t.Context(), store.Filter{Plan: update.Plan.ID, Status: patra.Succeeded, Limit: 100}); err != nil || len(rows) == 0 || rows[0].Counts.Outside != 0 {
			t.Errorf("%+v, %v", rows, err)
		}
		storetest.CheckInvariants(t, db)
	})
}
