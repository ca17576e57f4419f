package store

import (
	"context"
	"database/sql"
	"fmt"

	"patra"
)

var (
	endTask = stmt{"end_task", `UPDATE ing_task SET status_code = ?, lease_owner = NULL, leased_until = 0, last_error = ?, finished_at = ?, cancel_requested = 0
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	requeueTask = stmt{"requeue_task", `UPDATE ing_task
		SET status_code = 'QUEUED', lease_owner = NULL, leased_until = 0, scheduled_at = {now} + ?, wait_code = ?, last_error = ?, attempt_count = attempt_count - ?
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING' AND cancel_requested = 0`}
	endSlice = stmt{"end_slice", `UPDATE ing_plan_slice SET status_code = ?, closed_at = ? WHERE id = ? AND status_code = 'READY'`}
	endRun   = stmt{"end_run", `UPDATE ing_task_run SET status_code = ?, exhausted = ?, stats = ?, error = ?, finished_at = ? WHERE id = ? AND status_code = 'RUNNING'`}
	// runState is what a run has brought, and behind that the pages of its task that are open. By the run, and not by the status: an
	// engine without figures takes that for as rare, and reads the whole ledger.
	runState = stmt{"run_state", `SELECT 0, COUNT(*), COALESCE(SUM(record_count), 0), COALESCE(SUM(n_insert), 0), COALESCE(SUM(n_update), 0), COALESCE(SUM(n_same), 0),
		COALESCE(SUM(n_stale), 0), COALESCE(SUM(n_dup), 0), COALESCE(SUM(n_quarantine), 0), COALESCE(SUM(n_outside), 0) FROM ing_task_run_batch WHERE run_id = ? AND COALESCE(status_code, '') = 'SUCCEEDED'
		UNION ALL SELECT id, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'RUNNING'`}
	closedLanded = stmt{"closed_landed", `SELECT COUNT(*) FROM ing_task_run WHERE id = ? AND status_code = ?`}
)

// Finish ends a run and with it the task: SUCCEEDED with the proof of exhaustion, PARTIAL with what is proved of a slice
// that is to be cut, FAILED, CANCELLED because somebody called it off, or QUEUED to give the task back. A task that was
// called off is not given back, whatever the caller wants. One transaction: task, slice, run, coverage, cursor event,
// cursor.
func (s *Store) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.RunResult) error {
	asked := end
	var runStatus patra.Status
	return s.write(ctx, "finish "+string(end.Status), func(t *tx) error {
		if err := t.lockPlan(c.Task.PlanID); err != nil {
			return err
		}
		end, err := t.endTask(c, now, asked)
		if err != nil {
			return err
		}
		runStatus = runEnd(end)
		did, open, err := t.runState(c)
		if err != nil {
			return err
		}
		if err := t.closePages(c.TaskID, open); err != nil {
			return err
		}
		if err := t.conclude(c, now, runStatus, end, did); err != nil || end.Status == patra.Queued {
			return err
		}
		if err := t.writeTaskEvent(c.TaskID); err != nil {
			return err
		}
		return t.writePlanFinished(c.Task.PlanID)
	}, func(t *tx) (bool, error) {
		var n int
		_, err := t.one(closedLanded, []any{c.RunID, runStatus}, &n)
		return n == 1, err
	})
}

// conclude ends the run, and the slice if the task has ended.
func (t *tx) conclude(c *patra.Claim, now patra.Instant, runStatus patra.Status, end patra.RunResult, did runCounts) error {
	var found scanProof
	if end.Status == patra.Succeeded {
		var err error
		if found, err = t.prove(c, now, *end.Proof); err != nil {
			return err
		}
	}
	if err := t.endRun(c, now, runStatus, end, found, did); err != nil {
		return err
	}
	switch end.Status {
	case patra.Succeeded:
		return t.succeed(c, now, found)
	case patra.Partial:
		return t.endEarly(c, now, *end.Early)
	case patra.Failed, patra.Cancelled:
		return t.endSlice(c.Slice.ID, end.Status, now)
	}
	return nil
}

// runEnd is what the end of a task means for its run.
func runEnd(end patra.RunResult) patra.Status {
	if end.Status != patra.Queued {
		return end.Status
	}
	if end.GiveBack {
		return patra.Released
	}
	return patra.Failed
}

