package storetest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
)

// Statement is one that a store has sent.
type Statement struct {
	Name, Text string
	Args       []any
}

// Statements collects what a store sends, each text once. Give its Tell to store.WithTrace.
type Statements struct {
	mu   sync.Mutex
	seen map[string]Statement
}

// Tell notes one.
func (s *Statements) Tell(name, text string, args []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]Statement{}
	}
	s.seen[text] = Statement{name, text, args}
}

// Take gives those since the last time.
func (s *Statements) Take() (all []Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.seen {
		all = append(all, st)
	}
	s.seen = nil
	sort.Slice(all, func(i, j int) bool { return all[i].Text < all[j].Text })
	return all
}

// Plan is how SQLite answers a statement, a line a step.
func Plan(t testing.TB, db *sql.DB, s Statement) (steps []string) {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+s.Text, s.Args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, s.Text)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// Sums are hashes of all that is in the tables of a SQLite file, by table.
func Sums(t testing.TB, db *sql.DB) map[string]string {
	t.Helper()
	sums := map[string]string{}
	names, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	var tables []string
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	for _, table := range tables {
		sums[table] = sumOf(t, db, table)
	}
	return sums
}

func sumOf(t testing.TB, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		for _, v := range values {
			fmt.Fprintf(&line, "%v|", *v.(*any))
		}
		lines = append(lines, line.String())
	}
	sort.Strings(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
