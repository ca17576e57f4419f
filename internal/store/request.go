package store

import (
	"context"

	"patra"
)

var (
	insertRequest = stmt{"insert_request", `INSERT INTO ing_request
		(request_id, run_id, batch_id, kind_code, gate_key, cost, waited, acquired_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	requestByName = stmt{"request_by_name", `SELECT id FROM ing_request WHERE request_id = ?`}
	finishRequest = stmt{"finish_request", `UPDATE ing_request SET sent_at = ?, finished_at = ?, http_status = ?, bytes = ?, outcome_code = ?, level_code = ?, retry_after = ? WHERE id = ?`}
)

// OpenRequest writes the row of a request that belongs to no run, before it is sent.
func (s *Store) OpenRequest(ctx context.Context, now patra.Instant, open patra.RequestOpen) (int64, error) {
	var id int64
	err := s.write(ctx, "open request", func(t *tx) (err error) {
		id, err = t.insert(insertRequest, open.RequestID, nil, nil, open.Kind, open.GateKey, open.Cost, open.Waited, open.AcquiredAt, now)
		return err
	}, func(t *tx) (landed bool, err error) {
		return t.one(requestByName, []any{open.RequestID}, &id)
	})
	return id, err
}

// CloseRequest writes what became of it.
func (s *Store) CloseRequest(ctx context.Context, id int64, x patra.Exchange) error {
	return s.write(ctx, "close request", func(t *tx) error { return t.finishRequest(id, x) })
}

func (t *tx) finishRequest(id int64, x patra.Exchange) error {
	n, err := t.exec(finishRequest, optional(x.SentAt), x.FinishedAt, optional(x.Status), x.Bytes, x.Outcome, optional(x.Level), optional(x.RetryAfter.Microseconds()), id)
	if err == nil && n != 1 {
		err = patra.ErrNotFound
	}
	return err
}
