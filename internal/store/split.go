package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"patra"
)

var (
	// Through the cursors, of which there are few: there is no index by state alone.
	selectPartial = stmt{"select_partial", `SELECT ` + sliceColumns + ` FROM ing_plan_slice
		WHERE status_code = 'PARTIAL' AND cursor_id IN (SELECT c.id FROM ing_cursor c WHERE ? = 0 OR c.id = ?) ORDER BY cursor_id, window_to, id LIMIT ?`}
	lockSlice  = stmt{"lock_slice", `SELECT ` + sliceColumns + ` FROM ing_plan_slice WHERE id = ? AND plan_id = ? {lock}`}
	splitSlice = stmt{"split_slice", `UPDATE ing_plan_slice SET status_code = 'SPLIT' WHERE id = ? AND status_code = 'PARTIAL'`}
	failSlice  = stmt{"fail_slice", `UPDATE ing_plan_slice SET status_code = 'FAILED', closed_at = ? WHERE id = ? AND status_code = 'PARTIAL'`}

	failPartialTask = stmt{"fail_partial_task", `UPDATE ing_task SET status_code = 'FAILED', last_error = ? WHERE slice_id = ? AND status_code = 'PARTIAL'`}

	addToPlan = stmt{"add_to_plan", `UPDATE ing_plan SET slice_count = slice_count + ?, version = version + 1 WHERE id = ?`}
)

// PartialSlices gives slices that ended early and wait to be cut, with all that a planner must know for that; cursorID 0
// is everybody's.
func (s *Store) PartialSlices(ctx context.Context, cursorID int64, limit int) (all []patra.Slice, err error) {
	err = s.read(ctx).rows(selectPartial, func(r *sql.Rows) error {
		sl, err := scanSlice(r)
		all = append(all, sl)
		return err
	}, cursorID, cursorID, limit)
	return all, err
}

// Split puts children with their tasks in the place of a slice that ended early. They must be exactly what it left. It
// fails with patra.ErrIllegalMove when another planner has done so before; then nothing was inserted.
func (s *Store) Split(ctx context.Context, now patra.Instant, parent patra.Slice, children []patra.Slice, trigger string, maxAttempts int64) error {
	return s.write(ctx, "split slice", func(t *tx) error {
		plan, err := t.plan(lockPlan, parent.PlanID)
		if err != nil {
			return err
		}
		if plan == nil {
			return patra.ErrNotFound
		}
		if err := t.retireParentSlice(parent, children); err != nil {
			return err
		}
		// Need must be read again: what was the rest of one slice is now several.
		if _, err := t.exec(stirCursorPlan, plan.CursorID); err != nil {
			return err
		}
		for i, sl := range children {
			sl.No, sl.ParentID = plan.SliceCount+int64(i)+1, parent.ID
			if err := t.addSlice(now, *plan, sl, trigger, maxAttempts); err != nil {
				return err
			}
		}
		if _, err := t.exec(addToPlan, len(children), plan.ID); err != nil {
			return err
		}
		if err := t.writePlanFinished(plan.ID); err != nil { // there may be nothing left to read
			return err
		}
		return t.parkIfPaused(plan.WorkScope())
	})
}

// FailSlice ends a slice that ended early and cannot be cut. What it confirmed stays covered; the rest is nobody's again.
func (s *Store) FailSlice(ctx context.Context, now patra.Instant, parent patra.Slice, why patra.Fault) error {
	return s.write(ctx, "fail slice", func(t *tx) error {
		if err := patra.SliceMoves.Check(patra.Partial, patra.Failed); err != nil {
			return err
		}
		if err := patra.TaskMoves.Check(patra.Partial, patra.Failed); err != nil {
			return err
		}
		if err := t.lockPlan(parent.PlanID); err != nil {
			return err
		}
		n, err := t.exec(failSlice, now, parent.ID)
		if err != nil || n != 1 {
			return errors.Join(err, patra.ErrIllegalMove)
		}
		if _, err := t.exec(failPartialTask, asJSON(why), parent.ID); err != nil {
			return err
		}
		if _, err = t.exec(stirCursorPlan, parent.CursorID); err != nil {
			return err
		}
		var task int64
		if _, err := t.one(taskBySlice, []any{parent.ID}, &task); err != nil {
			return err
		}
		if err := t.writeTaskEvent(task); err != nil {
			return err
		}
		return t.writePlanFinished(parent.PlanID)
	})
}

// retireParentSlice checks children against the stored parent, which the caller's copy may not be any more, and retires it.
func (t *tx) retireParentSlice(parent patra.Slice, children []patra.Slice) error {
	var stored *patra.Slice
	err := t.rows(lockSlice, func(r *sql.Rows) error {
		sl, err := scanSlice(r)
		stored = &sl
		return err
	}, parent.ID, parent.PlanID)
	if err != nil {
		return err
	}
	if stored == nil {
		return patra.ErrNotFound
	}
	if err := patra.SliceMoves.Check(stored.Status, patra.Split); err != nil {
		return err
	}
	if err := stored.CheckChildren(children); err != nil {
		return fmt.Errorf("slice %d: %w", stored.ID, err)
	}
	n, err := t.exec(splitSlice, stored.ID)
	if err == nil && n != 1 {
		err = patra.ErrIllegalMove
	}
	return err
}