// endTask ends the task, or gives it back, and tells which: one that was called off is not given back. Mostly it was not, and then
// nobody needs to ask.
func (t *tx) endTask(c *patra.Claim, now patra.Instant, asked patra.RunResult) (patra.RunResult, error) {
	var fault any
	if asked.Fault != nil {
		fault = asJSON(asked.Fault)
	}
	if asked.Status == patra.Queued {
		back := 0
		if asked.GiveBack || asked.Progress {
			back = 1
		}
		n, err := t.exec(requeueTask, asked.RetryIn.Microseconds(), optional(asked.WaitCode), fault, back, c.TaskID, c.Fence, c.Owner)
		if err == nil && n == 1 {
			err = t.parkIfPaused(c.WorkScope())
		}
		if err != nil || n == 1 {
			return asked, err
		}
	}
	end, err := t.honorCancel(c, asked)
	if err == nil && end.Status == patra.Queued {
		err = fmt.Errorf("task %d is neither called off nor to be given back", c.TaskID)
	}
	if err == nil {
		err = patra.TaskMoves.Check(patra.Running, end.Status)
	}
	if err == nil {
		err = requireLease(t.exec(endTask, end.Status, fault, now, c.TaskID, c.Fence, c.Owner))
	}
	return end, err
}

func (t *tx) endSlice(id int64, to patra.Status, now patra.Instant) error {
	if err := patra.SliceMoves.Check(patra.Ready, to); err != nil {
		return err
	}
	n, err := t.exec(endSlice, to, now, id)
	if err == nil && n != 1 {
		err = fmt.Errorf("slice %d is not READY: %w", id, patra.ErrIllegalMove)
	}
	return err
}

// runCounts is what the pages of a run have brought.
type runCounts struct {
	pages, records int64
	counts         patra.Counts
}

// runState tells what a run has brought, and which pages of its task are open. The task is locked: no page is opened any more.
func (t *tx) runState(c *patra.Claim) (did runCounts, open []int64, err error) {
	err = t.rows(runState, func(r *sql.Rows) error {
		var id int64
		var of runCounts
		n := &of.counts
		err := r.Scan(&id, &of.pages, &of.records, &n.Insert, &n.Update, &n.Same, &n.Stale, &n.Dup, &n.Quarantine, &n.Outside)
		if id == 0 {
			did = of
		} else {
			open = append(open, id)
		}
		return err
	}, c.RunID, c.TaskID)
	return did, open, err
}

func (t *tx) endRun(c *patra.Claim, now patra.Instant, to patra.Status, end patra.RunResult, found scanProof, did runCounts) error {
	if err := patra.RunMoves.Check(patra.Running, to); err != nil {
		return err
	}
	stats := map[string]any{"pages": did.pages, "records": did.records, "counts": did.counts}
	if to == patra.Succeeded && c.Slice.IsPart() {
		stats[partAnswer] = found.answer
	}
	var fault any
	if end.Fault != nil {
		fault = asJSON(end.Fault)
	}
	rows, err := t.exec(endRun, to, to == patra.Succeeded, asJSON(stats), fault, now, c.RunID)
	if err == nil && rows != 1 {
		err = fmt.Errorf("run %d is not RUNNING: %w", c.RunID, patra.ErrIllegalMove)
	}
	return err
}

// scanProof is what a finished scan proved about its slice.
type scanProof struct {
	answer   patra.CoverageEntry
	observed string // the greatest time that was seen
	rest     *int64 // of the last part: how many records have ids that no part has asked for; nil: not known
	last     bool   // of a part: the run knew that it is the last
	missing  patra.ShownIDs
	state    patra.Completeness // apart from what is missing
	widened  bool               // and what was missing before is there, since more was asked for
}

// succeed closes a slice whose scan is proved to be exhausted. Then its window is covered and the watermark may move;
// only where a window is cut by ids, it has to wait for the other parts. Ids that were known before cover no time.
func (t *tx) succeed(c *patra.Claim, now patra.Instant, found scanProof) error {
	if err := t.endSlice(c.Slice.ID, patra.Succeeded, now); err != nil {
		return err
	}
	switch {
	case c.Slice.Spec.Window == nil:
		return nil
	case c.Slice.IsPart():
		return t.joinParts(c, now, found)
	}
	if err := t.cover(now, found.answer, *c, c.Slice.ExprHash, found.observed); err != nil {
		return err
	}
	if err := t.noteMissing(found.answer, found.missing, found.state); err != nil || !found.widened || len(found.missing) > 0 {
		return err
	}
	return t.disputeSiblings(c, now)
}
