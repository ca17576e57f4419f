package store

import (
	"context"
	"database/sql"
	"time"

	"patra"
	"patra/internal/store/invariants"
)

// leaseGrace is how long an expired lease may wait to be taken over before somebody should know.
const leaseGrace = 15 * time.Minute

var selectNow = stmt{"select_now", `SELECT {now}`}

// Now is the database's clock, which decides leases.
func (s *Store) Now(ctx context.Context) (now patra.Instant, err error) {
	_, err = s.read(ctx).one(selectNow, nil, &now)
	return now, err
}

// Verify looks whether the tables keep every promise, and lists those that are broken. It tells before each how far it
// is; told may be nil. A harvest may go on meanwhile: each promise is checked in a transaction that sees one moment.
func (s *Store) Verify(ctx context.Context, told func(done, all int, promise string)) (broken []patra.Violation, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	promises := invariants.Promises()
	for i, p := range promises {
		if told != nil {
			told(i, len(promises), p.Text)
		}
		v, err := s.verify(ctx, p, invariants.Options{Now: now, Grace: leaseGrace})
		if err != nil {
			return broken, err
		}
		if v != nil {
			broken = append(broken, *v)
		}
	}
	return broken, nil
}

func (s *Store) verify(ctx context.Context, p invariants.Invariant, opt invariants.Options) (*patra.Violation, error) {
	t, err := s.ro.BeginTx(ctx, &sql.TxOptions{ReadOnly: s.dialect.readOnly, Isolation: s.dialect.snapshot})
	if err != nil {
		return nil, err
	}
	defer t.Rollback()
	// The list of gaps comes from the same moment, by the way that commands take.
	own := &tx{ctx: ctx, s: s, db: s.ro, sql: t}
	opt.Gaps = func(_ context.Context, cursorID int64, until patra.Instant) ([]patra.Window, error) {
		return own.missing(cursorID, until)
	}
	return p.Check(ctx, t, opt)
}
