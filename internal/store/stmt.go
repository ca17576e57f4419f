package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"patra"
)

// stmt is a named SQL text, so that errors, metrics and slow-query logs speak of the same thing.
type stmt struct{ name, text string }

// filled is the statement with something in place of a mark.
func (st stmt) filled(mark, text string) stmt {
	st.text = strings.Replace(st.text, mark, text, 1)
	return st
}

// tx is one transaction, or one read outside of any, with the context it lives in.
type tx struct {
	ctx  context.Context
	s    *Store
	db   *sql.DB
	sql  *sql.Tx // nil for a plain read
	loop map[stmt]*sql.Stmt
	// short is for statements that are over at once. The driver of SQLite keeps a goroutine beside every statement that can be
	// called off, which costs as much as the row; that the transaction is called off is noticed by the next that can be.
	short context.Context

	moved []patra.Namespace // watermarks that it moves
}

// maxTries bounds the whole-transaction retries after a deadlock or a busy database.
const maxTries = 12

// write runs do in one transaction and retries the whole of it when the engine asks for that. landed, if given,
// is asked when a COMMIT got no answer: it reads whether the transaction is there.
func (s *Store) write(ctx context.Context, name string, do func(*tx) error, landed ...func(*tx) (bool, error)) error {
	return s.writeAs(ctx, inTurn, name, do, landed...)
}

// writeAs is write for those too who need not wait for their turn.
func (s *Store) writeAs(ctx context.Context, when writerPriority, name string, do func(*tx) error, landed ...func(*tx) (bool, error)) error {
	for try := 1; ; try++ {
		t, err := s.writeOnce(ctx, when, do)
		if err == nil {
			t.afterCommit()
			s.there.heard(nil, true)
			return nil
		}
		retry := s.dialect.retryable(err) || brokenConn(err) || errors.Is(err, errSlow) || errors.Is(err, errRaced)
		if brokenConn(err) && len(landed) > 0 {
			there, readErr := s.outcome(ctx, landed[0])
			if readErr == nil && there {
				t.afterCommit()
				return nil
			}
			retry = readErr == nil
		}
		if !retry || try == maxTries || ctx.Err() != nil {
			if Unavailable(err) {
				s.refused()
			}
			s.there.heard(err, true)
			return fmt.Errorf("%s: %w", name, markUnavailable(err))
		}
		s.retried(err)
		if err := sleepBackoff(ctx, try); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// outcome asks until it is told whether a transaction is there: one that did not know, and did everything once more, would meet
// what it has done itself.
func (s *Store) outcome(ctx context.Context, landed func(*tx) (bool, error)) (there bool, err error) {
	for try := 1; ; try++ {
		if there, err = landed(s.read(ctx)); err == nil || try == maxTries {
			return there, err
		}
		if over := sleepBackoff(ctx, try); over != nil {
			return false, over
		}
	}
}

// sleepBackoff waits before the next try, longer from try to try, and as chance will have it: else those who met would meet again.
func sleepBackoff(ctx context.Context, try int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 8)))):
		return nil
	}
}

// writeOnce gives the transaction too, as far as it came: that a COMMIT got no answer does not mean that it did not land.
func (s *Store) writeOnce(ctx context.Context, when writerPriority, do func(*tx) error) (*tx, error) {
	if s.Embedded() {
		if err := s.writers.enter(ctx, when); err != nil {
			return nil, err
		}
		defer s.writers.leave()
	}
	began, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer began.Rollback()
	t := &tx{ctx: ctx, s: s, db: s.db, sql: began, loop: map[stmt]*sql.Stmt{}, short: ctx}
	if s.Embedded() {
		t.short = context.WithoutCancel(ctx)
	}
	if err := do(t); err != nil {
		return t, err
	}
	return t, t.commit()
}

// commit is timed as a statement of its own: it is where the disk is waited for.
func (t *tx) commit() error {
	defer t.observeDuration("commit", t.startTimer())
	return t.sql.Commit()
}

// read is a place for queries outside of a transaction.
func (s *Store) read(ctx context.Context) *tx { return &tx{ctx: ctx, s: s, db: s.ro} }

// now is the database's clock as SQL. Under a test clock it is that clock's number.
func (s *Store) now() string {
	if s.clock == nil {
		return s.dialect.now
	}
	return strconv.FormatInt(s.clock().UnixMicro(), 10)
}

// render fills in what the dialect says. The rules are made once, unless a test clock goes on.
func (s *Store) render(text string) string {
	switch {
	case !strings.Contains(text, "{"):
		return text
	case s.clock != nil:
		return s.dialect.rules(s.now()).Replace(text)
	}
	s.made.Do(func() { s.rules = s.dialect.rules(s.now()) })
	return s.rules.Replace(text)
}

