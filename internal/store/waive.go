package store

import (
	"context"

	"patra"
)

var (
	insertWaiver = stmt{"insert_waiver", `INSERT INTO ing_gap_waiver (cursor_id, window_from, window_to, reason, approved_by, created_at) VALUES (?, ?, ?, ?, ?, ?)`}
	revokeWaiver = stmt{"revoke_waiver", `UPDATE ing_gap_waiver SET revoked_at = ?, record_remarks = ? WHERE cursor_id = ? AND window_from >= ? AND window_to <= ? AND (id = ? OR ? = 0) AND revoked_at IS NULL`}
	oneWaiver    = stmt{"one_waiver", `SELECT id, cursor_id, window_from, window_to, reason, approved_by, created_at, revoked_at FROM ing_gap_waiver WHERE id = ?`}

	insertPersonEvent = stmt{"insert_person_event", `INSERT INTO ing_cursor_event
		(cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
		 cause_code, prev_value, new_value, prev_instant, new_instant, window_from, window_to, actor, idempotent_key, created_at, record_remarks)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'TIME', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	moveCursorByHand = stmt{"move_cursor_by_hand", `UPDATE ing_cursor SET cursor_value = ?, normalized_instant = ?, version = version + 1, updated_at = ? WHERE id = ? AND version = ?`}
)

// Waiver is one waiver by its id; patra.ErrNotFound if there is none.
func (s *Store) Waiver(ctx context.Context, id int64) (w patra.Waiver, err error) {
	found, err := s.read(ctx).one(oneWaiver, []any{id}, &w.ID, &w.CursorID, &w.Window.From, &w.Window.To, textInto{&w.Reason}, textInto{&w.By}, &w.At, &w.RevokedAt)
	if err == nil && !found {
		err = patra.ErrNotFound
	}
	return w, err
}

// Waive signs a stretch of a cursor's time off as missing. The watermark passes it at once, if it stood there;
// completeness does not. The stretch stays on the list of gaps until somebody has read it.
func (s *Store) Waive(ctx context.Context, now patra.Instant, w patra.Waiver) (c patra.Cursor, err error) {
	err = s.write(ctx, "waive", func(t *tx) error {
		found, err := t.bumpCursor(w.CursorID)
		if err != nil {
			return err
		}
		c = *found
		if _, err := t.insert(insertWaiver, c.ID, w.Window.From, w.Window.To, w.Reason, w.By, now); err != nil {
			return err
		}
		if err := t.setWatermark(now, &c, c.Value, patra.CauseAdvance, w); err != nil {
			return err
		}
		return t.recordWaiver(patra.AuditWaive, c, w)
	})
	return c, err
}

// Revoke takes back the waivers that lie inside a window, or only the one whose id is said, and tells how many there were. A watermark that had passed them
// goes back to where the coverage really ends, with an event that says who did that: the promise never stands on a word
// that was taken back.
func (s *Store) Revoke(ctx context.Context, now patra.Instant, w patra.Waiver) (c patra.Cursor, n int64, err error) {
	err = s.write(ctx, "revoke waiver", func(t *tx) error {
		found, err := t.bumpCursor(w.CursorID)
		if err != nil {
			return err
		}
		c = *found
		if n, err = t.exec(revokeWaiver, now, asJSON(map[string]any{"revoked_by": w.By, "reason": w.Reason}), c.ID, w.Window.From, w.Window.To, w.ID, w.ID); err != nil || n == 0 {
			return err
		}
		if err := t.setWatermark(now, &c, c.Origin, patra.CauseRewind, w); err != nil {
			return err
		}
		return t.recordWaiver(patra.AuditRevoke, c, w)
	})
	return c, n, err
}

// recordWaiver writes down who said what about a stretch, and where the watermark stands since.
func (t *tx) recordWaiver(action patra.AuditAction, c patra.Cursor, w patra.Waiver) error {
	return t.auditAction(action, w.By, patra.WorkTarget(patra.ScopeCursor, c.ID).String(), w.Reason, map[string]any{"window": w.Window.String(), "watermark": c.Value.String()})
}

// bumpCursor locks a cursor whose need is about to change: planners must read it again.
func (t *tx) bumpCursor(cursorID int64) (*patra.Cursor, error) {
	if _, err := t.exec(stirCursorPlan, cursorID); err != nil {
		return nil, err
	}
	c, err := t.oneCursor(lockCursor, cursorID)
	if err == nil && c == nil {
		err = patra.ErrNotFound
	}
	return c, err
}

// setWatermark puts a watermark where the coverage and the waivers end, seen from a moment on. The event comes first.
func (t *tx) setWatermark(now patra.Instant, c *patra.Cursor, from patra.Instant, cause string, why patra.Waiver) error {
	waived, err := t.windows(selectWaivers, c.ID, from)
	if err != nil {
		return err
	}
	value, err := contiguousEnd(from, patra.NewCoverage(waived...), coverageReader{t, c.ID})
	if err != nil || value == c.Value {
		return err
	}
	key := patra.Hash([]any{c.Namespace, c.Value.String(), value.String(), why.Window, cause, c.Version + 1})
	if _, err := t.insert(insertPersonEvent, c.ID, c.Version+1, c.Source, c.Endpoint, c.Operation, c.Key, c.Scope, c.ScopeKey, c.Direction(),
		cause, c.Value.String(), value.String(), c.Value, value, why.Window.From, why.Window.To, why.By, key, now, asJSON(map[string]any{"reason": why.Reason})); err != nil {
		return err
	}
	n, err := t.exec(moveCursorByHand, value.String(), value, now, c.ID, c.Version)
	if err == nil && n != 1 {
		err = patra.ErrIllegalMove
	}
	if err == nil && value > c.Value {
		err = t.writeCursorAdvanced(*c, value, workEvent{})
	}
	c.Value, c.Version = value, c.Version+1
	return err
}
