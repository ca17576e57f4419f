package store

import (
	"context"
	"database/sql"

	"patra"
)

const cursorColumns = `id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key,
	origin_instant, origin_code, normalized_instant, sealed_instant, observed_max_value, version, plan_version, updated_at`

var (
	selectCursor = stmt{"select_cursor", `SELECT ` + cursorColumns + ` FROM ing_cursor
		WHERE provenance_code = ? AND endpoint_name = ? AND operation_code = ? AND cursor_key = ? AND namespace_scope_code = ? AND namespace_key = ?`}
	cursorByID   = stmt{"cursor_by_id", `SELECT ` + cursorColumns + ` FROM ing_cursor WHERE id = ?`}
	lockCursor   = stmt{"lock_cursor", `SELECT ` + cursorColumns + ` FROM ing_cursor WHERE id = ? {lock}`}
	insertCursor = stmt{"insert_cursor", `INSERT INTO ing_cursor
		(provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
		 expr_proto_hash, origin_instant, origin_code, cursor_value, normalized_instant, sealed_instant, version, plan_version, updated_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 'TIME', 'FORWARD', ?, ?, ?, ?, ?, ?, 0, 0, ?, ?)`}
	insertCursorEvent = stmt{"insert_cursor_event", `INSERT INTO ing_cursor_event
		(cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
		 cause_code, prev_value, new_value, prev_instant, new_instant, observed_max_value, window_from, window_to,
		 plan_id, slice_id, task_id, run_id, expr_hash, idempotent_key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'TIME', 'FORWARD', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	moveCursor = stmt{"move_cursor", `UPDATE ing_cursor
		SET cursor_value = ?, normalized_instant = ?, observed_max_value = ?, version = version + 1, plan_id = ?, slice_id = ?, task_id = ?, run_id = ?, expr_hash = ?, updated_at = ?
		WHERE id = ? AND version = ? AND normalized_instant < ?`}
	sealCursor = stmt{"seal_cursor", `UPDATE ing_cursor SET sealed_instant = ?, updated_at = ? WHERE id = ?`}

	selectAnswers = stmt{"select_answers", `SELECT id, cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, count_before, count_after,
		ids_seen, stored, quarantined, known_missing, rescans, closed_at, sealed_at FROM ing_coverage WHERE cursor_id = ? AND window_to > ? ORDER BY window_to, window_from`}
	selectWaivers = stmt{"select_waivers", `SELECT window_from, window_to FROM ing_gap_waiver WHERE cursor_id = ? AND window_to > ? AND revoked_at IS NULL`}
	selectLive    = stmt{"select_live", `SELECT window_from, window_to FROM ing_plan_slice WHERE cursor_id = ? AND status_code = 'READY'`}
	insertAnswer  = stmt{"insert_answer", `INSERT INTO ing_coverage
		(cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, count_before, count_after, ids_seen, stored, quarantined, known_missing, rescans, closed_at, sealed_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
)

// allTime is before every window: Date columns are never negative beyond it.
const allTime = -1 << 62

// Cursor finds the cursor of a namespace; nil if it was never harvested.
func (s *Store) Cursor(ctx context.Context, ns patra.Namespace) (*patra.Cursor, error) {
	return s.read(ctx).cursor(ns)
}

func (t *tx) cursor(ns patra.Namespace) (*patra.Cursor, error) {
	return t.oneCursor(selectCursor, ns.Source, ns.Endpoint, ns.Operation, ns.Key, ns.Scope, ns.ScopeKey)
}

func (t *tx) oneCursor(st stmt, args ...any) (*patra.Cursor, error) {
	var found *patra.Cursor
	err := t.rows(st, func(r *sql.Rows) error {
		c, err := scanCursor(r)
		found = &c
		return err
	}, args...)
	return found, err
}

func scanCursor(r *sql.Rows) (c patra.Cursor, err error) {
	err = r.Scan(&c.ID, &c.Source, &c.Endpoint, &c.Operation, &c.Key, &c.Scope, &c.ScopeKey,
		&c.Origin, textInto{&c.OriginCode}, &c.Value, &c.SealedThrough, textInto{&c.ObservedMax}, &c.Version, &c.PlanVersion, &c.UpdatedAt)
	return c, err
}

// EnsureCursor finds the cursor of a namespace or creates it with its origin, which never changes afterwards.
func (s *Store) EnsureCursor(ctx context.Context, now patra.Instant, ns patra.Namespace, origin patra.Instant, originCode string) (patra.Cursor, error) {
	var found *patra.Cursor
	err := s.write(ctx, "ensure cursor", func(t *tx) (err error) {
		if found, err = t.cursor(ns); err != nil || found != nil {
			return err
		}
		_, err = t.insert(insertCursor, ns.Source, ns.Endpoint, ns.Operation, ns.Key, ns.Scope, ns.ScopeKey,
			ns.ScopeKey, origin, originCode, origin.String(), origin, origin, now, now)
		if err != nil && !s.dialect.duplicate(err) {
			return err
		}
		found, err = t.cursor(ns)
		return err
	})
	if err != nil {
		return patra.Cursor{}, err
	}
	return *found, nil
}

// need is the state of a cursor at one moment.
type need struct {
	cursor  patra.Cursor
	covered patra.Coverage
	live    patra.Coverage
}

// Need is what a planner must know about a cursor: what is covered and what is under way. The cursor's PlanVersion must
// not have moved when the slices made from it are inserted.
func (s *Store) Need(ctx context.Context, cursorID int64) (patra.Cursor, patra.Coverage, patra.Coverage, error) {
	n, err := s.read(ctx).need(cursorID)
	return n.cursor, n.covered, n.live, err
}

// need needs no transaction, because of its order: the version first, so that whatever is planned later is noticed;
// then what is live, then what is covered, so that a slice that closes in between is seen twice and never not at all.
func (t *tx) need(cursorID int64) (n need, err error) {
	c, err := t.oneCursor(cursorByID, cursorID)
	if err != nil {
		return n, err
	}
	if c == nil {
		return n, patra.ErrNotFound
	}
	n.cursor = *c
	live, err := t.windows(selectLive, cursorID)
	if err != nil {
		return n, err
	}
	answers, err := t.answers(cursorID, allTime)
	if err != nil {
		return n, err
	}
	waived, err := t.windows(selectWaivers, cursorID, allTime)
	if err != nil {
		return n, err
	}
	n.covered = patra.Merged(answers).Union(patra.NewCoverage(waived...))
	n.live = patra.NewCoverage(live...)
	return n, nil
}

func (t *tx) windows(st stmt, args ...any) (ws []patra.Window, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var w patra.Window
		err := r.Scan(&w.From, &w.To)
		ws = append(ws, w)
		return err
	}, args...)
	return ws, err
}

