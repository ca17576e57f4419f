package store

import (
	"context"
	"database/sql"
	"errors"

	"patra"
)

var (
	stirCursorPlan = stmt{"stir_cursor_plan", `UPDATE ing_cursor SET plan_version = plan_version + 1 WHERE id = ?`}
	selectEnded    = stmt{"select_ended", `SELECT id, purpose_code, window_from, window_to, part_count, status_code FROM ing_plan_slice
		WHERE plan_id = ? AND status_code IN ('FAILED', 'CANCELLED') AND reslice IS NULL`}  // what could not be cut would end early again
	reviveSlice = stmt{"revive_slice", `UPDATE ing_plan_slice SET status_code = 'READY', closed_at = NULL WHERE id = ? AND status_code = ?`}
	reviveTask  = stmt{"revive_task", `UPDATE ing_task SET status_code = 'QUEUED', attempt_count = 0, scheduled_at = {now}, cancel_requested = 0, wait_code = NULL, finished_at = NULL,
		    scan_no = scan_no + 1, next_ordinal = 1, next_detail_ordinal = 1
		WHERE slice_id = ? AND status_code IN ('FAILED', 'CANCELLED')`}
)

// Retry queues the failed and cancelled tasks of a plan again, unless another plan has covered their windows or is
// at work on them. It tells how many.
func (s *Store) Retry(ctx context.Context, planID int64) (int, error) {
	revived := 0
	err := s.write(ctx, "retry plan", func(t *tx) error {
		revived = 0
		plan, err := t.plan(lockPlan, planID)
		if err != nil {
			return err
		}
		if plan == nil {
			return patra.ErrNotFound
		}
		ended, err := t.endedSlices(planID)
		if err != nil || len(ended) == 0 {
			return err
		}
		// What is revived is live again: a planner that read before must read again.
		if _, err := t.exec(stirCursorPlan, plan.CursorID); err != nil {
			return err
		}
		done, err := t.doneFor(plan.CursorID)
		if err != nil {
			return err
		}
		for _, sl := range ended {
			if done(sl) {
				continue
			}
			if err := t.revive(sl); err != nil {
				return err
			}
			revived++
		}
		return t.parkIfPaused(plan.CursorID)
	})
	return revived, err
}

// doneFor tells whether somebody else has done, or is doing, what a slice was to do. The window of a part is under way as
// long as one of its siblings is, and yet nobody else does the part.
func (t *tx) doneFor(cursorID int64) (func(patra.Slice) bool, error) {
	if cursorID == 0 {
		return func(patra.Slice) bool { return false }, nil
	}
	need, err := t.need(cursorID)
	if err != nil {
		return nil, err
	}
	either := need.covered.Union(need.live)
	return func(sl patra.Slice) bool {
		done := either
		if sl.PartCount > 1 {
			done = need.covered
		}
		return sl.Purpose == patra.PurposeNeed && len(patra.NewCoverage(sl.Window).Minus(done)) == 0
	}, nil
}

func (t *tx) endedSlices(planID int64) (ended []patra.Slice, err error) {
	err = t.rows(selectEnded, func(r *sql.Rows) error {
		var sl patra.Slice
		err := r.Scan(&sl.ID, &sl.Purpose, &sl.Window.From, &sl.Window.To, &sl.PartCount, &sl.Status)
		ended = append(ended, sl)
		return err
	}, planID)
	return ended, err
}

// revive queues a task again. Its walk begins anew: what was read long ago is no good place to go on from.
func (t *tx) revive(sl patra.Slice) error {
	if err := patra.SliceMoves.Check(sl.Status, patra.Ready); err != nil {
		return err
	}
	n, err := t.exec(reviveTask, sl.ID)
	if err != nil {
		return err
	}
	m, err := t.exec(reviveSlice, sl.ID, sl.Status)
	if err == nil && (n != 1 || m != 1) {
		err = errors.New("slice and task disagree about their end")
	}
	return err
}
