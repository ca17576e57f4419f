package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"patra"
)

var (
	selectSnapshot = stmt{"select_snapshot", `SELECT snapshot FROM ing_spec_snapshot WHERE spec_fingerprint = ?`}
	insertSnapshot = stmt{"insert_snapshot", `INSERT INTO ing_spec_snapshot
		(spec_fingerprint, provenance_code, endpoint_name, operation_code, snapshot, field_origin, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`}
	insertPlan = stmt{"insert_plan", `INSERT INTO ing_plan
		(plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_id, window_from, window_to, window_inputs,
		 expr_proto_hash, expr_proto_snapshot, spec_fingerprint, slice_strategy_code, slice_params, base_url, priority, slice_count, status_code, reason_code, warnings, version, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 'DRAFT', ?, ?, 0, ?)`}
	lockPlan       = stmt{"lock_plan", `SELECT ` + planColumns + ` FROM ing_plan WHERE id = ? {lock}`}
	selectPlanKey  = stmt{"select_plan_key", `SELECT ` + planColumns + ` FROM ing_plan WHERE plan_key = ?`}
	movePlan       = stmt{"move_plan", `UPDATE ing_plan SET status_code = ?, reason_code = ?, slice_count = slice_count + ?, version = version + 1 WHERE id = ? AND status_code = ?`}
	bumpCursorPlan = stmt{"bump_cursor_plan", `UPDATE ing_cursor SET plan_version = plan_version + 1 WHERE id = ? AND plan_version = ?`}
	stirCursorPlan = stmt{"stir_cursor_plan", `UPDATE ing_cursor SET plan_version = plan_version + 1 WHERE id = ?`}
	insertSlice    = stmt{"insert_slice", `INSERT INTO ing_plan_slice
		(plan_id, cursor_id, provenance_code, slice_no, purpose_code, part_no, part_count, slice_spec, slice_signature_hash, expr_snapshot, expr_hash,
		 window_from, window_to, fetch_from, fetch_to, status_code, created_at) VALUES (?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, 'READY', ?)`}
	insertTask = stmt{"insert_task", `INSERT INTO ing_task
		(schedule_instance_id, plan_id, slice_id, cursor_id, provenance_code, endpoint_name, operation_code, partition_key, params, expr_hash, spec_fingerprint,
		 trigger_type_code, idempotent_key, priority, scheduled_at, status_code, cancel_requested, lease_count, leased_until, attempt_count, max_attempts,
		 scan_no, next_ordinal, next_detail_ordinal, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?, ?, ?, {now}, 'QUEUED', 0, 0, 0, 0, ?, 1, 1, 1, ?)`}
	selectEnded = stmt{"select_ended", `SELECT id, purpose_code, window_from, window_to, status_code FROM ing_plan_slice WHERE plan_id = ? AND status_code IN ('FAILED', 'CANCELLED')`}
	reviveSlice = stmt{"revive_slice", `UPDATE ing_plan_slice SET status_code = 'READY', closed_at = NULL WHERE id = ? AND status_code = ?`}
	reviveTask  = stmt{"revive_task", `UPDATE ing_task SET status_code = 'QUEUED', attempt_count = 0, scheduled_at = {now}, cancel_requested = 0, wait_code = NULL, finished_at = NULL
		WHERE slice_id = ? AND status_code IN ('FAILED', 'CANCELLED')`}
)

const planColumns = `id, plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_id, window_from, window_to, window_inputs,
	expr_proto_hash, expr_proto_snapshot, spec_fingerprint, slice_strategy_code, slice_params, base_url, priority, slice_count, status_code, reason_code, warnings, created_at`

func scanPlan(r *sql.Rows) (p patra.Plan, err error) {
	var cursorID sql.NullInt64
	err = r.Scan(&p.ID, &p.Key, &p.Generation, &p.InstanceID, &p.Source, &p.Endpoint, &p.Operation, &cursorID, &p.Window.From, &p.Window.To, jsonInto{&p.Inputs},
		&p.ExprProtoHash, jsonInto{&p.ExprProto}, &p.Spec, &p.Strategy, jsonInto{&p.SliceParams}, textInto{&p.BaseURL}, &p.Priority, &p.SliceCount, &p.Status, textInto{&p.Reason}, jsonInto{&p.Warnings}, &p.CreatedAt)
	p.CursorID = cursorID.Int64
	return p, err
}

func (t *tx) plan(st stmt, arg any) (*patra.Plan, error) {
	var found *patra.Plan
	err := t.rows(st, func(r *sql.Rows) error {
		p, err := scanPlan(r)
		found = &p
		return err
	}, arg)
	return found, err
}

