package storetest

import (
	"database/sql"
	"testing"

	"patra"
	"patra/internal/store/invariants"
)

// CheckInvariants looks at the tables from outside: every promise must be kept. What depends on the time is left out,
// because many tests have a time of their own.
func CheckInvariants(t testing.TB, db *sql.DB) {
	t.Helper()
	for _, v := range broken(t, db, invariants.Options{}) {
		t.Errorf("broken: %s: %d rows, such as %v", v.Promise, v.Count, v.Rows)
	}
}

// broken lists the promises that the tables do not keep.
func broken(t testing.TB, db invariants.Tables, opt invariants.Options) (all []patra.Violation) {
	t.Helper()
	for _, p := range invariants.Promises() {
		v, err := p.Check(t.Context(), db, opt)
		if err != nil {
			t.Fatal(err)
		}
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}

func scan(t testing.TB, db *sql.DB, query string, use func(*sql.Rows) error) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
