package store

import (
	"context"
	"database/sql"

	"patra"
)

const cursorColumns = `id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key,
	expr_proto_hash, campaign, origin_instant, origin_code, normalized_instant, sealed_instant, observed_max_value, version, plan_version, updated_at, repository`

var (
	selectCursor = stmt{"select_cursor", `SELECT ` + cursorColumns + ` FROM ing_cursor
		WHERE provenance_code = ? AND endpoint_name = ? AND operation_code = ? AND cursor_key = ? AND namespace_scope_code = ? AND namespace_key = ?`}
	cursorByID   = stmt{"cursor_by_id", `SELECT ` + cursorColumns + ` FROM ing_cursor WHERE id = ?`}
	lockCursor   = stmt{"lock_cursor", `SELECT ` + cursorColumns + ` FROM ing_cursor WHERE id = ? {lock}`}
	insertCursor = stmt{"insert_cursor", `INSERT INTO ing_cursor
		(provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
		 expr_proto_hash, campaign, origin_instant, origin_code, cursor_value, normalized_instant, sealed_instant, version, plan_version, updated_at, created_at, repository)
		VALUES (?, ?, ?, ?, ?, ?, 'TIME', ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?)`}
	selectAnswers = stmt{"select_answers", `SELECT ` + answerColumns + ` FROM ing_coverage WHERE cursor_id = ? AND window_to > ? ORDER BY window_to, window_from`}
	selectAnswer  = stmt{"select_answer", `SELECT ` + answerColumns + ` FROM ing_coverage WHERE id = ?`}
	selectWaivers = stmt{"select_waivers", `SELECT window_from, window_to FROM ing_gap_waiver WHERE cursor_id = ? AND window_to > ? AND revoked_at IS NULL`}
	selectLive    = stmt{"select_live", `SELECT window_from, window_to, COALESCE(confirmed_from, 0), COALESCE(confirmed_to, 0) FROM ing_plan_slice
		WHERE cursor_id = ? AND status_code IN ('READY', 'PARTIAL')`}
	selectCovered = stmt{"select_covered", `SELECT window_from, window_to FROM ing_coverage WHERE cursor_id = ? ORDER BY window_from, window_to`}
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
		textInto{&c.ExprProtoHash}, textInto{&c.Campaign}, &c.Origin, textInto{&c.OriginCode}, &c.Value, &c.SealedThrough, textInto{&c.ObservedMax}, &c.Version, &c.PlanVersion, &c.UpdatedAt, textInto{&c.Repository})
	return c, err
}

// EnsureCursor finds the cursor of a namespace or creates it with its origin, which never changes afterwards.
func (s *Store) EnsureCursor(ctx context.Context, now patra.Instant, c patra.Cursor) (patra.Cursor, error) {
	var found *patra.Cursor
	err := s.write(ctx, "ensure cursor", func(t *tx) (err error) {
		ns := c.Namespace
		if found, err = t.cursor(ns); err != nil || found != nil {
			return err
		}
		_, err = t.insert(insertCursor, ns.Source, ns.Endpoint, ns.Operation, ns.Key, ns.Scope, ns.ScopeKey, ns.Direction(),
			optional(c.ExprProtoHash), optional(c.Campaign), c.Origin, c.OriginCode, c.Origin.String(), c.Origin, c.Origin, now, now, optional(c.Repository))
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
	if n.live, err = t.live(cursorID); err != nil {
		return n, err
	}
	if n.covered, err = t.merged(selectCovered, cursorID); err != nil {
		return n, err
	}
	waived, err := t.windows(selectWaivers, cursorID, allTime)
	n.covered = n.covered.Union(patra.NewCoverage(waived...))
	return n, err
}

// live is what somebody is at work on: slices that wait or run, and the rest of those that ended early and are to be
// cut. It is one statement, because between two of them a slice could become the other kind.
func (t *tx) live(cursorID int64) (patra.Coverage, error) {
	var all []patra.Window
	err := t.rows(selectLive, func(r *sql.Rows) error {
		var w, confirmed patra.Window
		err := r.Scan(&w.From, &w.To, &confirmed.From, &confirmed.To)
		all = append(all, patra.RemainingWindow(w, confirmed)...)
		return err
	}, cursorID)
	return patra.NewCoverage(all...), err
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

func (t *tx) answers(cursorID int64, after patra.Instant) ([]patra.CoverageEntry, error) {
	return t.answersBy(selectAnswers, cursorID, after)
}
