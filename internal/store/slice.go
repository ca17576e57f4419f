package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"patra"
)

var (
	bumpCursorPlan = stmt{"bump_cursor_plan", `UPDATE ing_cursor SET plan_version = plan_version + 1 WHERE id = ? AND plan_version = ?`}
	growPlan       = stmt{"grow_plan", `UPDATE ing_plan SET status_code = 'SLICING', slice_count = slice_count + ?, version = version + 1 WHERE id = ? AND status_code = ?`}
	endPlan        = stmt{"end_plan", `UPDATE ing_plan SET status_code = ?, reason_code = ?, warnings = ?, version = version + 1,
		estimated_records = COALESCE(estimated_records, 0) + ?, estimated_requests = COALESCE(estimated_requests, 0) + ? WHERE id = ? AND status_code = ?`}
	selectSliced = stmt{"select_sliced", `SELECT window_from, window_to FROM ing_plan_slice WHERE plan_id = ? AND window_from IS NOT NULL ORDER BY window_from, window_to`}
	insertSlice  = stmt{"insert_slice", `INSERT INTO ing_plan_slice
		(plan_id, parent_slice_id, cursor_id, provenance_code, slice_no, purpose_code, part_no, part_count, slice_spec, slice_signature_hash, expr_snapshot, expr_hash,
		 window_from, window_to, fetch_from, fetch_to, estimate_records, estimate_source_code, status_code, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'READY', ?)`}
	insertTask = stmt{"insert_task", `INSERT INTO ing_task
		(schedule_instance_id, plan_id, slice_id, cursor_id, provenance_code, endpoint_name, operation_code, partition_key, params, expr_hash, spec_fingerprint,
		 trigger_type_code, idempotent_key, priority, scheduled_at, status_code, cancel_requested, lease_count, leased_until, attempt_count, max_attempts,
		 scan_no, next_ordinal, next_detail_ordinal, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?, ?, ?, {now}, 'QUEUED', 0, 0, 0, 0, ?, 1, 1, 1, ?)`}
)

const sliceColumns = `id, plan_id, parent_slice_id, cursor_id, slice_no, purpose_code, part_no, part_count, slice_spec, slice_signature_hash, expr_snapshot, expr_hash,
	window_from, window_to, fetch_from, fetch_to, confirmed_from, confirmed_to, estimate_records, estimate_source_code, reslice, status_code, closed_at`

func scanSlice(r *sql.Rows) (sl patra.Slice, err error) {
	var parent, cursor, records sql.NullInt64
	var spec, reslice json.RawMessage
	var confirmed struct{ from, to *patra.Instant }
	var grounds string
	err = r.Scan(&sl.ID, &sl.PlanID, &parent, &cursor, &sl.No, &sl.Purpose, &sl.PartNo, &sl.PartCount, jsonInto{&spec}, &sl.Signature, jsonInto{&sl.Expr}, &sl.ExprHash,
		&sl.Window.From, &sl.Window.To, &sl.Fetch.From, &sl.Fetch.To, &confirmed.from, &confirmed.to, &records, textInto{&grounds}, jsonInto{&reslice}, &sl.Status, &sl.ClosedAt)
	if err != nil {
		return sl, err
	}
	sl.ParentID, sl.CursorID = parent.Int64, cursor.Int64
	if confirmed.from != nil && confirmed.to != nil {
		sl.Confirmed = &patra.Window{From: *confirmed.from, To: *confirmed.to}
	}
	if records.Valid {
		sl.Estimate = &patra.Estimate{Records: records.Int64, Grounds: patra.EstimateMethod(grounds)}
	}
	if len(reslice) > 0 {
		sl.Reslice = &patra.Reslice{}
		err = json.Unmarshal(reslice, sl.Reslice)
	}
	return sl, errors.Join(err, json.Unmarshal(spec, &sl.Spec))
}

