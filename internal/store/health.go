package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	quickCheck   = stmt{"quick_check", `PRAGMA quick_check(5)`}
	wholeCheck   = stmt{"integrity_check", `PRAGMA integrity_check(5)`} // also whether every index has what its table has
	countExpired = stmt{"count_expired", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' AND leased_until < {now} - ?`}
	countFailed  = stmt{"count_failed", `SELECT COUNT(*), COUNT(*) - COUNT(cursor_id) FROM ing_task WHERE status_code = 'FAILED'`}
	countQueued  = stmt{"count_queued", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'QUEUED'`}
)

// File is the path of the embedded store; empty where a server keeps it, or nobody does.
func (s *Store) File() string { return s.path }

// Integrity asks the embedded engine whether its file is sound, and gives what it complains about. Servers look after
// their own files. Reading all of a large file takes minutes; deep takes a multiple of that.
func (s *Store) Integrity(ctx context.Context, deep bool) (complaints []string, err error) {
	if !s.Embedded() {
		return nil, nil
	}
	check := quickCheck
	if deep {
		check = wholeCheck
	}
	err = s.read(ctx).rows(check, func(r *sql.Rows) error {
		var line string
		err := r.Scan(&line)
		if line != "ok" {
			complaints = append(complaints, line)
		}
		return err
	})
	return complaints, err
}

// StuckWork counts tasks that nobody holds although they are running, tasks that failed, and tasks that wait.
func (s *Store) StuckWork(ctx context.Context) (t patra.StuckWork, err error) {
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
