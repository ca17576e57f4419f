package store

import (
	"context"
	"fmt"

	"patra"
)

var (
	endTask = stmt{"end_task", `UPDATE ing_task SET status_code = ?, lease_owner = NULL, leased_until = 0, last_error = ?, finished_at = ?
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	requeueTask = stmt{"requeue_task", `UPDATE ing_task
		SET status_code = 'QUEUED', lease_owner = NULL, leased_until = 0, scheduled_at = {now} + ?, wait_code = ?, last_error = ?, attempt_count = attempt_count - ?
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	endSlice = stmt{"end_slice", `UPDATE ing_plan_slice SET status_code = ?, closed_at = ? WHERE id = ? AND status_code = 'READY'`}
	endRun   = stmt{"end_run", `UPDATE ing_task_run SET status_code = ?, exhausted = ?, stats = ?, error = ?, finished_at = ? WHERE id = ? AND status_code = 'RUNNING'`}
	scanSum  = stmt{"scan_summary", `SELECT COUNT(*), COALESCE(MAX(ordinal), 0), COALESCE(SUM(record_count), 0), COALESCE(SUM(n_insert + n_update + n_same + n_stale), 0),
		COALESCE(SUM(n_quarantine), 0), MAX(ts_max) FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = ? AND done_ordinal IS NOT NULL`}
	scanEdge = stmt{"scan_edge", `SELECT has_next, provider_total FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal = ?`}
	runSum   = stmt{"run_summary", `SELECT COUNT(*), COALESCE(SUM(record_count), 0), COALESCE(SUM(n_insert), 0), COALESCE(SUM(n_update), 0), COALESCE(SUM(n_same), 0),
		COALESCE(SUM(n_stale), 0), COALESCE(SUM(n_dup), 0), COALESCE(SUM(n_quarantine), 0), COALESCE(SUM(n_outside), 0) FROM ing_task_run_batch WHERE run_id = ? AND status_code = 'SUCCEEDED'`}
	closedLanded = stmt{"closed_landed", `SELECT COUNT(*) FROM ing_task_run WHERE id = ? AND status_code = ?`}
)

// Finish ends a run and with it the task: SUCCEEDED with the proof of exhaustion, FAILED, or QUEUED to give the task
// back. One transaction: task, slice, run, coverage, cursor event, cursor.
func (s *Store) Finish(ctx context.Context, c *patra.Claim, now patra.Instant, end patra.Closing) error {
	runStatus := runEnd(end)
	return s.write(ctx, "finish "+string(end.Status), func(t *tx) error {
		if err := patra.TaskMoves.Check(patra.Running, end.Status); err != nil {
			return err
		}
		if err := t.endTask(c, now, end); err != nil {
			return err
		}
		if err := t.closeOpenPages(c.TaskID); err != nil {
			return err
		}
		if err := t.endRun(c, now, runStatus, end); err != nil {
			return err
		}
		switch end.Status {
		case patra.Succeeded:
			return t.succeed(c, now, *end.Proof)
		case patra.Failed:
			return t.endSlice(c.Slice.ID, patra.Failed, now)
		}
		return nil
	}, func(t *tx) (bool, error) {
		var n int
		_, err := t.one(closedLanded, []any{c.RunID, runStatus}, &n)
		return n == 1, err
	})
}

// runEnd is what the end of a task means for its run.
func runEnd(end patra.Closing) patra.Status {
	if end.Status != patra.Queued {
		return end.Status
	}
	if end.GiveBack {
		return patra.Released
	}
	return patra.Failed
}

func (t *tx) endTask(c *patra.Claim, now patra.Instant, end patra.Closing) error {
	var fault any
	if end.Fault != nil {
		fault = asJSON(end.Fault)
	}
	if end.Status != patra.Queued {
		return held(t.exec(endTask, end.Status, fault, now, c.TaskID, c.Fence, c.Owner))
	}
	back := 0
	if end.GiveBack {
		back = 1
	}
	return held(t.exec(requeueTask, end.RetryIn.Microseconds(), optional(end.WaitCode), fault, back, c.TaskID, c.Fence, c.Owner))
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

func (t *tx) endRun(c *patra.Claim, now patra.Instant, to patra.Status, end patra.Closing) error {
	if err := patra.RunMoves.Check(patra.Running, to); err != nil {
		return err
	}
	var pages, records int64
	var n patra.Counts
	_, err := t.one(runSum, []any{c.RunID}, &pages, &records, &n.Insert, &n.Update, &n.Same, &n.Stale, &n.Dup, &n.Quarantine, &n.Outside)
	if err != nil {
		return err
	}
	stats := asJSON(map[string]any{"pages": pages, "records": records, "counts": n})
	var fault any
	if end.Fault != nil {
		fault = asJSON(end.Fault)
	}
	rows, err := t.exec(endRun, to, to == patra.Succeeded, stats, fault, now, c.RunID)
	if err == nil && rows != 1 {
		err = fmt.Errorf("run %d is not RUNNING: %w", c.RunID, patra.ErrIllegalMove)
	}
	return err
}

// succeed closes a slice whose scan the ledger proves to be exhausted: ordinals 1 to n all there, and the last page
// said that nothing follows. Then its window is covered and the watermark may move.
func (t *tx) succeed(c *patra.Claim, now patra.Instant, proof patra.Proof) error {
	var pages, last, records, stored, quarantined int64
	var observedMax *patra.Instant
	_, err := t.one(scanSum, []any{c.TaskID, proof.ScanNo, patra.PhaseSearch}, &pages, &last, &records, &stored, &quarantined, &observedMax)
	if err != nil {
		return err
	}
	a := patra.Answer{CursorID: c.Slice.CursorID, SliceID: c.Slice.ID, Window: c.Slice.Window, Kind: patra.KindScan, State: proof.State, Trust: proof.Trust,
		IDsSeen: proof.IDsSeen, Stored: stored, Quarantined: quarantined, Rescans: proof.Rescans, ClosedAt: now}
	var first, hasNext bool
	if _, err := t.one(scanEdge, []any{c.TaskID, proof.ScanNo, 1}, &first, &a.CountBefore); err != nil {
		return err
	}
	found, err := t.one(scanEdge, []any{c.TaskID, proof.ScanNo, last}, &hasNext, &a.CountAfter)
	if err != nil {
		return err
	}
	if pages == 0 || pages != last || !found || hasNext {
		return fmt.Errorf("task %d scan %d: %w", c.TaskID, proof.ScanNo, patra.ErrNoProof)
	}
	if proof.Details {
		if err := t.proveDetails(c, proof, &a); err != nil {
			return err
		}
	}
	if err := t.endSlice(c.Slice.ID, patra.Succeeded, now); err != nil {
		return err
	}
	if a.State == patra.StateSealed {
		a.SealedAt = &now
	}
	observed := ""
	if observedMax != nil {
		observed = observedMax.String()
	}
	return t.cover(now, a, *c, c.Slice.ExprHash, observed)
}

// proveDetails makes sure that every id of the search is settled, by detail pages without a hole.
func (t *tx) proveDetails(c *patra.Claim, proof patra.Proof, a *patra.Answer) error {
	var pages, last, records, stored, quarantined int64
	var observedMax *patra.Instant
	if _, err := t.one(scanSum, []any{c.TaskID, proof.ScanNo, patra.PhaseDetail}, &pages, &last, &records, &stored, &quarantined, &observedMax); err != nil {
		return err
	}
	var items, open int64
	if _, err := t.one(itemSum, []any{c.TaskID, proof.ScanNo}, &items, &open, &a.KnownMissing); err != nil {
		return err
	}
	if open > 0 || pages != last {
		return fmt.Errorf("task %d scan %d: %d of %d ids are not settled: %w", c.TaskID, proof.ScanNo, open, items, patra.ErrNoProof)
	}
	a.Stored += stored
	a.Quarantined += quarantined
	return nil
}
