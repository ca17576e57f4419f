package verifier

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"patra"
)

// Given is everything that the checker is given. All but the store may be missing; what needs it is then skipped.
type Given struct {
	Store     string            // the address of the database: sqlite:FILE or mysql://USER:PASSWORD@HOST/NAME
	Evidence  string            // the folder of kept answers
	Logs      []string          // files that our processes wrote
	Truth     map[string]string // by source, or source/endpoint: the provider's journal
	AccessLog []string          // the provider's own logs of requests
	Gaps      string            // what people are told is missing: the output of patra coverage gaps -o json
	Secrets   []string          // texts that may stand nowhere
	Rate      float64           // requests a second that are permitted; 0 leaves the question out
	Burst     int               // and how many at once
	Forgiven  int               // more than that in a second, of processes that are stopped on their way
	Now       patra.Instant     // by the clock of the store; zero leaves out what depends on it
	Grace     time.Duration     // how long an expired lease may wait
	Keep      time.Duration     // for how long answers are kept at least
}

// Scene is what is given, opened.
type Scene struct {
	Given
	db    *sql.Tx
	files bool // it is a file of SQLite
	truth map[string]*truth
	seen  *accessLog // nil if there is none
	told  func(ctx context.Context, cursorID int64, until patra.Instant) ([]patra.Window, error)
}

// Check asks for every invariant. An error is about what was given, and not about the harvest.
func Check(ctx context.Context, g Given) ([]Invariant, error) {
	db, kind, err := open(g.Store)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	opts := &sql.TxOptions{ReadOnly: true}
	if kind == "mysql" {
		opts.Isolation = sql.LevelRepeatableRead // one picture for all questions
	}
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	defer tx.Rollback() // nothing was changed
	s := &Scene{Given: g, db: tx, files: kind == "sqlite", truth: map[string]*truth{}}
	if err := s.load(); err != nil {
		return nil, err
	}
	all := allInvariants()
	for i := range all {
		if err := all[i].ask(ctx, s, &all[i]); err != nil {
			return nil, fmt.Errorf("ask whether %s: %w", all[i].Text, err)
		}
	}
	return all, nil
}

// load reads what fits into memory: truths, and the log of requests.
func (s *Scene) load() (err error) {
	for of, file := range s.Truth {
		if s.truth[of], err = readTruth(of, file); err != nil {
			return err
		}
	}
	if len(s.AccessLog) > 0 {
		if s.seen, err = readAccessLog(s.AccessLog); err != nil {
			return err
		}
	}
	if s.Gaps != "" {
		if s.told, err = readGaps(s.Gaps); err != nil {
			return err
		}
	}
	return nil
}

// each hands every row of a query to use. Nothing else is asked meanwhile: a transaction of MySQL has one connection.
func (s *Scene) each(ctx context.Context, query string, use func(*sql.Rows) error, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number asks for one.
func (s *Scene) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// split cuts the name of a truth into source and endpoint, which may be missing.
func split(of string) (source, endpoint string) {
	source, endpoint, _ = strings.Cut(of, "/")
	return source, endpoint
}
