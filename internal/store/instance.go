package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"patra"
)

var (
	insertInstance = stmt{"insert_instance", `INSERT INTO ing_schedule_instance
		(scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code, triggered_at, trigger_params, provenance_code, endpoint_name, operation_code, status_code, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	settleInstance = stmt{"settle_instance", `UPDATE ing_schedule_instance
		SET status_code = ?, expr_proto_hash = ?, expr_proto_snapshot = ?, spec_fingerprint = ?, error = ?
		WHERE id = ? AND status_code = 'ACCEPTED'`}
	instanceIs = stmt{"instance_is", `SELECT COUNT(*) FROM ing_schedule_instance WHERE id = ? AND status_code = ?`}
)

// AcceptTrigger writes down that somebody asked for work, before anything can go wrong with it. A fire of a schedule that
// another planner accepted is patra.ErrFired.
func (s *Store) AcceptTrigger(ctx context.Context, now patra.Instant, in patra.Trigger) (int64, error) {
	var id int64
	err := s.write(ctx, "accept trigger", func(t *tx) (err error) {
		id, err = t.insert(insertInstance, in.Scheduler, in.JobID, in.LogID, in.Trigger, in.TriggeredAt, string(in.Params),
			in.Source, in.Endpoint, in.Operation, patra.Accepted, now)
		if s.dialect.duplicate(err) {
			return patra.ErrFired
		}
		return err
	}, func(t *tx) (bool, error) { return t.isInstance(id, patra.Accepted) })
	return id, err
}

// isInstance reports whether there is a trigger of this row in a state. One that another planner wrote has another row.
func (t *tx) isInstance(id int64, status patra.Status) (bool, error) {
	var n int
	_, err := t.one(instanceIs, []any{id, status}, &n)
	return n == 1, err
}

// RejectTrigger keeps the reason why a trigger could not become a plan.
func (s *Store) RejectTrigger(ctx context.Context, id int64, reason json.RawMessage) error {
	return s.write(ctx, "reject trigger", func(t *tx) error {
		return t.closeTrigger(id, patra.Rejected, nil, nil, nil, text(reason))
	})
}

// closeTrigger ends a trigger's life as an open question.
func (t *tx) closeTrigger(id int64, to patra.Status, exprHash, expr, spec, problem any) error {
	n, err := t.exec(settleInstance, to, exprHash, expr, spec, problem, id)
	if err == nil && n != 1 {
		err = patra.ErrIllegalMove
	}
	return err
}

var (
	nextJob   = stmt{"next_job", `SELECT scheduler_job_id FROM ing_schedule_instance WHERE scheduler_code = 'CRON' AND scheduler_job_id > ? ORDER BY scheduler_job_id LIMIT 1`}
	lastFires = stmt{"last_fires", `SELECT provenance_code, endpoint_name, operation_code, triggered_at, status_code, error FROM ing_schedule_instance
		WHERE scheduler_job_id = ? AND scheduler_code = 'CRON' ORDER BY id DESC LIMIT ` + strconv.Itoa(mostFires)}
	lastFire = stmt{"last_fire", `SELECT MAX(triggered_at) FROM ing_schedule_instance WHERE scheduler_code = ? AND scheduler_job_id = ?`}
)

// Triggers lists triggers.
func (s *Store) Triggers(ctx context.Context, f Filter) ([]patra.Trigger, error) {
	return list(ctx, s, "list_instances", `SELECT id, scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code, triggered_at, trigger_params,
		provenance_code, endpoint_name, operation_code, expr_proto_hash, spec_fingerprint, status_code, error FROM ing_schedule_instance WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"source": "provenance_code", "status": "status_code", "job": "scheduler_job_id"},
		func(r *sql.Rows) (in patra.Trigger, err error) {
			err = r.Scan(&in.ID, &in.Scheduler, &in.JobID, &in.LogID, &in.Trigger, &in.TriggeredAt, jsonInto{&in.Params},
				&in.Source, &in.Endpoint, &in.Operation, textInto{&in.ExprProtoHash}, textInto{&in.Spec}, &in.Status, jsonInto{&in.Error})
			return in, err
		})
}

// LastFire is when a job of a schedule fired last; nil if it never did.
func (s *Store) LastFire(ctx context.Context, job string) (*patra.Instant, error) {
	var at *patra.Instant
	_, err := s.read(ctx).one(lastFire, []any{patra.SchedulerCron, job}, &at)
	return at, err
}

// mostFires is how many fires of a schedule are looked at to see since when it is refused.
const mostFires = 50

// ScheduleStates tells of every schedule that ever fired what came of its last fires. One that is not in the settings any more is among them.
func (s *Store) ScheduleStates(ctx context.Context) (all []patra.ScheduleState, err error) {
	t := s.read(ctx)
	for job := ""; ; {
		found, err := t.one(nextJob, []any{job}, textInto{&job})
		if err != nil || !found {
			return all, err
		}
		st, err := t.scheduleState(job)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
}

func (t *tx) scheduleState(job string) (st patra.ScheduleState, err error) {
	st.Name = job
	fires := 0
	err = t.rows(lastFires, func(r *sql.Rows) error {
		var at patra.Instant
		var status patra.Status
		var source, endpoint string
		var op patra.Operation
		var raw json.RawMessage
		if err := r.Scan(textInto{&source}, textInto{&endpoint}, &op, &at, &status, jsonInto{&raw}); err != nil {
			return err
		}
		if fires++; fires == 1 {
			st.Source, st.Endpoint, st.Operation, st.Fired = source, endpoint, op, &at
		}
		switch {
		case status == patra.Accepted && st.Refused == 0: // it is being planned
			return nil
		case status != patra.Rejected:
			return errEnough
		case st.Refused == 0:
			st.Why = reasonOf(raw)
		}
		st.Refused, st.Since = st.Refused+1, &at
		return nil
	}, job)
	if errors.Is(err, errEnough) {
		return st, nil
	}
	st.Capped = fires == mostFires
	return st, err
}

// reasonOf is the reason for which a trigger came to nothing.
func reasonOf(raw json.RawMessage) string {
	var why struct {
		Error string `json:"error"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &why) != nil || why.Error == "" {
		return "no reason was kept"
	}
	return why.Error
}