func (t *tx) answers(cursorID int64, after patra.Instant) (all []patra.Answer, err error) {
	err = t.rows(selectAnswers, func(r *sql.Rows) error {
		var a patra.Answer
		err := r.Scan(&a.ID, &a.CursorID, &a.SliceID, &a.Window.From, &a.Window.To, &a.Kind, &a.State, &a.Trust, &a.CountBefore, &a.CountAfter,
			&a.IDsSeen, &a.Stored, &a.Quarantined, &a.KnownMissing, &a.Rescans, &a.ClosedAt, &a.SealedAt)
		all = append(all, a)
		return err
	}, cursorID, after)
	return all, err
}

// cover adds one answer to a cursor's coverage and moves the watermark as far as the coverage reaches: the event
// first, then the value, under the lock of the cursor row. It moves nothing when there is a hole in front.
func (t *tx) cover(now patra.Instant, a patra.Answer, by patra.Claim, exprHash string, observedMax string) error {
	c, err := t.oneCursor(lockCursor, a.CursorID)
	if err != nil {
		return err
	}
	if c == nil {
		return patra.ErrNotFound
	}
	_, err = t.insert(insertAnswer, a.CursorID, a.SliceID, a.Window.From, a.Window.To, a.Kind, a.State, a.Trust, a.CountBefore, a.CountAfter,
		a.IDsSeen, a.Stored, a.Quarantined, a.KnownMissing, a.Rescans, a.ClosedAt, a.SealedAt, now)
	if err != nil {
		return err
	}
	answers, err := t.answers(c.ID, min(c.Value, c.SealedThrough, a.Window.From))
	if err != nil {
		return err
	}
	waived, err := t.windows(selectWaivers, c.ID, c.Value)
	if err != nil {
		return err
	}
	if err := t.advance(now, *c, patra.Merged(answers).Union(patra.NewCoverage(waived...)), a, by, exprHash, observedMax); err != nil {
		return err
	}
	// What was read before the origin, because somebody insisted, is no part of the promise.
	if sealed := max(patra.SealedFrontier(c.SealedThrough, a, answers), c.Origin); sealed != c.SealedThrough {
		_, err = t.exec(sealCursor, sealed, now, c.ID)
	}
	return err
}

func (t *tx) advance(now patra.Instant, c patra.Cursor, covered patra.Coverage, a patra.Answer, by patra.Claim, exprHash, observedMax string) error {
	reach := covered.Frontier(c.Value)
	if reach <= c.Value {
		return nil
	}
	observedMax = later(c.ObservedMax, observedMax)
	_, err := t.insert(insertCursorEvent, c.ID, c.Version+1, c.Source, c.Endpoint, c.Operation, c.Key, c.Scope, c.ScopeKey,
		patra.CauseAdvance, c.Value.String(), reach.String(), c.Value, reach, optional(observedMax), a.Window.From, a.Window.To,
		by.Task.PlanID, a.SliceID, by.TaskID, by.RunID, exprHash, patra.EventKey(c.Namespace, c.Value, reach, a.Window, by.RunID), now)
	if err != nil {
		return err
	}
	n, err := t.exec(moveCursor, reach.String(), reach, optional(observedMax), by.Task.PlanID, a.SliceID, by.TaskID, by.RunID, exprHash, now,
		c.ID, c.Version, reach)
	if err == nil && n != 1 {
		err = patra.ErrIllegalMove
	}
	return err
}

// later is the greater of two moments as text; an empty or unreadable one is before all others.
func later(a, b string) string {
	x, errA := patra.ParseInstant(a)
	y, errB := patra.ParseInstant(b)
	if errB != nil || (errA == nil && x > y) {
		return a
	}
	return b
}
