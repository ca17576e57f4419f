package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"patra"
)

var (
	cancellable = stmt{"cancellable", `SELECT t.id, t.slice_id, t.plan_id, t.status_code, s.status_code FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE t.status_code IN ('QUEUED', 'RUNNING', 'PARTIAL') AND s.status_code IN ('READY', 'PARTIAL') AND t.{where} ORDER BY t.id {lock}`}
	cancelTask = stmt{"cancel_task", `UPDATE ing_task SET status_code = 'CANCELLED', wait_code = NULL, last_error = ?, finished_at = {now}, cancel_requested = 0
		WHERE id = ? AND status_code = ?`}
	cancelSlice = stmt{"cancel_slice", `UPDATE ing_plan_slice SET status_code = 'CANCELLED', closed_at = {now} WHERE id = ? AND status_code = ?`}
	askToStop   = stmt{"ask_to_stop", `UPDATE ing_task SET cancel_requested = 1 WHERE id = ? AND status_code = 'RUNNING'`}
	cancelPlan  = stmt{"cancel_plan", `UPDATE ing_plan SET status_code = 'CANCELLED', reason_code = 'CANCELLED', version = version + 1 WHERE id = ? AND status_code = ?`}
	stopAsked   = stmt{"stop_asked", `SELECT cancel_requested FROM ing_task WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING' {lock}`}
)

// Cancel calls off a plan, a slice or a task. What waits ends at once, and what runs is asked to stop before its next
// request; Ended and Running count them. The windows are gaps until somebody retries them or plans them again.
func (s *Store) Cancel(ctx context.Context, target patra.Target, reason, actor string) (steered patra.ControlResult, err error) {
	if target.Scope != patra.ScopePlan && target.Scope != patra.ScopeSlice && target.Scope != patra.ScopeTask {
		return steered, fmt.Errorf("cancel %s: %w", target, patra.ErrIllegalMove)
	}
	err = s.write(ctx, "cancel", func(t *tx) error {
		steered = patra.ControlResult{}
		where, args, err := t.tasksOf(target)
		if err != nil {
			return err
		}
		if target.Scope == patra.ScopePlan {
			if err := t.cancelPlan(target.ID()); err != nil {
				return err
			}
		}
		rows, err := t.cancellable(where, args)
		if err != nil {
			return err
		}
		plans := map[int64]bool{}
		fault := asJSON(patra.Fault{Level: patra.LevelRequest, Code: patra.HoldCancelled, Text: calledOff(reason, actor)})
		for _, r := range rows {
			if err := t.cancel(r, fault); err != nil {
				return err
			}
			if r.task == patra.Running {
				steered.Running++
				continue
			}
			steered.Ended++
			plans[r.planID] = true
			if err := t.writeTaskEvent(r.taskID); err != nil {
				return err
			}
		}
		for _, plan := range slices.Sorted(maps.Keys(plans)) {
			if err := t.lockPlan(plan); err != nil {
				return err
			}
			if err := t.writePlanFinished(plan); err != nil {
				return err
			}
		}
		return t.auditAction(patra.AuditCancel, actor, target.String(), reason, map[string]any{"ended": steered.Ended, "running": steered.Running})
	})
	return steered, err
}

func calledOff(reason, actor string) string {
	text := "called off by " + actor
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// cancellableTask is a task that can be called off.
type cancellableTask struct {
	taskID, sliceID, planID int64
	task, slice             patra.Status
}

func (t *tx) cancellable(where string, args []any) (all []cancellableTask, err error) {
	err = t.rows(cancellable.with(where), func(r *sql.Rows) error {
		var s cancellableTask
		err := r.Scan(&s.taskID, &s.sliceID, &s.planID, &s.task, &s.slice)
		all = append(all, s)
		return err
	}, args...)
	return all, err
}

func (t *tx) cancel(s cancellableTask, fault string) error {
	if s.task == patra.Running {
		_, err := t.many(askToStop, s.taskID)
		return err
	}
	if err := patra.TaskMoves.Check(s.task, patra.Cancelled); err != nil {
		return err
	}
	if err := patra.SliceMoves.Check(s.slice, patra.Cancelled); err != nil {
		return err
	}
	for _, step := range []struct {
		st   stmt
		args []any
	}{{cancelTask, []any{fault, s.taskID, s.task}}, {cancelSlice, []any{s.sliceID, s.slice}}} {
		res, err := t.many(step.st, step.args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("task %d: %w", s.taskID, patra.ErrIllegalMove)
		}
	}
	return nil
}

func (t *tx) cancelPlan(id int64) error {
	p, err := t.plan(lockPlan, id)
	if err != nil || p.Status == patra.Cancelled || p.Status == patra.Failed {
		return err
	}
	if err := patra.PlanMoves.Check(p.Status, patra.Cancelled); err != nil {
		return err
	}
	if _, err := t.exec(cancelPlan, id, p.Status); err != nil {
		return err
	}
	if p.CursorID == 0 {
		return nil
	}
	_, err = t.exec(stirCursorPlan, p.CursorID)
	return err
}

// honorCancel is the end of a run whose task somebody has called off meanwhile: it is not queued again, and nothing of it is
// cut.
func (t *tx) honorCancel(c *patra.Claim, end patra.RunResult) (patra.RunResult, error) {
	if end.Status != patra.Queued && end.Status != patra.Partial {
		return end, nil
	}
	var asked bool
	found, err := t.one(stopAsked, []any{c.TaskID, c.Fence, c.Owner}, &asked)
	if err == nil && !found {
		err = patra.ErrLeaseLost
	}
	if err != nil || !asked {
		return end, err
	}
	return patra.RunResult{Status: patra.Cancelled, Fault: end.Fault}, nil
}
