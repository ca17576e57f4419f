package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"patra"
)

var (
	lockGate   = stmt{"lock_gate", `UPDATE ing_rate_gate SET version = version + 1 WHERE gate_key = ?`}
	insertGate = stmt{"insert_gate", `INSERT INTO ing_rate_gate
		(gate_key, rate_milli, burst, arrival_at, cooldown_until, aimd_milli, ceiling_milli, adapted_at, refused_at, skew, version, created_at)
		VALUES (?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, {now})`}
	selectGate = stmt{"select_gate", `SELECT rate_milli, burst, arrival_at, cooldown_until, aimd_milli, ceiling_milli, adapted_at, refused_at, notes, {now}
		FROM ing_rate_gate WHERE gate_key = ?`}
	selectGates = stmt{"select_gates", `SELECT gate_key, rate_milli, burst, arrival_at, cooldown_until, aimd_milli, ceiling_milli, adapted_at, refused_at, notes, {now}
		FROM ing_rate_gate WHERE gate_key = ? OR (gate_key > ? AND gate_key < ?) ORDER BY gate_key`}
	selectAllGates = stmt{"select_all_gates", `SELECT gate_key, rate_milli, burst, arrival_at, cooldown_until, aimd_milli, ceiling_milli, adapted_at, refused_at, notes, {now}
		FROM ing_rate_gate ORDER BY gate_key`}
	updateGate = stmt{"update_gate", `UPDATE ing_rate_gate
		SET rate_milli = ?, burst = ?, arrival_at = ?, cooldown_until = ?, aimd_milli = ?, ceiling_milli = ?, adapted_at = ?, refused_at = ?, notes = ? WHERE gate_key = ?`}
)

// UpdateGateState changes the state of one key in one transaction. turn gets the database's clock, read after the row was
// locked so that waiting for others makes no old times, and how long reading it took. It may be called again after a
// deadlock.
func (s *Store) UpdateGateState(ctx context.Context, key string, turn func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState) error {
	return s.write(ctx, "turn the gate", func(t *tx) error { return t.turnGate(key, turn) })
}

func (t *tx) turnGate(key string, turn func(now patra.Instant, took time.Duration, was patra.RateState) patra.RateState) error {
	if err := t.lockGate(key); err != nil {
		return err
	}
	asked := time.Now()
	was, now, ok, err := t.gate(key)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the row of the gate is gone")
	}
	is := turn(now, time.Since(asked), was)
	notes, err := noted(is.Notes())
	if err != nil {
		return err
	}
	n, err := t.exec(updateGate, is.Limit, is.Burst, is.Arrival, is.Cooldown, is.Tempo.Rate, is.Tempo.Ceiling, is.Tempo.AdaptedAt, is.Tempo.RefusedAt, notes, key)
	if err == nil && n != 1 {
		err = errors.New("the row of the gate is gone")
	}
	return err
}

// lockGate takes the row of a key, and makes it the first time.
func (t *tx) lockGate(key string) error {
	n, err := t.exec(lockGate, key)
	if err != nil || n == 1 {
		return err
	}
	if _, err := t.exec(insertGate, key); err != nil && !t.s.dialect.duplicate(err) {
		return err
	}
	_, err = t.exec(lockGate, key)
	return err
}

// GateState reads the state of one key, and the database's clock. A key that was never used has the zero state.
func (s *Store) GateState(ctx context.Context, key string) (state patra.RateState, now patra.Instant, err error) {
	state, now, _, err = s.read(ctx).gate(key)
	return state, now, err
}

func (t *tx) gate(key string) (is patra.RateState, now patra.Instant, ok bool, err error) {
	var notes json.RawMessage
	ok, err = t.one(selectGate, []any{key}, &is.Limit, &is.Burst, &is.Arrival, &is.Cooldown, &is.Tempo.Rate, &is.Tempo.Ceiling, &is.Tempo.AdaptedAt, &is.Tempo.RefusedAt, jsonInto{&notes}, &now)
	if err == nil {
		err = readNotes(notes, &is)
	}
	return is, now, ok, err
}

// readNotes puts what is stored of notes into a state.
func readNotes(text json.RawMessage, is *patra.RateState) error {
	if len(text) == 0 {
		return nil
	}
	var n patra.RateNotes
	err := json.Unmarshal(text, &n)
	is.SetNotes(n)
	return err
}

// noted is what is stored of notes: nothing where there are none.
func noted(n patra.RateNotes) (any, error) {
	text, err := json.Marshal(n)
	if err != nil || string(text) == "{}" {
		return nil, err
	}
	return string(text), nil
}

// Gates reads the keys of a source, those of its credentials included, and the database's clock.
func (s *Store) Gates(ctx context.Context, source string) (all []patra.KeyedRate, now patra.Instant, err error) {
	return s.read(ctx).gates(selectGates, source, source+"#", source+"$") // a credential's key is SOURCE#NAME
}

// AllGates reads every key that was ever used, and the database's clock.
func (s *Store) AllGates(ctx context.Context) (all []patra.KeyedRate, now patra.Instant, err error) {
	t := s.read(ctx)
	if all, now, err = t.gates(selectAllGates); err == nil && len(all) == 0 {
		now, err = t.clock()
	}
	return all, now, err
}

func (t *tx) gates(st stmt, args ...any) (all []patra.KeyedRate, now patra.Instant, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var k patra.KeyedRate
		var notes json.RawMessage
		err := r.Scan(textInto{&k.Key}, &k.Limit, &k.Burst, &k.Arrival, &k.Cooldown, &k.Tempo.Rate, &k.Tempo.Ceiling, &k.Tempo.AdaptedAt, &k.Tempo.RefusedAt, jsonInto{&notes}, &now)
		if err == nil {
			err = readNotes(notes, &k.RateState)
		}
		all = append(all, k)
		return err
	}, args...)
	return all, now, err
}
