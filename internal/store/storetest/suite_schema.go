package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"patra"
	"patra/internal/store"
)

func migrators(t *testing.T, e Engine) {
	url := e.URL(t)
	var wg sync.WaitGroup
	applied := make([]int, 4)
	for i := range applied {
		s := e.Connect(t, url)
		wg.Go(func() {
			steps, err := s.Migrate(t.Context())
			if err != nil {
				t.Error(err)
			}
			applied[i] = len(steps)
		})
	}
	wg.Wait()
	slices.Sort(applied)
	if applied[3] == 0 || applied[0]+applied[1]+applied[2] != 0 {
		t.Errorf("steps applied by each: %v; one should have done all", applied)
	}
}

func noTables(t *testing.T, e Engine) {
	s := e.Connect(t, e.URL(t))
	if err := s.RequireSchema(t.Context()); !errors.Is(err, store.ErrNeedsMigration) {
		t.Errorf("Check of an empty store: %v", err)
	}
}

func byteExact(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	ids := []string{"00123", "123", "a", "a ", "A", "é", "e\u0301", "x\x00y", "10.1/<b>'\"\\%_;--"}
	var records []patra.Observation
	for _, id := range ids {
		records = append(records, w.Record(id, Origin, id))
	}
	if n := w.Page(w.Take(), 1, false, records...); n.Insert != int64(len(ids)) {
		t.Fatalf("counts %+v", n)
	}
	for _, id := range ids {
		r, err := w.Store.Record(t.Context(), "demo", "work", id)
		if err != nil || r == nil || r.ProviderID != id {
			t.Errorf("record %q: %+v, %v", id, r, err)
		}
	}
}

func views(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	w.Work(w.Take(), w.Record("1", Origin, "a"))
	db := Inspect(t, w.URL)
	for _, view := range []string{"v_plan", "v_slice", "v_task", "v_batch", "v_cursor", "v_coverage", "v_completeness", "v_record"} {
		rows := 0
		scan(t, db, "SELECT * FROM "+view, func(*sql.Rows) error { rows++; return nil })
		if rows != 1 {
			t.Errorf("%s has %d rows", view, rows)
		}
	}
	var from string
	w.must(db.QueryRow("SELECT window_from FROM v_coverage").Scan(&from))
	if at, err := patra.ParseInstant(from); err != nil || at != Origin {
		t.Errorf("v_coverage shows %q", from)
	}
	for _, check := range []string{"v_check_counts", "v_check_chain"} {
		scan(t, db, "SELECT * FROM "+check, func(*sql.Rows) error { t.Errorf("%s has a row", check); return nil })
	}
}

func export(t *testing.T, e Engine) {
	w := NewWorld(t, e, 1)
	c := w.Take()
	const n = 1203 // more than two pages of the export
	var records []patra.Observation
	for i := range n {
		records = append(records, w.Record(fmt.Sprintf("%05d", i), Origin, fmt.Sprint(i)))
	}
	if got := w.Page(c, 1, false, records...); got.Insert != n {
		t.Fatalf("counts %+v", got)
	}
	seen := map[string]bool{}
	err := w.Records(t.Context(), "demo", func(r patra.Record) error {
		if seen[r.ProviderID] {
			t.Errorf("%s twice", r.ProviderID)
		}
		seen[r.ProviderID] = true
		return nil
	})
	if err != nil || len(seen) != n {
		t.Errorf("%d of %d records, %v", len(seen), n, err)
	}
	line, err := w.Lineage(t.Context(), 1)
	if err != nil || line == nil || line.Task != c.TaskID || line.Run != c.RunID || line.Slice != c.Slice.ID {
		t.Errorf("lineage %+v, %v", line, err)
	}
}
