package executor_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"patra"
	"patra/internal/planner"
	"patra/internal/sim"
	"patra/internal/source"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// TestACountThatDisagreesConfirmsNothing: a run ends early, and the provider says that there is more in what it read than
// it saw. Then all of it is read again.
func TestACountThatDisagreesConfirmsNothing(t *testing.T) {
	text := strings.Replace(paged(`{type: OFFSET, pageSize: 20, maxPageSize: 1000, sizeParam: rows, positionParam: offset, order: ASC, end: [EMPTY_PAGE]}`, "P1D"), "field: indexed_at, mode", "strategy: VOLUME_BUDGET, field: indexed_at, mode", 1)
	file, err := source.Load("by-offset.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true}).Handler()
	total := regexp.MustCompile(`"total-results":(\d+)`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		answer := httptest.NewRecorder()
		provider.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		if r.URL.Query().Get("rows") == "1" { // only who counts is told
			body = total.ReplaceAll(body, []byte(`"total-results":1$1`))
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		w.Write(body)
	}))
	t.Cleanup(server.Close)
	e := storetest.Engines()[0]
	st := e.Open(t)
	p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 5, Target: 100, MaxPages: 1000, MinStep: time.Hour}}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := runner(t, st, plan).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	early, err := st.PartialSlices(t.Context(), plan.Plan.CursorID, 10)
	if err != nil || len(early) != 1 || early[0].Confirmed != nil {
		t.Errorf("%+v, %v", early, err)
	}
	if answers, err := st.CoverageEntries(t.Context(), plan.Plan.CursorID); err != nil || len(answers) != 0 {
		t.Errorf("%+v, %v", answers, err)
	}
}

// TestOtherWaysToCut: a source without a date filter is walked through as a whole, and one whose slices are ended by
// their budgets is cut until all of it is there. Both by their source files alone.
func TestOtherWaysToCut(t *testing.T) {
	const offsets = `{type: OFFSET, pageSize: 20, maxPageSize: 1000, sizeParam: rows, positionParam: offset, order: ASC, end: [EMPTY_PAGE]}`
	for _, c := range []struct {
		name, text string
		check      func(t *testing.T, slices []patra.Slice)
	}{
		{"no filter", strings.Replace(paged(offsets, "P30D"), "field: indexed_at, mode", "strategy: CURSOR_LANDMARK, field: walked_at, mode", 1), func(t *testing.T, all []patra.Slice) {
			if len(all) != 1 || all[0].Spec.Strategy != patra.StrategyLandmark || all[0].Window != (patra.Window{From: patra.InstantOf(from), To: patra.InstantOf(to)}) {
				t.Errorf("%+v", all)
			}
		}},
		{"a budget", strings.Replace(paged(offsets, "P1D"), "field: indexed_at, mode", "strategy: VOLUME_BUDGET, field: indexed_at, mode", 1), func(t *testing.T, all []patra.Slice) {
			early, confirmed := 0, 0
			for _, sl := range all {
				if sl.Status == patra.Split {
					early++
				}
				if sl.Confirmed != nil {
					confirmed++
				}
			}
			if early == 0 || confirmed == 0 || all[len(all)-1].Spec.Strategy != patra.StrategyVolume {
				t.Errorf("%d slices ended early, %d of them confirmed something", early, confirmed)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, e storetest.Engine) {
				file, err := source.Load("by-offset.yaml", []byte(c.text))
				if err != nil {
					t.Fatal(err)
				}
				provider := sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 120, Exact: true})
				server := httptest.NewServer(provider.Handler())
				t.Cleanup(server.Close)
				dbURL := e.URL(t)
				st := e.Connect(t, dbURL)
				if _, err := st.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 5, Target: 100, MaxPages: 1000, MinStep: time.Hour}}
				start, end := patra.InstantOf(from), patra.InstantOf(to)
				plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Basis: patra.BasisCertified, From: &start, To: &end, BaseURL: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				x := runner(t, st, plan)
				x.Done = func(ctx context.Context) (bool, error) {
					states, err := st.SliceStates(ctx, plan.Plan.CursorID)
					if err != nil || states[patra.Partial] == 0 {
						return states[patra.Ready] == 0, err
					}
					_, err = p.Reslice(ctx, patra.InstantOf(time.Now()), plan.Plan.CursorID)
					return false, err
				}
				if err := x.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n, err := st.CountRecords(t.Context(), "by-offset"); err != nil || n != 480 {
					t.Errorf("%d of 480 records, %v", n, err)
				}
				cursors, err := st.Cursors(t.Context(), store.Filter{})
				if err != nil || cursors[0].Value != end || cursors[0].SealedThrough != end { // what was confirmed is counted, too
					t.Errorf("watermark %s, complete through %s, %v", cursors[0].Value, cursors[0].SealedThrough, err)
				}
				all, err := st.Slices(t.Context(), store.Filter{Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				c.check(t, all)
				storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
			})
		})
	}
}
