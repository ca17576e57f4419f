package store

import (
	"context"
	"database/sql"
	"errors"

	"patra"
)

var (
	stirCursorPlan = stmt{"stir_cursor_plan", `UPDATE ing_cursor SET plan_version = plan_version + 1 WHERE id = ?`}
	selectEnded    = stmt{"select_ended", `SELECT id, purpose_code, window_from, window_to, part_count, status_code, reslice IS NOT NULL FROM ing_plan_slice
		WHERE plan_id = ? AND (? = 0 OR id = ?) AND status_code IN ('FAILED', 'CANCELLED')`}
	reviveSlice = stmt{"revive_slice", `UPDATE ing_plan_slice SET status_code = ?, closed_at = NULL WHERE id = ? AND status_code = ?`}
	reviveTask  = stmt{"revive_task", `UPDATE ing_task SET status_code = ?, attempt_count = 0, scheduled_at = {now}, cancel_requested = 0, wait_code = NULL, finished_at = NULL
		WHERE slice_id = ? AND status_code IN ('FAILED', 'CANCELLED')`}
	beginAnew  = stmt{"begin_anew", `UPDATE ing_task SET scan_no = scan_no + 1, next_ordinal = 1, next_detail_ordinal = 1 WHERE slice_id = ?`}
	walkLately = stmt{"walk_lately", `SELECT COUNT(*) FROM ing_task t WHERE t.slice_id = ? AND (t.last_error IS NULL OR t.last_error LIKE '{"level":"L1"%')
		AND (SELECT MAX(b.committed_at) FROM ing_task_run_batch b WHERE b.task_id = t.id AND b.status_code = 'SUCCEEDED') >= {now} - ?`}
	revivePlan  = stmt{"revive_plan", `UPDATE ing_plan SET status_code = 'PARTIAL', reason_code = NULL, version = version + 1 WHERE id = ? AND status_code = 'CANCELLED'`}
	endedPlans  = stmt{"ended_plans", `SELECT DISTINCT plan_id FROM ing_task WHERE status_code IN ('FAILED', 'CANCELLED') AND {where} ORDER BY plan_id`}
	countedWork = stmt{"counted_work", `SELECT plan_id, slice_id FROM ing_task WHERE slice_id = ? AND status_code = 'FAILED'
		AND NOT EXISTS (SELECT 1 FROM ing_plan p WHERE p.id = ing_task.plan_id AND p.status_code = 'CANCELLED')`}
	haltedWork = stmt{"halted_work", haltedTasks + ` ORDER BY plan_id, slice_id`}
)

// Retry queues the failed and cancelled tasks of a plan again, unless another plan has covered their windows or is
// at work on them. It tells how many.
func (s *Store) Retry(ctx context.Context, planID int64) (int, error) {
	steered, err := s.retryPlan(ctx, planID, 0, nil)
	return int(steered.Revived), err
}

// RetryTarget queues the failed and cancelled tasks of anything again. A plan that was called off is planned to its end
// again. What could not be cut stays as it is, and is counted: it would end early again.
func (s *Store) RetryTarget(ctx context.Context, target patra.Target, reason, actor string) (steered patra.ControlResult, err error) {
	var plans []int64
	slice := int64(0)
	err = s.write(ctx, "find what ended", func(t *tx) error { // not a plain read: it locks what it names, and finds out whether it exists
		plans, slice = nil, 0
		where, args, err := t.tasksOf(target)
		if err != nil {
			return err
		}
		switch target.Scope {
		case patra.ScopePlan:
			plans = []int64{target.ID()}
			return t.revivePlan(target.ID())
		case patra.ScopeSlice, patra.ScopeTask:
			if _, err := t.one(stmt{"slice_of", `SELECT slice_id FROM ing_task WHERE ` + where}, args, &slice); err != nil {
				return err
			}
		}
		plans, err = t.ids(endedPlans.with(where), args...)
		return err
	})
	for _, plan := range plans {
		if err != nil {
			return steered, err
		}
		var one patra.ControlResult
		one, err = s.retryPlan(ctx, plan, slice, func(t *tx, did patra.ControlResult) error {
			return t.auditAction(patra.AuditRetry, actor, target.String(), reason, map[string]any{"plan": plan, "revived": did.Revived})
		})
		steered.Revived, steered.Covered, steered.Uncut = steered.Revived+one.Revived, steered.Covered+one.Covered, steered.Uncut+one.Uncut
	}
	return steered, err
}

func (t *tx) revivePlan(id int64) error {
	if err := patra.PlanMoves.Check(patra.Cancelled, patra.Partial); err != nil {
		return err
	}
	_, err := t.exec(revivePlan, id)
	return err
}

