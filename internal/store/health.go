package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	sqliteVersion = stmt{"sqlite_version", `SELECT sqlite_version()`}
	serverVersion = stmt{"server_version", `SELECT VERSION()`}
	quickCheck    = stmt{"quick_check", `PRAGMA quick_check(5)`}
	countExpired  = stmt{"count_expired", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' AND leased_until < {now} - ?`}
	countFailed   = stmt{"count_failed", `SELECT COUNT(*), COUNT(*) - COUNT(cursor_id) FROM ing_task WHERE status_code = 'FAILED'`}
	countQueued   = stmt{"count_queued", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'QUEUED'`}
)

// Engine is the database behind the store, with its version.
func (s *Store) Engine(ctx context.Context) (string, error) {
	name, st := "SQLite ", sqliteVersion
	if !s.Embedded() {
		name, st = "", serverVersion
	}
	var version string
	_, err := s.read(ctx).one(st, nil, textInto{&version})
	return name + version, err
}

// File is the path of the embedded store; empty where a server keeps it, or nobody does.
func (s *Store) File() string { return s.path }

// Integrity asks the embedded engine whether its file is sound, and gives what it complains about. Servers look after
// their own files.
func (s *Store) Integrity(ctx context.Context) (complaints []string, err error) {
	if !s.Embedded() {
		return nil, nil
	}
	err = s.read(ctx).rows(quickCheck, func(r *sql.Rows) error {
		var line string
		err := r.Scan(&line)
		if line != "ok" {
			complaints = append(complaints, line)
		}
		return err
	})
	return complaints, err
}

// Troubles counts tasks that nobody holds although they are running, tasks that failed, and tasks that wait.
func (s *Store) Troubles(ctx context.Context) (t patra.Troubles, err error) {
	read := s.read(ctx)
	if _, err = read.one(countExpired, []any{leaseGrace.Microseconds()}, &t.Expired); err != nil {
		return t, err
	}
	if _, err = read.one(countFailed, nil, &t.Failed, &t.ByID); err != nil {
		return t, err
	}
	_, err = read.one(countQueued, nil, &t.Queued)
	return t, err
}
