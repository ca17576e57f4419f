package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	insertHealing = stmt{"insert_healing", `INSERT INTO ing_healing
		(task_id, run_id, provenance_code, endpoint_name, operation_code, action_code, reason_code, detail, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`}
)

// RecordHealing keeps what was done to go on. It is never part of the work itself: a run that lost its lease may still say what it
// had tried.
func (s *Store) RecordHealing(ctx context.Context, h patra.Healing) error {
	return s.write(ctx, "heal", func(t *tx) error { return t.heal(h) })
}

func (t *tx) heal(h patra.Healing) error {
	_, err := t.exec(insertHealing, optional(h.TaskID), optional(h.RunID), h.Source, h.Endpoint, optional(h.Operation), h.Action, h.Reason, text(h.Detail), h.At)
	return err
}

// Healings lists what was done, newest first; of one source or of one task, if they are named.
func (s *Store) Healings(ctx context.Context, source string, taskID int64, limit int) ([]patra.Healing, error) {
	return s.HealingList(ctx, Filter{Source: source, Task: taskID, Limit: limit})
}

// HealingList is Healings in parts.
func (s *Store) HealingList(ctx context.Context, f Filter) ([]patra.Healing, error) {
	return list(ctx, s, "list_healing", `SELECT id, COALESCE(task_id, 0), COALESCE(run_id, 0), provenance_code, endpoint_name, operation_code, action_code, reason_code, detail, created_at
		FROM ing_healing {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f, map[string]string{"id": "id", "source": "provenance_code", "task": "task_id"},
		func(r *sql.Rows) (h patra.Healing, err error) {
			err = r.Scan(&h.ID, &h.TaskID, &h.RunID, &h.Source, &h.Endpoint, textInto{(*string)(&h.Operation)}, &h.Action, &h.Reason, jsonInto{&h.Detail}, &h.At)
			return h, err
		})
}
