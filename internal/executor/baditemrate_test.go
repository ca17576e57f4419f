package executor_test

import (
	"context"
	"net/http/httptest"
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

// A provider of whose items none can be read any more is stopped, and does not fill the quarantine: also where each of its
// pages is so small that it says nothing by itself. The watermark stays where nothing was read.
func TestAProviderOfWhoseItemsNoneCanBeRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		perDay int
		aside  int64 // items that are put aside before anybody can know
		days   int   // that are covered before
		text   string
	}{
		{"all items of a large page", 120, 0, 0, "50 of 50 items of the page cannot be read (BAD_TIME)"},
		{"all items of many small pages", 3, 9, 3, "12 of 12 items that came last cannot be read (BAD_TIME)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("trust: EXACT", "trust: NONE", "maxAttempts: 30", "maxAttempts: 2").Replace(
				paged(`{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}`, "P1D"))
			file, err := source.Load("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: c.perDay, Exact: true, Faults: sim.Faults{Poison: 1}}).Handler())
			t.Cleanup(server.Close)
			st, dbURL, plan := planAll(t, file, nil, server.URL)
			x := runner(t, st, plan)
			x.Config.Workers, x.Controls = 1, st
			x.Done = func(ctx context.Context) (bool, error) {
				controls, err := st.Controls(ctx)
				return len(controls) > 0, err
			}
			if err := x.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			controls, err := st.Controls(t.Context())
			if err != nil || len(controls) != 1 || controls[0].Kind != patra.KindHalt || controls[0].State != patra.Halted {
				t.Fatalf("%+v, %v", controls, err)
			}
			tasks, err := st.Tasks(t.Context(), store.Filter{Status: patra.Failed})
			if err != nil || len(tasks) != 1 || !strings.Contains(string(tasks[0].LastError), c.text) || !strings.Contains(string(tasks[0].LastError), `"SCHEMA"`) {
				t.Errorf("%d tasks failed: %+v, %v", len(tasks), tasks, err)
			}
			var aside int64
			if err := storetest.Inspect(t, dbURL).QueryRowContext(t.Context(), `SELECT COUNT(*) FROM ing_quarantine`).Scan(&aside); err != nil || aside != c.aside {
				t.Errorf("%d items are in quarantine, want %d, %v", aside, c.aside, err)
			}
			cursor, err := st.Cursors(t.Context(), store.Filter{})
			if want := patra.InstantOf(from.AddDate(0, 0, c.days)); err != nil || cursor[0].Value > want {
				t.Errorf("the watermark is %s, beyond %s, %v", cursor[0].Value, want, err)
			}
			storetest.CheckInvariants(t, storetest.Inspect(t, dbURL))
		})
	}
}

// The same few bad items, read again and again, are not taken for a provider that has changed.
func TestAFewBadItemsThatAreReadAgainAreAFew(t *testing.T) {
	text := strings.NewReplacer("trust: EXACT", "trust: NONE").Replace(paged(`{type: OFFSET, pageSize: 50, maxPageSize: 1000, sizeParam: rows, positionParam: offset, end: [EMPTY_PAGE]}`, "P1D"))
	file, err := source.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	// Two items a day, none of which can be read: eight in all, and eight in so many pages are no pattern.
	server := httptest.NewServer(sim.New(sim.Config{Seed: 9, From: from, To: to, PerDay: 2, Exact: true, Faults: sim.Faults{Poison: 1}}).Handler())
	t.Cleanup(server.Close)
	st, _, plan := planAll(t, file, nil, server.URL)
	x := runner(t, st, plan)
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := replan(t, st, file, server.URL)
	x.Config.CursorID, x.Done = again.Plan.CursorID, runner(t, st, again).Done
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	states, err := st.SliceStates(t.Context(), plan.Plan.CursorID)
	if err != nil || states[patra.Failed] > 0 || states[patra.Succeeded] != 8 {
		t.Errorf("%v, %v", states, err)
	}
}

// replan asks for the whole window of the tests once more.
func replan(t *testing.T, st *store.Store, file *source.File, base string) *planner.Result {
	t.Helper()
	p := &planner.Planner{Store: st, Config: planner.Config{TaskAttempts: 20, Target: 10_000, MaxPages: 2000, MinStep: time.Hour}}
	start, end := patra.InstantOf(from), patra.InstantOf(to)
	plan, err := p.Plan(t.Context(), patra.InstantOf(time.Now()), planner.Request{Source: file, Contact: "t@example.org", From: &start, To: &end, BaseURL: base, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
