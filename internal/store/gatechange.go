package store

import (
	"context"
	"time"

	"patra"
)

// UpdateGate does what a person wants of a key, and writes into the audit log who wanted it and why. It gives what was, what is, and the
// database's clock.
func (s *Store) UpdateGate(ctx context.Context, key string, turn patra.GateUpdate, reason, actor string) (was, is patra.RateState, now patra.Instant, err error) {
	err = s.write(ctx, "steer the gate", func(t *tx) error {
		err := t.turnGate(key, func(at patra.Instant, _ time.Duration, before patra.RateState) patra.RateState {
			was, is, now = before, turn.Apply(before, at), at
			return is
		})
		if err != nil {
			return err
		}
		// At the same moment to the microsecond: whose cooldown it is, is told by when it ends.
		_, err = t.audit(patra.AuditEntry{At: now, Actor: actor, Action: patra.AuditGate, Target: key, Reason: reason, Detail: []byte(asJSON(map[string]any{"changes": turn.Actions()}))})
		return err
	})
	return was, is, now, err
}

// GateChanges lists what people did to a key, newest first.
func (s *Store) GateChanges(ctx context.Context, key string, limit int) (all []patra.GateChange, err error) {
	err = s.read(ctx).audited(patra.AuditGate, key, limit, func(e patra.AuditEntry) error {
		changes, err := e.GateChanges()
		all = append(all, changes...)
		return err
	})
	return all[:min(len(all), limit)], err
}
