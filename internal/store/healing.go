package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	insertHealing = stmt{"insert_healing", `INSERT INTO ing_healing
		(task_id, run_id, provenance_code, endpoint_name, operation_code, action_code, reason_code, detail, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	selectHealing = stmt{"select_healing", `SELECT id, COALESCE(task_id, 0), COALESCE(run_id, 0), provenance_code, endpoint_name, operation_code, action_code, reason_code, detail, created_at
		FROM ing_healing WHERE (? = '' OR provenance_code = ?) AND (? = 0 OR task_id = ?) ORDER BY id DESC LIMIT ?`}
)

// Heal keeps what was done to go on. It is never part of the work itself: a run that lost its lease may still say what it
// had tried.
func (s *Store) Heal(ctx context.Context, h patra.Healing) error {
	return s.write(ctx, "heal", func(t *tx) error { return t.heal(h) })
}

func (t *tx) heal(h patra.Healing) error {
	_, err := t.exec(insertHealing, optional(h.TaskID), optional(h.RunID), h.Source, h.Endpoint, optional(h.Operation), h.Action, h.Reason, text(h.Detail), h.At)
	return err
}

// Healings lists what was done, newest first; of one source or of one task, if they are named.
func (s *Store) Healings(ctx context.Context, source string, taskID int64, limit int) (all []patra.Healing, err error) {
	err = s.read(ctx).rows(selectHealing, func(r *sql.Rows) error {
		var h patra.Healing
		err := r.Scan(&h.ID, &h.TaskID, &h.RunID, &h.Source, &h.Endpoint, textInto{(*string)(&h.Operation)}, &h.Action, &h.Reason, jsonInto{&h.Detail}, &h.At)
		all = append(all, h)
		return err
	}, source, source, taskID, taskID, limit)
	return all, err
}
