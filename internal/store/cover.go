package store

import (
	"strconv"

	"patra"
)

var (
	insertCursorEvent = stmt{"insert_cursor_event", `INSERT INTO ing_cursor_event
		(cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code,
		 cause_code, prev_value, new_value, prev_instant, new_instant, observed_max_value, window_from, window_to,
		 plan_id, slice_id, task_id, run_id, expr_hash, idempotent_key, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'TIME', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	moveCursor = stmt{"move_cursor", `UPDATE ing_cursor
		SET cursor_value = ?, normalized_instant = ?, observed_max_value = ?, version = version + 1, plan_id = ?, slice_id = ?, task_id = ?, run_id = ?, expr_hash = ?, updated_at = ?
		WHERE id = ? AND version = ? AND normalized_instant < ?`}
	sealCursor = stmt{"seal_cursor", `UPDATE ing_cursor SET sealed_instant = ?, updated_at = ? WHERE id = ?`}

	insertAnswer = stmt{"insert_answer", `INSERT INTO ing_coverage
		(cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, count_before, count_after, ids_seen, {stored}, quarantined, known_missing, rescans, closed_at, sealed_at, proof, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
)

// cover adds one answer to a cursor's coverage and moves the watermark as far as the coverage reaches: the event
// first, then the value, under the lock of the cursor row. It moves nothing when there is a hole in front.
func (t *tx) cover(now patra.Instant, a patra.CoverageEntry, by patra.Claim, exprHash string, observedMax string) error {
	c, err := t.oneCursor(lockCursor, a.CursorID)
	if err != nil {
		return err
	}
	if c == nil {
		return patra.ErrNotFound
	}
	_, err = t.insert(insertAnswer, a.CursorID, a.SliceID, a.Window.From, a.Window.To, a.Kind, a.State, a.Trust, a.CountBefore, a.CountAfter,
		a.IDsSeen, a.Stored, a.Quarantined, a.KnownMissing, a.Rescans, a.ClosedAt, a.SealedAt, optionalJSON(a.Proof), now)
	if err != nil {
		return err
	}
	waived, err := t.windows(selectWaivers, c.ID, c.Value)
	if err != nil {
		return err
	}
	value, sealed, err := nextWatermark(*c, a, patra.NewCoverage(waived...), coverageReader{t, c.ID})
	if err != nil {
		return err
	}
	if err := t.advance(now, *c, value, a, by, exprHash, observedMax); err != nil {
		return err
	}
	if sealed != c.SealedThrough {
		_, err = t.exec(sealCursor, sealed, now, c.ID)
	}
	return err
}

// optionalJSON is a value as a column of JSON; NULL where there is none.
func optionalJSON[T any](v *T) any {
	if v == nil {
		return nil
	}
	return asJSON(v)
}

func (t *tx) advance(now patra.Instant, c patra.Cursor, reach patra.Instant, a patra.CoverageEntry, by patra.Claim, exprHash, observedMax string) error {
	if reach <= c.Value {
		return nil
	}
	observedMax = later(c.ObservedMax, observedMax)
	_, err := t.insert(insertCursorEvent, c.ID, c.Version+1, c.Source, c.Endpoint, c.Operation, c.Key, c.Scope, c.ScopeKey, c.Direction(),
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
	if err != nil {
		return err
	}
	return t.writeCursorAdvanced(c, reach, workEvent{Plan: by.Task.PlanID, Slice: a.SliceID, Task: by.TaskID})
}

// writeCursorAdvanced says that a watermark has moved forward. A move has a number of its own.
func (t *tx) writeCursorAdvanced(c patra.Cursor, to patra.Instant, n workEvent) error {
	n.Source, n.Endpoint, n.Operation, n.Cursor, n.From, n.To = c.Source, c.Endpoint, string(c.Operation), c.ID, &c.Value, &to
	t.moved = append(t.moved, c.Namespace)
	return t.writeEvent(patra.EventCursorAdvanced, "cursor/"+strconv.FormatInt(c.ID, 10), []any{c.Version + 1}, n)
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