// StartPlan stores the snapshot and the plan as DRAFT, and settles the trigger. A plan with the same key is found
// instead of being made twice; the caller sees from its status what is left to do.
func (s *Store) StartPlan(ctx context.Context, now patra.Instant, p patra.Plan, snap patra.Snapshot) (patra.Plan, error) {
	var plan *patra.Plan
	err := s.write(ctx, "start plan", func(t *tx) (err error) {
		if err := t.keepSnapshot(now, snap); err != nil {
			return err
		}
		if err := t.settle(p.InstanceID, patra.Planned, p.ExprProtoHash, text(p.ExprProto), p.Spec, nil); err != nil {
			return err
		}
		if plan, err = t.plan(selectPlanKey, p.Key); err != nil || plan != nil {
			return err
		}
		_, err = t.insert(insertPlan, p.Key, p.Generation, p.InstanceID, p.Source, p.Endpoint, p.Operation, optional(p.CursorID), p.Window.From, p.Window.To,
			text(p.Inputs), p.ExprProtoHash, text(p.ExprProto), p.Spec, p.Strategy, text(p.SliceParams), optional(p.BaseURL), p.Priority, optional(p.Reason), orElse(p.Warnings, "[]"), now)
		if err != nil && !s.dialect.duplicate(err) {
			return err
		}
		plan, err = t.plan(selectPlanKey, p.Key)
		return err
	})
	if err != nil {
		return patra.Plan{}, err
	}
	return *plan, nil
}

func (t *tx) keepSnapshot(now patra.Instant, snap patra.Snapshot) error {
	var body string
	found, err := t.one(selectSnapshot, []any{snap.Fingerprint}, &body)
	if err != nil || found {
		return err
	}
	_, err = t.insert(insertSnapshot, snap.Fingerprint, snap.Source, snap.Endpoint, snap.Operation, string(snap.Body), orElse(snap.Origin, "{}"), now)
	if t.s.dialect.duplicate(err) {
		return nil
	}
	return err
}

// Snapshot reads a stored source configuration.
func (s *Store) Snapshot(ctx context.Context, fingerprint string) (json.RawMessage, error) {
	var body json.RawMessage
	found, err := s.read(ctx).one(selectSnapshot, []any{fingerprint}, jsonInto{&body})
	if err == nil && !found {
		err = patra.ErrNotFound
	}
	return body, err
}

// PlanByKey finds a plan; nil if there is none.
func (s *Store) PlanByKey(ctx context.Context, key string) (*patra.Plan, error) {
	return s.read(ctx).plan(selectPlanKey, key)
}

// AddSlices inserts slices with their tasks and makes the plan READY. planVersion is what Need said: if another
// planner has been at the cursor since, nothing is inserted and the caller gets patra.ErrPlanMoved.
func (s *Store) AddSlices(ctx context.Context, now patra.Instant, planID, planVersion int64, slices []patra.Slice, trigger string, maxAttempts int64) error {
	return s.write(ctx, "add slices", func(t *tx) error {
		plan, err := t.plan(lockPlan, planID)
		if err != nil {
			return err
		}
		if plan == nil {
			return patra.ErrNotFound
		}
		if plan.Status != patra.Slicing { // a planner that died while slicing left it there
			if err := patra.PlanMoves.Check(plan.Status, patra.Slicing); err != nil {
				return err
			}
		}
		if len(slices) > 0 {
			n, err := t.exec(bumpCursorPlan, plan.CursorID, planVersion)
			if err != nil {
				return err
			}
			if n != 1 {
				return patra.ErrPlanMoved
			}
		}
		for i, sl := range slices {
			sl.No = plan.SliceCount + int64(i) + 1
			if err := t.addSlice(now, *plan, sl, trigger, maxAttempts); err != nil {
				return err
			}
		}
		n, err := t.exec(movePlan, patra.Ready, optional(plan.Reason), len(slices), plan.ID, plan.Status)
		if err == nil && n != 1 {
			err = patra.ErrIllegalMove
		}
		return err
	})
}

func (t *tx) addSlice(now patra.Instant, p patra.Plan, sl patra.Slice, trigger string, maxAttempts int64) error {
	if err := sl.Spec.Validate(); err != nil {
		return err
	}
	res, err := t.many(insertSlice, p.ID, p.CursorID, p.Source, sl.No, sl.Purpose, asJSON(sl.Spec), sl.Signature, string(sl.Expr), sl.ExprHash,
		sl.Window.From, sl.Window.To, sl.Fetch.From, sl.Fetch.To, now)
	if err != nil {
		return err
	}
	sliceID, err := res.LastInsertId()
	if err != nil {
		return err
	}
	params := json.RawMessage(`{}`)
	_, err = t.many(insertTask, p.InstanceID, p.ID, sliceID, p.CursorID, p.Source, p.Endpoint, p.Operation, patra.Partition(p.Source, p.Endpoint, p.Operation),
		sl.ExprHash, p.Spec, trigger, patra.TaskKey(p.Key, sl.Signature, sl.ExprHash, p.Operation, trigger, params), p.Priority, maxAttempts, now)
	return err
}

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
		need, err := t.need(plan.CursorID)
		if err != nil {
			return err
		}
		done := need.covered.Union(need.live)
		for _, sl := range ended {
			if sl.Purpose == patra.PurposeNeed && len(patra.NewCoverage(sl.Window).Minus(done)) == 0 {
				continue
			}
			if err := t.revive(sl); err != nil {
				return err
			}
			revived++
		}
		return nil
	})
	return revived, err
}

func (t *tx) endedSlices(planID int64) (ended []patra.Slice, err error) {
	err = t.rows(selectEnded, func(r *sql.Rows) error {
		var sl patra.Slice
		err := r.Scan(&sl.ID, &sl.Purpose, &sl.Window.From, &sl.Window.To, &sl.Status)
		ended = append(ended, sl)
		return err
	}, planID)
	return ended, err
}

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
