package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// kept tells how many statements the connection of a pool keeps.
func kept(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error {
		n = len(c.(*stmtCacheConn).kept)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func embeddedForTest(t *testing.T) *sql.DB {
	t.Helper()
	db, err := openEmbedded("file:" + filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE x (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	return db
}

// What comes a second time is kept, up to a limit, and what was used longest ago makes room.
func TestStatementsThatComeAgainAreKept(t *testing.T) {
	db := embeddedForTest(t)
	for range 3 {
		for n := range mostCompiled / 2 {
			if _, err := db.Exec(fmt.Sprintf("INSERT INTO x VALUES (? + %d)", n), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := kept(t, db); n != mostCompiled/2 {
		t.Errorf("%d statements are kept", n)
	}
	for range 2 {
		for n := range mostCompiled {
			var sum int
			if err := db.QueryRow(fmt.Sprintf("SELECT COUNT(*) + %d FROM x", n)).Scan(&sum); err != nil || sum != 3*mostCompiled/2+n {
				t.Fatal(sum, err)
			}
		}
	}
	if n := kept(t, db); n != mostCompiled {
		t.Errorf("%d statements are kept, and the limit is %d", n, mostCompiled)
	}
}

// A statement whose rows are being read is not taken away from its reader, whoever runs the same text meanwhile.
func TestAReaderKeepsItsStatement(t *testing.T) {
	db := embeddedForTest(t)
	if _, err := db.Exec(`INSERT INTO x VALUES (1), (2), (3)`); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const text = "SELECT n FROM x WHERE n >= ? ORDER BY n"
	read := func(from int, each func()) (all []int) {
		rows, err := tx.Query(text, from)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
			each()
		}
		return all
	}
	nothing := func() {}
	for range 3 {
		if got := fmt.Sprint(read(1, func() { read(3, nothing) })); got != "[1 2 3]" {
			t.Errorf("read %s", got)
		}
	}
}

// A statement that is lent to a loop is nobody else's until it comes back, and the tables may change under it.
func TestALentStatementComesBack(t *testing.T) {
	db := embeddedForTest(t)
	const text = "INSERT INTO x VALUES (?)"
	for round := range 4 {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		loop, err := tx.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			if _, err := loop.Exec(n); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(text, n); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(fmt.Sprintf("ALTER TABLE x ADD COLUMN c%d INTEGER DEFAULT 7", round)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(fmt.Sprintf("ALTER TABLE x DROP COLUMN c%d", round)); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM x").Scan(&n); err != nil || n != 40 {
		t.Error(n, err)
	}
}
