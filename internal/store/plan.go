package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"patra"
)

var (
	selectSnapshot = stmt{"select_snapshot", `SELECT snapshot FROM ing_spec_snapshot WHERE spec_fingerprint = ?`}
	insertSnapshot = stmt{"insert_snapshot", `INSERT INTO ing_spec_snapshot
		(spec_fingerprint, provenance_code, endpoint_name, operation_code, snapshot, field_origin, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`}
	insertPlan = stmt{"insert_plan", `INSERT INTO ing_plan
		(plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, campaign, cursor_id, window_from, window_to, window_inputs,
		 expr_proto_hash, expr_proto_snapshot, spec_fingerprint, slice_strategy_code, slice_params, base_url, priority, slice_count, status_code, reason_code, warnings, version, created_at, traceparent, repository)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 'DRAFT', ?, ?, 0, ?, ?, ?)`}
	selectPlan     = stmt{"select_plan", `SELECT ` + planColumns + ` FROM ing_plan WHERE id = ?`}
	selectLastByID = stmt{"select_last_by_id", `SELECT ` + planColumns + ` FROM ing_plan
		WHERE provenance_code = ? AND operation_code = 'UPDATE' AND endpoint_name = ? AND slice_strategy_code = 'ID_RANGE' AND campaign = ? AND spec_fingerprint = ?
		  AND status_code IN ('DRAFT', 'SLICING', 'PARTIAL', 'READY') ORDER BY id DESC LIMIT 1`}
	lastEnds      = stmt{"last_ends", `SELECT status_code FROM ing_plan_slice WHERE plan_id = ? AND closed_at IS NOT NULL ORDER BY closed_at DESC, id DESC LIMIT ?`}
	lockPlan      = stmt{"lock_plan", `SELECT ` + planColumns + ` FROM ing_plan WHERE id = ? {lock}`}
	selectPlanKey = stmt{"select_plan_key", `SELECT ` + planColumns + ` FROM ing_plan WHERE plan_key = ?`}
)

const planColumns = `id, plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, campaign, cursor_id, window_from, window_to, window_inputs,
	expr_proto_hash, expr_proto_snapshot, spec_fingerprint, slice_strategy_code, slice_params, base_url, priority, slice_count, estimated_records, estimated_requests,
	status_code, reason_code, warnings, created_at, traceparent, repository`

// scanPlan reads the columns of a plan, and more that stand behind them.
func scanPlan(r *sql.Rows, more ...any) (p patra.Plan, err error) {
	var cursorID, records, requests sql.NullInt64
	err = r.Scan(append([]any{&p.ID, &p.Key, &p.Generation, &p.InstanceID, &p.Source, &p.Endpoint, &p.Operation, textInto{&p.Campaign}, &cursorID, &p.Window.From, &p.Window.To, jsonInto{&p.Inputs},
		&p.ExprProtoHash, jsonInto{&p.ExprProto}, &p.Spec, &p.Strategy, jsonInto{&p.SliceParams}, textInto{&p.BaseURL}, &p.Priority, &p.SliceCount, &records, &requests, &p.Status, textInto{&p.Reason}, jsonInto{&p.Warnings}, &p.CreatedAt, textInto{&p.Trace}, textInto{&p.Repository}}, more...)...)
	p.CursorID, p.Records, p.Requests = cursorID.Int64, records.Int64, requests.Int64
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
		plan = nil
		if err := t.keepSnapshot(now, snap); err != nil {
			return err
		}
		if err := t.closeTrigger(p.InstanceID, patra.Planned, p.ExprProtoHash, text(p.ExprProto), p.Spec, nil); err != nil {
			return err
		}
		if plan, err = t.plan(selectPlanKey, p.Key); err != nil || plan != nil {
			return err
		}
		_, err = t.insert(insertPlan, p.Key, p.Generation, p.InstanceID, p.Source, p.Endpoint, p.Operation, optional(p.Campaign), optional(p.CursorID), p.Window.From, p.Window.To,
			text(p.Inputs), p.ExprProtoHash, text(p.ExprProto), p.Spec, p.Strategy, text(p.SliceParams), optional(p.BaseURL), p.Priority, optional(p.Reason), orElse(p.Warnings, "[]"), now, optional(p.Trace), optional(p.Repository))
		if err != nil && !s.dialect.duplicate(err) {
			return err
		}
		plan, err = t.plan(selectPlanKey, p.Key)
		return err
	}, func(t *tx) (bool, error) {
		if plan == nil {
			return false, nil
		}
		return t.isInstance(p.InstanceID, patra.Planned)
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

// LastUpdateByID is the newest update by id like the given one; nil if there is none.
func (s *Store) LastUpdateByID(ctx context.Context, like patra.Plan) (*patra.Plan, error) {
	var found *patra.Plan
	err := s.read(ctx).rows(selectLastByID, func(r *sql.Rows) error {
		p, err := scanPlan(r)
		found = &p
		return err
	}, like.Source, like.Endpoint, like.Campaign, like.Spec)
	return found, err
}

// LastEnds is how the slices of a plan that closed last ended, newest first.
func (s *Store) LastEnds(ctx context.Context, planID int64, n int) (ends []patra.Status, err error) {
	err = s.read(ctx).rows(lastEnds, func(r *sql.Rows) error {
		var status patra.Status
		err := r.Scan(&status)
		ends = append(ends, status)
		return err
	}, planID, n)
	return ends, err
}

// Plan reads one plan.
func (s *Store) Plan(ctx context.Context, id int64) (patra.Plan, error) {
	p, err := s.read(ctx).plan(selectPlan, id)
	if err == nil && p == nil {
		err = patra.ErrNotFound
	}
	if err != nil {
		return patra.Plan{}, err
	}
	return *p, nil
}
