package cli

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"patra/internal/store"
	"patra/internal/store/storetest"
)

// tablesOf are the names of our tables.
func tablesOf(t *testing.T, db *sql.DB, engine string) (all []string) {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND (name LIKE 'ing_%' OR name LIKE 'reg_%')`
	if engine != "sqlite" {
		query = `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND (table_name LIKE 'ing_%' OR table_name LIKE 'reg_%')`
	}
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	return all
}

// TestAStoreThatIsAhead: the next release has added a column to every table and tables of its own. This program works with
// that as if nothing were, says so when it serves, and migrates nothing. A release that did more than add is refused.
func TestAStoreThatIsAhead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		t.Parallel()
		s := newScene(t, e, byToken)
		db := storetest.Inspect(t, s.url)
		tables := tablesOf(t, db, e.Name)
		if len(tables) < 30 {
			t.Fatalf("the tables are %q", tables)
		}
		change := func(text string, args ...any) {
			t.Helper()
			if _, err := db.Exec(text, args...); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
		}
		for _, table := range tables {
			change("ALTER TABLE " + table + " ADD COLUMN later_known BIGINT")
		}
		change("CREATE TABLE ing_later (id INTEGER PRIMARY KEY, x BIGINT NOT NULL)")
		st := e.Connect(t, s.url)
		was, err := st.SchemaVersion(t.Context())
		if err != nil || was.Ahead() {
			t.Fatalf("%+v, %v", was, err)
		}
		change("INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", was.Store+1)
		s.finish()
		s.exact()
		ahead := fmt.Sprintf("is newer than this patra (version %d, this one knows %d)", was.Store+1, was.Program)
		if out, err := s.patra("migrate").CombinedOutput(); err != nil || !strings.Contains(string(out), ahead) {
			t.Errorf("migrate: %v\n%s", err, out)
		}
		if v, err := st.SchemaVersion(t.Context()); err != nil || v != (store.SchemaVersion{Store: was.Store + 1, Program: was.Program}) {
			t.Errorf("%+v, %v", v, err)
		}
		s.servesAhead()
		if out, _ := s.patra("doctor").Output(); !strings.Contains(string(out), "WARN  tables") {
			t.Errorf("doctor: %s", out)
		}
		change("INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", was.Store+1000)
		for _, args := range [][]string{{"serve"}, {"coverage", "show", s.code}, {"harvest", s.code}, {"migrate"}} {
			c := s.patra(args...)
			if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != exitEnvironment || !strings.Contains(string(out), "made by a newer patra") {
				t.Errorf("%q: %s\n%s", args, c.ProcessState, out)
			}
		}
	})
}

// servesAhead serves for a moment and looks what is said.
func (s *scene) servesAhead() {
	s.t.Helper()
	c := s.patra("serve", "--role", "executor")
	out := &lockedBuffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !bytes.Contains(out.copy(), []byte("Serving ")) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil || linesWith(out.tail(), "level=WARN", "newer patra") != 1 {
		s.t.Errorf("%v\n%s", err, out.tail())
	}
}
