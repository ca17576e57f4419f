package store

import (
	"context"
	"strconv"

	"patra"
)

// farAway is when a task that is held back would be due: never.
const farAway = 253402300799000000 // the end of the year 9999

const scopeCursor = "CURSOR"

var (
	selectPause = stmt{"select_pause", `SELECT COUNT(*) FROM ing_control WHERE scope_code = ? AND scope_key = ? AND kind_code = 'PAUSE' AND state_code = 'PAUSED'`}
	insertPause = stmt{"insert_pause", `INSERT INTO ing_control (scope_code, scope_key, kind_code, state_code, failures, reason, actor, version, created_at)
		VALUES (?, ?, 'PAUSE', ?, 0, ?, ?, 1, ?)`}
	movePause = stmt{"move_pause", `UPDATE ing_control SET state_code = ?, reason = ?, actor = ?, version = version + 1 WHERE scope_code = ? AND scope_key = ? AND kind_code = 'PAUSE'`}
	park      = stmt{"park_tasks", `UPDATE ing_task SET scheduled_at = ?, wait_code = 'PAUSED' WHERE provenance_code = ? AND operation_code = ? AND status_code = 'QUEUED' AND cursor_id = ?`}
	unpark    = stmt{"unpark_tasks", `UPDATE ing_task SET scheduled_at = {now}, wait_code = NULL
		WHERE provenance_code = ? AND operation_code = ? AND status_code = 'QUEUED' AND cursor_id = ? AND wait_code = 'PAUSED'`}
)

// Pause holds a cursor's work back: what is queued waits, what is running finishes its page run, and nothing more is
// planned. Resume lets it go on.
func (s *Store) Pause(ctx context.Context, now patra.Instant, cursorID int64, reason, actor string) error {
	return s.control(ctx, now, cursorID, "PAUSED", reason, actor)
}

// Resume ends a pause.
func (s *Store) Resume(ctx context.Context, now patra.Instant, cursorID int64, reason, actor string) error {
	return s.control(ctx, now, cursorID, "RUNNING", reason, actor)
}

func (s *Store) control(ctx context.Context, now patra.Instant, cursorID int64, state, reason, actor string) error {
	return s.write(ctx, "pause or resume", func(t *tx) error {
		c, err := t.oneCursor(lockCursor, cursorID)
		if err != nil {
			return err
		}
		if c == nil {
			return patra.ErrNotFound
		}
		key := strconv.FormatInt(cursorID, 10)
		n, err := t.exec(movePause, state, reason, actor, scopeCursor, key)
		if err == nil && n == 0 {
			_, err = t.exec(insertPause, scopeCursor, key, state, reason, actor, now)
		}
		if err != nil {
			return err
		}
		if state == "PAUSED" {
			_, err = t.exec(park, farAway, c.Source, c.Operation, c.ID)
		} else {
			_, err = t.exec(unpark, c.Source, c.Operation, c.ID)
		}
		return err
	})
}

// Paused reports whether a cursor's work is held back.
func (s *Store) Paused(ctx context.Context, cursorID int64) (bool, error) {
	return s.read(ctx).paused(cursorID)
}

func (t *tx) paused(cursorID int64) (bool, error) {
	var n int
	_, err := t.one(selectPause, []any{scopeCursor, strconv.FormatInt(cursorID, 10)}, &n)
	return n > 0, err
}

// parkIfPaused holds back tasks that came into the queue while their cursor is paused.
func (t *tx) parkIfPaused(cursorID int64) error {
	if cursorID == 0 {
		return nil
	}
	paused, err := t.paused(cursorID)
	if err != nil || !paused {
		return err
	}
	c, err := t.oneCursor(cursorByID, cursorID)
	if err != nil || c == nil {
		return err
	}
	_, err = t.exec(park, farAway, c.Source, c.Operation, c.ID)
	return err
}
