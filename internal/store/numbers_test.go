package store_test

import (
	"fmt"
	"strings"
	"testing"

	"patra"
	"patra/internal/store"
	"patra/internal/store/storetest"
)

// How everything stands is read by the indexes: no statement looks at all rows of a table that grows, and there are only so many
// statements however many sources, watermarks and sinks there are.
func TestNumbersAreCheap(t *testing.T) {
	e := storetest.Engines()[0]
	w := storetest.NewWorld(t, e, 3)
	w.Work(w.Take(), w.Record("1", storetest.Origin, "a"))
	for n := range 150 {
		w.AddPlan(fmt.Sprintf("demo%03d", n), "works", 1, 5)
		if n < 60 {
			if err := w.EnsureSink(t.Context(), fmt.Sprintf("s%d", n), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	var sent []storetest.Statement
	looked := e.Connect(t, w.URL, store.WithTrace(func(name, text string, args []any) {
		sent = append(sent, storetest.Statement{Name: name, Text: text, Args: args})
	}))
	n, err := looked.MetricsSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Cursors) != patra.MostCursors || n.LeftOut[patra.LeftCursors] != 51 || len(n.Queue) != patra.MostPlaces || n.LeftOut[patra.LeftQueues] != 1 || len(n.Sources) != patra.MostPlaces || len(n.Sinks) != patra.MostSinks || n.LeftOut[patra.LeftSinks] == 0 {
		t.Errorf("%d watermarks, %d queues, %d sources, %d sinks, left out: %v", len(n.Cursors), len(n.Queue), len(n.Sources), len(n.Sinks), n.LeftOut)
	}
	if len(sent) > 3000 {
		t.Errorf("%d statements", len(sent))
	}
	if _, err := looked.StoredBodyRange(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	db, seen := storetest.Inspect(t, w.URL), map[string]bool{}
	// These have a row for each key, control, lease and watermark, or are read from one end of their key.
	few := []string{"ing_rate_gate", "ing_quota", "ing_control", "ing_lease", "ing_cursor", "goose_db_version"}
	ends := map[string]bool{"last_claim": true}
	for _, st := range sent {
		if seen[st.Name] {
			continue
		}
		seen[st.Name] = true
		for _, step := range storetest.Plan(t, db, st) {
			words := strings.Fields(step)
			if words[0] != "SCAN" || len(words) < 2 || ends[st.Name] || strings.Contains(step, "CONSTANT") || !strings.HasPrefix(words[1], "ing_") {
				continue
			}
			allowed := false
			for _, table := range few {
				allowed = allowed || words[1] == table
			}
			if !allowed {
				t.Errorf("%s: %s\n%s", st.Name, step, st.Text)
			}
		}
	}
	t.Logf("%d statements of %d kinds", len(sent), len(seen))
}
