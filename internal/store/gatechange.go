package store

import (
	"context"
	"database/sql"
	"time"

	"patra"
)

var (
	insertGateChange = stmt{"insert_gate_change", `INSERT INTO ing_gate_change (gate_key, action_code, value, reason, actor, created_at) VALUES (?, ?, ?, ?, ?, ?)`}
	gateChanges      = stmt{"gate_changes", `SELECT id, gate_key, action_code, value, reason, actor, created_at FROM ing_gate_change WHERE gate_key = ? ORDER BY id DESC LIMIT ?`}
)

// SteerGate does what a person wants of a key, and keeps who wanted it and why. It gives what was, what is, and the
// database's clock.
func (s *Store) SteerGate(ctx context.Context, key string, turn patra.GateTurn, reason, actor string) (was, is patra.RateState, now patra.Instant, err error) {
	err = s.write(ctx, "steer the gate", func(t *tx) error {
		err := t.turnGate(key, func(at patra.Instant, _ time.Duration, before patra.RateState) patra.RateState {
			was, is, now = before, turn.Apply(before, at), at
			return is
		})
		changes := turn.Changes(key, reason, actor)
		for _, c := range changes {
			if err == nil {
				_, err = t.exec(insertGateChange, c.Key, c.Action, c.Value, c.Reason, c.Actor, now)
			}
		}
		if err != nil {
			return err
		}
		return t.acted(patra.AuditGate, actor, key, reason, map[string]any{"changes": changes})
	})
	return was, is, now, err
}

// GateChanges lists what people did to a key, newest first.
func (s *Store) GateChanges(ctx context.Context, key string, limit int) (all []patra.GateChange, err error) {
	err = s.read(ctx).rows(gateChanges, func(r *sql.Rows) error {
		var c patra.GateChange
		err := r.Scan(&c.ID, textInto{&c.Key}, &c.Action, textInto{&c.Value}, textInto{&c.Reason}, textInto{&c.Actor}, &c.At)
		all = append(all, c)
		return err
	}, key, limit)
	return all, err
}
