package store

import (
	"database/sql"
	"encoding/json"

	"patra"
)

// availability is what a claim may take from: which partitions are shut, and how many tasks of the others may run at once.
type availability struct {
	gates      patra.AdmissionControls
	now        patra.Instant
	configured int64
	running    map[string]int64
}

// doors reads the few controls of places, and how much runs where a limit is to be kept, as far as that is not known yet. Mostly nothing is
// held back.
func (t *tx) doors(configured int, known *prefetchedQueue) (d availability, err error) {
	d.configured, d.running = int64(configured), map[string]int64{}
	limited := configured > 0
	if known == nil || known.gated {
		var limits bool
		limits, err = t.placesHeld(&d)
		limited = limited || limits
	}
	if err != nil || !limited {
		return d, err
	}
	if known != nil && known.running != nil {
		d.running = known.running
		return d, nil
	}
	return d, t.rows(busy, func(r *sql.Rows) error {
		var partition string
		var n int64
		err := r.Scan(&partition, &n)
		d.running[partition] = n
		return err
	})
}

// placesHeld reads the controls of places, and tells whether one is a limit.
func (t *tx) placesHeld(d *availability) (limits bool, err error) {
	err = t.rows(gates, func(r *sql.Rows) error {
		var c patra.Control
		var detail json.RawMessage
		if err := r.Scan(&d.now, &c.Scope, &c.Key, &c.Kind, &c.State, &c.Until, &c.Failures, &c.Reason, &c.Actor, &c.Version, jsonInto{&detail}); err != nil {
			return err
		}
		if len(detail) > 0 {
			if err := json.Unmarshal(detail, &c.Detail); err != nil {
				return err
			}
		}
		limits = limits || c.Kind == patra.KindLimit
		d.gates = append(d.gates, c)
		return nil
	})
	return limits, err
}

// limit is how many tasks of a partition may run; 0 is any number.
func (d availability) limit(partition string) int64 {
	return d.gates.Limit(patra.Target{Scope: patra.ScopeOperation, Key: partition}.WorkScope(), d.configured, d.now)
}

// shut reports whether a partition gets no task now.
func (d availability) shut(partition string) bool {
	if d.gates.Blocked(patra.Target{Scope: patra.ScopeOperation, Key: partition}.WorkScope(), d.now) {
		return true
	}
	limit := d.limit(partition)
	return limit > 0 && d.running[partition] >= limit
}

// freeSlots tells how many more tasks of a partition may run, and keeps everybody else from deciding the same until the
// transaction ends: else two claims at once would both find the last place. On SQLite the write lock sees to that; on
// the MySQL family it is the row of the partition's limit. Nobody waits for that row: there is other work.
func (t *tx) freeSlots(partition string, limit int64) (places int64, err error) {
	at := patra.Target{Scope: patra.ScopeOperation, Key: partition}
	for range 2 {
		var version int64
		found, err := t.one(peekControl, []any{at.Scope, at.Key, patra.KindLimit}, &version)
		if err != nil {
			if t.s.dialect.locked(err) {
				err = errTaken
			}
			return 0, err
		}
		if found {
			break
		}
		if _, err := t.exec(insertControl, at.Scope, at.Key, patra.KindLimit, patra.KindLimit.InactiveState()); err != nil && !t.s.dialect.duplicate(err) {
			return 0, err
		}
	}
	var n int64
	_, err = t.one(runningIn, []any{partition}, &n)
	return limit - n, err
}
