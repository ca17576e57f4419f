package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"patra"
)

// purgedRole keeps up to which number events are gone. They go from the front only: what is there has no holes.
const purgedRole = "purged"

var (
	lockSinks     = stmt{"lock_sinks", `SELECT name, position FROM ing_lease WHERE name LIKE 'relay/%' ORDER BY name {lock}`}
	firstNeeded   = stmt{"first_needed", `SELECT COALESCE(MIN(seq), 0) FROM ing_outbox_delivery`}
	oldEvents     = stmt{"old_events", `SELECT seq, created_at FROM ing_outbox WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 500`}
	purgeOutbox   = stmt{"purge_outbox", `DELETE FROM ing_outbox WHERE seq > ? AND seq <= ?`}
	movePurged    = stmt{"move_purged", `UPDATE ing_lease SET position = ?, notes = ? WHERE name = 'purged'`}
	forgetSink    = stmt{"forget_sink", `DELETE FROM ing_lease WHERE name = ? AND (lease_owner IS NULL OR leased_until < {now})`}
	forgetBacklog = stmt{"forget_backlog", `DELETE FROM ing_outbox_delivery WHERE sink_name = ?`}
)

// Purged is what is gone of the events.
type Purged struct {
	Last int64         `json:"-"`  // the highest number
	At   patra.Instant `json:"at"` // when that happened
}

// Purged tells up to where events are gone.
func (s *Store) Purged(ctx context.Context) (Purged, error) { return s.read(ctx).purged(selectRole) }

func (t *tx) purged(st stmt) (p Purged, err error) {
	var raw json.RawMessage
	if _, err = t.one(st, []any{purgedRole}, &p.Last, jsonInto{&raw}); err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// PurgeEvents deletes events from before a moment that every sink has, some hundred at a time, and tells how many. An event
// that waits for a sink, or was set aside for one, is still needed, and so is everything behind it. Those of sinks, by
// name, that no relay was at yet have got nothing: as long as there is one of them nothing goes.
func (s *Store) PurgeEvents(ctx context.Context, before patra.Instant, sinks []string) (n int64, err error) {
	if err := s.ensureRole(ctx, purgedRole, 0, nil); err != nil {
		return 0, err
	}
	err = s.write(ctx, "purge events", func(t *tx) error {
		n = 0
		most, err := t.confirmed(sinks) // the sinks first, as for a rewind: nobody can be sent back meanwhile
		if err != nil {
			return err
		}
		gone, err := t.purged(lockRole)
		if err != nil {
			return err
		}
		last := gone
		err = t.rows(oldEvents, func(r *sql.Rows) error {
			var seq int64
			var at patra.Instant
			err := r.Scan(&seq, &at)
			if err == nil && at < before && seq == last.Last+1 {
				last = Purged{seq, max(last.At, at)}
			}
			return err
		}, gone.Last, most)
		if err != nil || last == gone {
			return err
		}
		if n, err = t.exec(purgeOutbox, gone.Last, last.Last); err != nil {
			return err
		}
		_, err = t.exec(movePurged, last.Last, asJSON(last))
		return err
	})
	return n, err
}

// confirmed is the number up to which every sink has got everything.
func (t *tx) confirmed(sinks []string) (most int64, err error) {
	most = farAway
	var known []string
	err = t.rows(lockSinks, func(r *sql.Rows) error {
		var name string
		var position int64
		err := r.Scan(textInto{&name}, &position)
		known, most = append(known, name), min(most, position)
		return err
	})
	if slices.ContainsFunc(sinks, func(name string) bool { return !slices.Contains(known, patra.RelayLease(name)) }) {
		return 0, err
	}
	var needed int64
	if _, err2 := t.one(firstNeeded, nil, &needed); firstOf(err, err2) != nil {
		return 0, firstOf(err, err2)
	}
	if needed > 0 {
		most = min(most, needed-1)
	}
	return most, nil
}

// RemoveSink forgets a sink that is gone, so that no event is kept for it. It fails with patra.ErrNotFound for one that is
// not known, and with patra.ErrIllegalMove while a relay is at it.
func (s *Store) RemoveSink(ctx context.Context, sink, actor, reason string) error {
	return s.write(ctx, "forget sink", func(t *tx) error {
		var position int64
		found, err := t.one(lockRole, []any{patra.RelayLease(sink)}, &position, jsonInto{new(json.RawMessage)})
		if err != nil || !found {
			return orNotFound(err)
		}
		n, err := t.exec(forgetSink, patra.RelayLease(sink))
		if err == nil && n == 0 {
			err = patra.ErrIllegalMove
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(forgetBacklog, sink); err != nil {
			return err
		}
		return t.auditAction(patra.AuditForget, actor, sink, reason, map[string]any{"position": position})
	})
}