// many runs one statement for a loop of rows: it is compiled once for this transaction.
func (t *tx) many(st stmt, args ...any) (sql.Result, error) {
	t.traceStatement(st, st.text, args)
	defer t.observeDuration(st.name, t.startTimer())
	p, ok := t.loop[st]
	if !ok {
		var err error
		if p, err = t.sql.PrepareContext(t.ctx, t.s.render(st.text)); err != nil {
			return nil, fmt.Errorf("%s: %w", st.name, err)
		}
		t.loop[st] = p // closed with the transaction
	}
	res, err := p.ExecContext(t.short, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", st.name, err)
	}
	return res, nil
}

// traceStatement shows a statement to whoever looks on.
func (t *tx) traceStatement(st stmt, text string, args []any) {
	if t.s.trace != nil {
		t.s.trace(st.name, text, args)
	}
}

// exec runs a statement and tells how many rows it found.
func (t *tx) exec(st stmt, args ...any) (int64, error) {
	res, err := t.result(st, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// insert runs an INSERT and gives the new row's id.
func (t *tx) insert(st stmt, args ...any) (int64, error) {
	res, err := t.result(st, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (t *tx) result(st stmt, args ...any) (res sql.Result, err error) {
	text := t.s.render(st.text)
	t.traceStatement(st, text, args)
	defer t.observeDuration(st.name, t.startTimer())
	if t.sql != nil {
		res, err = t.sql.ExecContext(t.ctx, text, args...)
	} else {
		res, err = t.db.ExecContext(t.ctx, text, args...)
		t.s.there.heard(err, true)
		err = markUnavailable(err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", st.name, err)
	}
	return res, nil
}

// rows runs a query and hands each row to scan.
func (t *tx) rows(st stmt, scan func(*sql.Rows) error, args ...any) error {
	var theirs error // of whoever is handed the rows: it may write to a network of its own
	err := t.scan(st, func(r *sql.Rows) error {
		theirs = scan(r)
		return theirs
	}, args...)
	if t.sql == nil && theirs == nil { // of a transaction, whoever began it hears
		t.s.there.heard(err, false)
		err = markUnavailable(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", st.name, err)
	}
	return nil
}

func (t *tx) scan(st stmt, scan func(*sql.Rows) error, args ...any) error {
	text := t.s.render(st.text)
	t.traceStatement(st, text, args)
	defer t.observeDuration(st.name, t.startTimer())
	var rows *sql.Rows
	var err error
	if t.sql != nil {
		rows, err = t.sql.QueryContext(t.ctx, text, args...)
	} else {
		rows, err = t.db.QueryContext(t.ctx, text, args...)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads a single row; ok tells whether there was one.
func (t *tx) one(st stmt, args []any, dest ...any) (ok bool, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		if ok {
			return errors.New("more than one row")
		}
		ok = true
		return r.Scan(dest...)
	}, args...)
	return ok, err
}

// ids reads a column of row ids.
func (t *tx) ids(st stmt, args ...any) (all []int64, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		all = append(all, id)
		return err
	}, args...)
	return all, err
}

// marks is a list of n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// text is JSON as the tables hold it: a string, or NULL when there is none. A []byte would become a BLOB.
func text(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

// orElse is JSON as the tables hold it, where there must be some.
func orElse(raw json.RawMessage, otherwise string) string {
	if len(raw) == 0 {
		return otherwise
	}
	return string(raw)
}

// asJSON is a value of ours as the tables hold it.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types always marshal
	}
	return string(b)
}

// optional is NULL for the zero value.
func optional[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// jsonInto scans a JSON column, whatever type the driver gives, NULL included.
type jsonInto struct{ dst *json.RawMessage }

// Scan implements sql.Scanner.
func (j jsonInto) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*j.dst = nil
	case string:
		*j.dst = json.RawMessage(v)
	case []byte:
		*j.dst = append(json.RawMessage(nil), v...)
	default:
		return fmt.Errorf("JSON column holds %T", src)
	}
	return nil
}

// textInto scans a nullable text column into a string that is empty for NULL.
type textInto struct{ dst *string }

// Scan implements sql.Scanner.
func (t textInto) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t.dst = ""
	case string:
		*t.dst = v
	case []byte:
		*t.dst = string(v)
	default:
		return fmt.Errorf("text column holds %T", src)
	}
	return nil
}

// markUnavailable is an error that says whether it is about the store itself.
func markUnavailable(err error) error {
	if err == nil || !Unavailable(err) {
		return err
	}
	return unavailable{err}
}

// unavailable marks an error that is about the store itself. It says no more than the error does.
type unavailable struct{ error }

// Unwrap gives the error, and what it means.
func (u unavailable) Unwrap() []error {
	if Damaged(u.error) {
		return []error{u.error, patra.ErrUnavailable, patra.ErrDamaged}
	}
	return []error{u.error, patra.ErrUnavailable}
}