// retryPlan revives what ended of a plan, or of one slice of it. note, if there is one, writes down who wanted it.
func (s *Store) retryPlan(ctx context.Context, planID, sliceID int64, note func(*tx, patra.ControlResult) error) (steered patra.ControlResult, err error) {
	err = s.write(ctx, "retry plan", func(t *tx) error {
		steered = patra.ControlResult{}
		plan, err := t.plan(lockPlan, planID)
		if err != nil {
			return err
		}
		if plan == nil {
			return patra.ErrNotFound
		}
		ended, err := t.endedSlices(planID, sliceID)
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
			switch {
			case sl.cut && sl.Status == patra.Failed:
				steered.Uncut++
				continue
			case done(sl.Slice):
				steered.Covered++
				continue
			}
			if err := t.revive(sl); err != nil {
				return err
			}
			steered.Revived++
		}
		if err := t.parkAll(); err != nil || note == nil {
			return err
		}
		return note(t, steered)
	})
	return steered, err
}

// haltedTasks are those that failed because of a halt. What somebody called off stays so.
const haltedTasks = `SELECT plan_id, slice_id FROM ing_task WHERE provenance_code = ? AND endpoint_name = ? AND status_code = 'FAILED'
	AND finished_at >= ? AND ` + tasksOfRepository + ` AND last_error LIKE '{"level":"L4"%'
	AND NOT EXISTS (SELECT 1 FROM ing_plan p WHERE p.id = ing_task.plan_id AND p.status_code = 'CANCELLED')`

// aboutHalt is the time between a task that fails and the halt: it ends a moment after the halt is set, and one that was faster
// a moment before.
const aboutHalt = 10 * patra.Minute

// haltedBy are what haltedTasks asks for.
func haltedBy(halt patra.Control) []any {
	at := halt.WorkScope()
	return append([]any{at.Source, at.Endpoint, halt.Detail.Since - aboutHalt}, repositoryArgs(at)...)
}

// haltedSlice is a slice that failed because of a halt.
type haltedSlice struct{ plan, slice int64 }

func (t *tx) haltedSlices(st stmt, args ...any) (all []haltedSlice, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var w haltedSlice
		err := r.Scan(&w.plan, &w.slice)
		all = append(all, w)
		return err
	}, args...)
	return all, err
}

// countedBy are the slices that a halt was counted by, as far as they are failed still.
func (t *tx) countedBy(halt patra.Control) (all []haltedSlice, err error) {
	for _, f := range halt.Detail.Failed {
		found, err := t.haltedSlices(countedWork, f.Slice)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// reviveHalted queues again what failed because of a halt that a person has ended: it is mended now, or halts again.
func (s *Store) reviveHalted(ctx context.Context, halt patra.Control, steered *patra.ControlResult) error {
	t := s.read(ctx)
	all, err := t.haltedSlices(haltedWork, haltedBy(halt)...)
	if err == nil {
		var counted []haltedSlice
		counted, err = t.countedBy(halt)
		all = append(all, counted...)
	}
	for _, w := range all {
		if err != nil {
			return err
		}
		var one patra.ControlResult
		one, err = s.retryPlan(ctx, w.plan, w.slice, nil)
		steered.Revived += one.Revived
	}
	return err
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

// endedSlice is a slice that failed or was called off.
type endedSlice struct {
	patra.Slice
	cut bool // it had ended early, and waited to be cut
}

func (t *tx) endedSlices(planID, sliceID int64) (ended []endedSlice, err error) {
	err = t.rows(selectEnded, func(r *sql.Rows) error {
		var sl endedSlice
		err := r.Scan(&sl.ID, &sl.Purpose, &sl.Window.From, &sl.Window.To, &sl.PartCount, &sl.Status, &sl.cut)
		ended = append(ended, sl)
		return err
	}, planID, sliceID, sliceID)
	return ended, err
}

// freshWalk is how old the last page of a walk may be that is gone on with.
const freshWalk = patra.Hour

// revive queues a task again. It goes on where it was, unless that was long ago or what it read there was the fault: then its walk
// begins anew. A slice that was called off while it waited to be cut waits for that again.
func (t *tx) revive(sl endedSlice) error {
	slice, task := patra.Ready, patra.Queued
	if sl.cut {
		slice, task = patra.Partial, patra.Partial
	}
	if err := patra.SliceMoves.Check(sl.Status, slice); err != nil {
		return err
	}
	var fresh int
	if _, err := t.one(walkLately, []any{sl.ID, freshWalk}, &fresh); err != nil {
		return err
	}
	if fresh == 0 {
		if _, err := t.exec(beginAnew, sl.ID); err != nil {
			return err
		}
	}
	n, err := t.exec(reviveTask, task, sl.ID)
	if err != nil {
		return err
	}
	m, err := t.exec(reviveSlice, slice, sl.ID, sl.Status)
	if err == nil && (n != 1 || m != 1) {
		err = errors.New("slice and task disagree about their end")
	}
	return err
}
