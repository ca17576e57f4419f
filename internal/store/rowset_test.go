package store

import (
	"database/sql"
	"fmt"
	"testing"

	"patra"
)

// Rows say what they say, whether or not those around them say the same in the columns in which they mostly do.
func TestRowsThatShareValues(t *testing.T) {
	s, err := Open(t.Context(), "sqlite::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows []any
	want := ""
	// Runs that are longer than the longest statement, shorter, and of one.
	for scan, n := range []int{60, 1, 1, 4, 31, 25, 5, 2} {
		for i := range n {
			status := patra.ItemPending
			if scan == 4 && i == 7 {
				status = patra.ItemDone
			}
			rows = append(rows, int64(1), int64(scan), int64(i), fmt.Sprint("id", i), int64(scan*2), string(status), int64(scan))
			want += fmt.Sprintln(1, scan, i, fmt.Sprint("id", i), scan*2, status, scan)
		}
	}
	statements := 0
	s.trace = func(string, string, []any) { statements++ }
	if err := s.write(t.Context(), "rows", func(t *tx) error { return t.addRows(insertItems, rows) }); err != nil {
		t.Fatal(err)
	}
	s.trace = nil
	got := ""
	err = s.read(t.Context()).rows(stmt{"items", `SELECT task_id, scan_no, seq, provider_id, search_ordinal, status_code, created_at FROM ing_task_item ORDER BY task_id, scan_no, seq`}, func(r *sql.Rows) error {
		var task, scan, seq, ordinal, created int64
		var id, status string
		err := r.Scan(&task, &scan, &seq, &id, &ordinal, &status, &created)
		got += fmt.Sprintln(task, scan, seq, id, ordinal, status, created)
		return err
	})
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if want := 4 + 1 + 1 + 4 + 3 + 1 + 7 + 1 + 1 + 2; statements != want { // 60 are 25, 25, 5 and 5, and of the 31 one in between is another
		t.Errorf("%d statements, and not %d", statements, want)
	}
}
