// Package invariants looks at the tables from outside: each promise of the harvester is a question that must have no answer.
//
// It shares no code with what writes the tables, so that a mistake there is not repeated here; where it needs a rule, it
// has a plainer one of its own. It only reads. A store may be large: a promise is one statement that gives only the rows
// that break it, or a walk over one cursor or one plan at a time.
//
// Its words: a promise is a sentence that is true of every store, whatever happened to the processes; a row breaks it.
package invariants

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"patra"
)

// Tables is a database, or a transaction of one.
type Tables interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Options is what cannot be read from the tables alone.
type Options struct {
	Now   patra.Instant // by the clock that decides leases; zero leaves out what depends on it
	Grace time.Duration // how long an expired lease may wait for somebody to take it over

	// Gaps is what people are told is missing of a cursor below a moment; nil leaves the comparison out.
	Gaps func(ctx context.Context, cursorID int64, until patra.Instant) ([]patra.Window, error)
}

// Invariant is one sentence with the question whether it is kept.
type Invariant struct {
	Text    string
	Next    string        // what a person does when it is broken
	Verdict patra.Verdict // when it is broken
	look    func(*checkRun) error
}

// shown is how many rows a violation names.
const shown = 5

// Check asks whether the promise is kept; nil if it is. What it reads should not change meanwhile: give it a transaction.
func (p Invariant) Check(ctx context.Context, db Tables, opt Options) (*patra.Violation, error) {
	l := &checkRun{ctx: ctx, db: db, opt: opt}
	if err := p.look(l); err != nil {
		return nil, fmt.Errorf("check whether %s: %w", p.Text, err)
	}
	if l.count == 0 {
		return nil, nil
	}
	return &patra.Violation{Promise: p.Text, Verdict: p.Verdict, Count: l.count, Rows: l.rows, Next: p.Next}, nil
}

// checkRun is one promise being checked.
type checkRun struct {
	ctx   context.Context
	db    Tables
	opt   Options
	count int64
	rows  []string
}

// found notes a row that breaks the promise.
func (l *checkRun) found(format string, args ...any) {
	if l.count++; l.count <= shown {
		l.rows = append(l.rows, fmt.Sprintf(format, args...))
	}
}

// each hands every row of a query to use.
func (l *checkRun) each(query string, use func(*sql.Rows) error, args ...any) error {
	rows, err := l.db.QueryContext(l.ctx, query, args...)
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

// ids reads a column of row ids.
func (l *checkRun) ids(query string, args ...any) (all []int64, err error) {
	err = l.each(query, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		all = append(all, id)
		return err
	}, args...)
	return all, err
}

// none is the promise that a query gives no row; each row it gives is the id of a noun.
func none(noun, query string) func(*checkRun) error {
	return func(l *checkRun) error { return l.none(noun, query) }
}

func (l *checkRun) none(noun, query string, args ...any) error {
	return l.each(query, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		l.found("%s %d", noun, id)
		return err
	}, args...)
}

// What a person does next.
const (
	report  = "This is a defect of patra: keep a copy of the store, and report it together with these rows"
	reread  = "Read the stretch again: patra harvest SOURCE --from DAY --to DAY --force. Then report it: it is a defect"
	redeem  = "Put back a copy of the store from before it was changed by hand, or report it together with these rows"
	release = "Say patra resume SOURCE/ENDPOINT, which sets it right, and report it together with these rows"
	resume  = "Nobody is at work on them: the next patra harvest, or patra serve, takes them over"
)

// Promises are all of them, the gravest first.
func Promises() []Invariant {
	var all []Invariant
	for _, group := range [][]Invariant{progress, slices, leases, ledger, records, controls, quotas, audits, alerts, snapshots} {
		for _, p := range group {
			if p.Verdict == "" {
				p.Verdict = patra.VerdictFail
			}
			all = append(all, p)
		}
	}
	return all
}
