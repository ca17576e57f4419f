package store

import (
	"context"
	"encoding/json"

	"patra"
)

var (
	insertInstance = stmt{"insert_instance", `INSERT INTO ing_schedule_instance
		(scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code, triggered_at, trigger_params, provenance_code, endpoint_name, operation_code, status_code, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	settleInstance = stmt{"settle_instance", `UPDATE ing_schedule_instance
		SET status_code = ?, expr_proto_hash = ?, expr_proto_snapshot = ?, spec_fingerprint = ?, error = ?
		WHERE id = ? AND status_code = 'ACCEPTED'`}
)

// AcceptTrigger writes down that somebody asked for work, before anything can go wrong with it.
func (s *Store) AcceptTrigger(ctx context.Context, now patra.Instant, in patra.Instance) (int64, error) {
	var id int64
	err := s.write(ctx, "accept trigger", func(t *tx) (err error) {
		id, err = t.insert(insertInstance, in.Scheduler, in.JobID, in.LogID, in.Trigger, in.TriggeredAt, string(in.Params),
			in.Source, in.Endpoint, in.Operation, patra.Accepted, now)
		return err
	})
	return id, err
}

// RejectTrigger keeps the reason why a trigger could not become a plan.
func (s *Store) RejectTrigger(ctx context.Context, id int64, reason json.RawMessage) error {
	return s.write(ctx, "reject trigger", func(t *tx) error {
		return t.settle(id, patra.Rejected, nil, nil, nil, text(reason))
	})
}

// settle ends a trigger's life as an open question.
func (t *tx) settle(id int64, to patra.Status, exprHash, expr, spec, problem any) error {
	n, err := t.exec(settleInstance, to, exprHash, expr, spec, problem, id)
	if err == nil && n != 1 {
		err = patra.ErrIllegalMove
	}
	return err
}
