package executor_test

import (
	"context"
	"fmt"
	"io"
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

// TestIdsOfAnotherSource: what one source knows by its ids is asked of another. Ids that it does not know are noted as
// missing, however many they are, and one that it writes in another way is the same.
func TestIdsOfAnotherSource(t *testing.T) {
	load := func(code string) *source.File {
		file, err := source.Load(code+".yaml", []byte(shippedFast(t, code)))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 5, Exact: true})
	unknown := map[string]bool{}
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		doi, ours := strings.CutPrefix(r.URL.Path, "/v2/")
		switch {
		case !ours:
			provider.Handler().ServeHTTP(w, r)
		case unknown[doi] || r.URL.Query().Get("email") != "t@example.org":
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"HTTP_status_code":404,"error":true,"message":"no such work"}`)
		default:
			asked.Add(1)
			fmt.Fprintf(w, `{"doi":%q,"title":"A work","updated":"2026-05-01T10:00:00.123456","oa_status":"gold","best_oa_location":{"url":"https://example.org/a.pdf"},"z_authors":null}`, strings.ToUpper(doi))
		}
	}))
	t.Cleanup(server.Close)
	st, dbURL := harvestAll(t, load("crossref"), nil, server.URL)
	n := int64(0)
	for w := range provider.Truth(from, to) {
		if n++; n%3 == 0 {
			unknown[w.ID] = true
		}
	}
	p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 5, Target: 200, MaxPages: 1000, MinStep: time.Minute}}
	update, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: load("unpaywall"), Operation: patra.Update, ByID: true, IDsOf: "crossref", Contact: "t@example.org", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	x := runner(t, st, update)
	x.Config.PlanID = update.Plan.ID
	x.Config.Vars = source.Vars{Contact: "t@example.org"}
	x.Done = func(ctx context.Context) (bool, error) {
		states, err := st.PlanStates(ctx, update.Plan.ID)
		return states[patra.Ready] == 0, err
	}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed}); err != nil || len(failed) > 0 {
		t.Fatalf("%s, %v", failed[0].LastError, err)
	}
	n, err = st.CountRecords(t.Context(), "unpaywall")
	if err != nil || n != 14 || asked.Load() != 14 {
		t.Errorf("%d records, %d asked for, %v", n, asked.Load(), err)
	}
	var done, missing int
	db := storetest.Inspect(t, dbURL)
	if err := db.QueryRow(`SELECT SUM(i.status_code = 'DONE'), SUM(i.status_code = 'MISSING') FROM ing_task_item i JOIN ing_task t ON t.id = i.task_id WHERE t.plan_id = ?`, update.Plan.ID).Scan(&done, &missing); err != nil || done != 14 || missing != 6 {
		t.Errorf("%d done, %d missing, %v", done, missing, err)
	}
	storetest.CheckInvariants(t, db)
}

// TestSomeRecordsAreFetchedAgain: a list that is made with the plan is worked through, signals are settled with it, and a
// record that the provider has lost is marked and stays.
func TestSomeRecordsAreFetchedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		file, err := source.Load("crossref.yaml", []byte(shippedFast(t, "crossref")))
		if err != nil {
			t.Fatal(err)
		}
		provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 20, Exact: true})
		var lost atomic.Value
		lost.Store("")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if id := lost.Load().(string); id != "" && strings.HasSuffix(r.URL.Path, "/works/"+id) {
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, "Resource not found.")
				return
			}
			provider.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		st, dbURL, plan := planOn(t, e, file, nil, server.URL)
		if err := runner(t, st, plan).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var ids []string
		if err := st.Find(t.Context(), store.RecordQuery{Limit: 3}, func(r patra.Record) error {
			ids = append(ids, r.ProviderID)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		lost.Store(ids[0])
		if n, err := st.AddSignals(t.Context(), patra.InstantOf(time.Now()), "crossref", "work", "", append(ids, "10.1/nobody"), patra.SignalManual, "", "me"); err != nil || n != 4 {
			t.Fatal(n, err)
		}
		p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 5, Target: 2, MaxPages: 1000, MinStep: time.Minute}}
		update, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Operation: patra.Update, ByID: true, Pick: &patra.RecordSelector{By: patra.PickSignals}, Contact: "t@example.org", BaseURL: server.URL})
		if err != nil || update.Added != 2 {
			t.Fatalf("%+v, %v", update, err)
		}
		x := runner(t, st, update)
		x.Config.PlanID = update.Plan.ID
		x.Done = func(ctx context.Context) (bool, error) {
			states, err := st.PlanStates(ctx, update.Plan.ID)
			return states[patra.Ready] == 0, err
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if states, err := st.PlanStates(t.Context(), update.Plan.ID); err != nil || states[patra.Succeeded] != 2 {
			t.Errorf("%v, %v", states, err)
		}
		if done, err := st.Signals(t.Context(), store.Filter{Status: patra.SignalDone}); err != nil || len(done) != 4 {
			t.Errorf("%+v, %v", done, err)
		}
		r, err := st.Record(t.Context(), "crossref", "work", ids[0])
		if err != nil || r.MissingSince == nil || r.Deleted || r.Rev != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
	})
}