// Sliced is the time that a plan has slices for already, whatever became of them.
func (s *Store) Sliced(ctx context.Context, planID int64) (patra.Coverage, error) {
	return s.read(ctx).merged(selectSliced, planID)
}

// AddSlices inserts slices with their tasks, and leaves the plan SLICING: more may follow. planVersion is what Need said,
// and grows by one with every call: if another planner has been at the cursor since, nothing is inserted and the caller
// gets patra.ErrPlanMoved. A plan without a cursor has the number of its slices in place of a version.
func (s *Store) AddSlices(ctx context.Context, now patra.Instant, planID, planVersion int64, slices []patra.Slice, trigger string, maxAttempts int64) error {
	return s.write(ctx, "add slices", func(t *tx) error {
		plan, err := t.slicing(planID)
		if err != nil {
			return err
		}
		if plan.CursorID == 0 && plan.SliceCount != planVersion {
			return patra.ErrPlanMoved
		}
		if plan.CursorID != 0 {
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
		n, err := t.exec(growPlan, len(slices), plan.ID, plan.Status)
		if err == nil && n != 1 {
			err = patra.ErrIllegalMove
		}
		if err != nil {
			return err
		}
		return t.parkIfPaused(plan.WorkScope())
	})
}

// slicing locks a plan that may get slices.
func (t *tx) slicing(planID int64) (*patra.Plan, error) {
	plan, err := t.plan(lockPlan, planID)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, patra.ErrNotFound
	}
	if plan.Status != patra.Slicing { // a planner that died while slicing left it there
		err = patra.PlanMoves.Check(plan.Status, patra.Slicing)
	}
	return plan, err
}

// EndSlicing says that no more slices follow: the plan is READY, or PARTIAL until there is room, or cannot be cut.
func (s *Store) EndSlicing(ctx context.Context, planID int64, end patra.SlicingEnd) error {
	return s.write(ctx, "end slicing", func(t *tx) error {
		plan, err := t.slicing(planID)
		if err != nil {
			return err
		}
		if err := patra.PlanMoves.Check(patra.Slicing, end.Status); err != nil {
			return err
		}
		warnings := patra.Problems{}
		if err := json.Unmarshal([]byte(orElse(plan.Warnings, "[]")), &warnings); err != nil {
			return err
		}
		for _, w := range end.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
		n, err := t.exec(endPlan, end.Status, optional(end.Reason), asJSON(warnings), end.Records, end.Requests, plan.ID, plan.Status)
		if err == nil && n != 1 {
			err = patra.ErrIllegalMove
		}
		if err != nil {
			return err
		}
		return t.writePlanEvent(plan.ID)
	})
}

// addSlice inserts one slice with its task.
func (t *tx) addSlice(now patra.Instant, p patra.Plan, sl patra.Slice, trigger string, maxAttempts int64) error {
	if err := sl.Check(); err != nil {
		return err
	}
	var records, grounds any
	if sl.Estimate != nil {
		records, grounds = sl.Estimate.Records, sl.Estimate.Grounds
	}
	res, err := t.many(insertSlice, p.ID, optional(sl.ParentID), optional(p.CursorID), p.Source, sl.No, sl.Purpose, max(sl.PartNo, 1), max(sl.PartCount, 1), asJSON(sl.Spec), sl.Signature,
		string(sl.Expr), sl.ExprHash, sl.Window.From, sl.Window.To, sl.Fetch.From, sl.Fetch.To, records, grounds, now)
	if err != nil {
		return err
	}
	sliceID, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if err := t.keepShown(sliceID, sl.Shown); err != nil {
		return err
	}
	params := json.RawMessage(`{}`)
	_, err = t.many(insertTask, p.InstanceID, p.ID, sliceID, optional(p.CursorID), p.Source, p.Endpoint, p.Operation, p.WorkScope().Partition(),
		sl.ExprHash, p.Spec, trigger, patra.TaskKey(p.Key, sl.Signature, sl.ExprHash, p.Operation, trigger, params), p.Priority, maxAttempts, now)
	return err
}
