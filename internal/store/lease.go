package store

import (
	"context"

	"patra"
)

var (
	renewLease = stmt{"renew_lease", `UPDATE ing_task SET leased_until = {now} + ?
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	guardPage = stmt{"guard_page", `UPDATE ing_task SET leased_until = {now} + ?, scan_no = ?, next_ordinal = ?, next_detail_ordinal = 1
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	guardDetail = stmt{"guard_detail", `UPDATE ing_task SET leased_until = {now} + ?, scan_no = ?, next_detail_ordinal = ?
		WHERE id = ? AND lease_count = ? AND lease_owner = ? AND status_code = 'RUNNING'`}
	// wornAtWork is one that is worn out, and whose last owner has read what none before it had: ids that were settled, or a page
	// further on than any, or in a scan that it went on with. That it was lost is nobody's fault.
	wornAtWork = stmt{"worn_at_work", `SELECT COUNT(*) FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id AND t.lease_count = b.lease_count
		WHERE b.task_id = ? AND b.status_code = 'SUCCEEDED' AND (b.phase_code = 'DETAIL' OR b.done_ordinal > COALESCE((SELECT MAX(p.done_ordinal)
			FROM ing_task_run_batch p WHERE p.task_id = b.task_id AND p.lease_count < b.lease_count AND p.phase_code = 'SEARCH'), 0)
			OR b.done_ordinal > (SELECT MAX(o.done_ordinal) FROM ing_task_run_batch o
			WHERE o.task_id = b.task_id AND o.scan_no = b.scan_no AND o.lease_count < b.lease_count AND o.phase_code = 'SEARCH'))`}
	spareWorn = stmt{"spare_worn_out", `UPDATE ing_task SET attempt_count = 0 WHERE id = ? AND status_code = 'RUNNING' AND leased_until < {now} AND attempt_count >= max_attempts`}
	worn      = stmt{"worn_out", `SELECT id FROM ing_task WHERE status_code = 'RUNNING' AND leased_until < {now} AND attempt_count >= max_attempts LIMIT ?`}
	bury      = stmt{"bury_worn_out", `UPDATE ing_task SET status_code = 'FAILED', lease_owner = NULL, last_error = ?, finished_at = {now}, cancel_requested = 0
		WHERE id = ? AND status_code = 'RUNNING' AND leased_until < {now} AND attempt_count >= max_attempts`}
	failSliceOf = stmt{"fail_slice_of", `UPDATE ing_plan_slice SET status_code = 'FAILED', closed_at = {now}
		WHERE id = (SELECT slice_id FROM ing_task WHERE id = ?) AND status_code = 'READY'`}
)

// Heartbeat renews a lease during a long request. It fails with patra.ErrLeaseLost when somebody else has the task.
func (s *Store) Heartbeat(ctx context.Context, l patra.Lease) error {
	return s.write(ctx, "heartbeat", func(t *tx) error {
		return requireLease(t.exec(renewLease, l.For.Microseconds(), l.TaskID, l.Fence, l.Owner))
	})
}

// renewLease is the first statement of every write of a run: it takes the lock of the task row, renews the lease and
// writes the checkpoint, or finds that the lease is gone.
func (t *tx) renewLease(l patra.Lease, phase patra.Phase, scanNo, nextOrdinal int64) error {
	if phase == patra.PhaseCensus { // asked for after the walk, and anew after an interruption: it moves no checkpoint
		return requireLease(t.exec(renewLease, l.For.Microseconds(), l.TaskID, l.Fence, l.Owner))
	}
	st := guardPage
	if phase == patra.PhaseDetail {
		st = guardDetail
	}
	return requireLease(t.exec(st, l.For.Microseconds(), scanNo, nextOrdinal, l.TaskID, l.Fence, l.Owner))
}

// requireLease turns "no row was found" into a lost lease.
func requireLease(n int64, err error) error {
	if err == nil && n != 1 {
		return patra.ErrLeaseLost
	}
	return err
}

// FailExhausted ends tasks whose owner died on the last permitted attempt: a task that kills its executor each
// time must not do so for ever. One whose last attempt brought something new begins to count again: a process may be killed
// again and again, and all of it is read in the end. It tells how many have ended.
func (s *Store) FailExhausted(ctx context.Context) (int, error) {
	ids, err := s.read(ctx).ids(worn, candidates)
	if err != nil {
		return 0, err
	}
	fault := asJSON(patra.Fault{Level: patra.LevelRetry, Code: patra.CodeExhausted, Text: "every permitted attempt ended with the loss of its worker"})
	failed := 0
	for _, id := range ids {
		var n int64
		err := s.write(ctx, "fail exhausted", func(t *tx) error {
			plan, err := t.holdPlanOf(id)
			if err != nil {
				return err
			}
			if spared, err := t.spareAtWork(id); spared || err != nil {
				n = 0
				return err
			}
			if n, err = t.exec(bury, fault, id); err != nil || n == 0 {
				return err
			}
			if err := t.closeLostRun(id); err != nil {
				return err
			}
			if _, err := t.exec(failSliceOf, id); err != nil {
				return err
			}
			if err := t.writeTaskEvent(id); err != nil {
				return err
			}
			return t.writePlanFinished(plan)
		})
		if err != nil {
			return failed, err
		}
		failed += int(n)
	}
	return failed, nil
}

// spareAtWork begins to count the attempts of a task anew, if the last one brought something new.
func (t *tx) spareAtWork(id int64) (bool, error) {
	var n int64
	if _, err := t.one(wornAtWork, []any{id}, &n); err != nil || n == 0 {
		return false, err
	}
	_, err := t.exec(spareWorn, id)
	return true, err
}
