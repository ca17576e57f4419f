package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"patra"
)

var (
	// Of a record only the oldest event that waits is due: the others wait for it.
	dueDeliveries = stmt{"due_deliveries", `SELECT d.seq, d.order_key, d.attempts FROM ing_outbox_delivery d WHERE d.sink_name = ? AND d.status_code = 'WAITING' AND d.next_at <= {now}
		AND NOT EXISTS (SELECT 1 FROM ing_outbox_delivery e WHERE e.sink_name = d.sink_name AND e.order_key = d.order_key AND e.status_code = 'WAITING' AND e.seq < d.seq)
		ORDER BY d.seq LIMIT ?`}
	countHeld        = stmt{"count_held", `SELECT COUNT(*) FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = 'WAITING'`}
	insertDelivery   = stmt{"insert_delivery", `INSERT INTO ing_outbox_delivery (sink_name, seq, order_key, status_code, attempts, next_at, last_error, created_at) VALUES (?, ?, ?, ?, ?, {now} + ?, ?, {now})`}
	updateDelivery   = stmt{"update_delivery", `UPDATE ing_outbox_delivery SET status_code = ?, attempts = ?, next_at = {now} + ?, last_error = ? WHERE sink_name = ? AND seq = ?`}
	deleteDelivery   = stmt{"delete_delivery", `DELETE FROM ing_outbox_delivery WHERE sink_name = ? AND seq = ?`}
	forgetDeliveries = stmt{"forget_deliveries", `DELETE FROM ing_outbox_delivery WHERE sink_name = ? AND seq > ?`}
	notesOf          = stmt{"notes_of", `SELECT notes FROM ing_lease WHERE name = ?`}
)

// DueDeliveries are events that a sink did not take, and that are to be sent to it again now; of each record the oldest.
func (s *Store) DueDeliveries(ctx context.Context, sink string, limit int) (all []patra.Delivery, err error) {
	err = s.read(ctx).rows(dueDeliveries, func(r *sql.Rows) error {
		d := patra.Delivery{State: patra.DeliveryWaiting}
		err := r.Scan(&d.Seq, &d.Key, &d.Attempts)
		all = append(all, d)
		return err
	}, sink, limit)
	return all, err
}

// PendingDeliveries is how many events wait for a sink, and which of some keys have one.
func (s *Store) PendingDeliveries(ctx context.Context, sink string, keys []string) (n int64, held map[string]bool, err error) {
	t := s.read(ctx)
	if _, err := t.one(countHeld, []any{sink}, &n); err != nil || n == 0 || len(keys) == 0 {
		return n, nil, err
	}
	held = map[string]bool{}
	args := []any{sink}
	for _, k := range keys {
		args = append(args, k)
	}
	err = t.rows(stmt{"held_keys", `SELECT DISTINCT order_key FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = 'WAITING' AND order_key IN (` + marks(len(keys)) + `)`},
		func(r *sql.Rows) error {
			var key string
			err := r.Scan(&key)
			held[key] = true
			return err
		}, args...)
	return n, held, err
}

// MarkSent writes down what became of events that were sent, in one transaction under the fence of the role: whoever lost
// the role writes nothing and gets patra.ErrLeaseLost.
func (s *Store) MarkSent(ctx context.Context, r *patra.LeaderLease, sink string, sent patra.DeliveryResult) error {
	err := s.write(ctx, "mark sent", func(t *tx) error {
		notes, err := t.mergedNotes(r.Name, sent.Notes)
		if err != nil {
			return err
		}
		if err := requireLease(t.exec(moveRole, sent.Position, notes, r.For.Microseconds(), r.Name, r.Owner, r.Fence)); err != nil {
			return err
		}
		for _, seq := range sent.Done {
			if _, err := t.many(deleteDelivery, sink, seq); err != nil {
				return err
			}
		}
		for _, d := range sent.Failed {
			if err := t.keepDelivery(sink, r.Position, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.Position = sent.Position
	}
	return err
}

// keepDelivery notes an event that was not taken: one behind the old position is known already.
func (t *tx) keepDelivery(sink string, position int64, d patra.Delivery) error {
	if d.Seq <= position {
		_, err := t.many(updateDelivery, d.State, d.Attempts, d.RetryIn.Microseconds(), optional(d.Error), sink, d.Seq)
		return err
	}
	_, err := t.many(insertDelivery, sink, d.Seq, d.Key, d.State, d.Attempts, d.RetryIn.Microseconds(), optional(d.Error))
	return err
}

// mergedNotes keeps when something arrived last, which whoever sends in vain does not know.
func (t *tx) mergedNotes(role string, notes patra.SinkHealth) (string, error) {
	var raw json.RawMessage
	if _, err := t.one(notesOf, []any{role}, jsonInto{&raw}); err != nil {
		return "", err
	}
	if len(raw) > 0 {
		var old patra.SinkHealth
		if err := json.Unmarshal(raw, &old); err != nil {
			return "", err
		}
		if notes.SentAt == nil {
			notes.SentAt = old.SentAt
		}
	}
	return asJSON(notes), nil
}

var (
	allSinks    = stmt{"all_sinks", `SELECT name, lease_owner, leased_until, leased_until >= {now}, position, notes FROM ing_lease WHERE name LIKE 'relay/%' ORDER BY name`}
	sinkWaiting = stmt{"sink_waiting", `SELECT COUNT(*), COALESCE(MAX(attempts), 0), MIN(seq) FROM (SELECT attempts, seq FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = 'WAITING' ORDER BY next_at LIMIT ?) AS few`}
	sinkAside   = stmt{"sink_aside", `SELECT COUNT(*) FROM (SELECT 1 FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = 'ASIDE' LIMIT ?) AS few`}
	sinkError   = stmt{"sink_error", `SELECT next_at, last_error FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = ? AND last_error IS NOT NULL ORDER BY next_at DESC LIMIT 1`}
	// The numbers first: what gets one in between is then counted once, and not not at all.
	behindAll   = stmt{"behind_all", `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ing_outbox WHERE seq IS NULL LIMIT ?) AS fresh), (SELECT COUNT(*) FROM (SELECT 1 FROM ing_outbox WHERE seq > ? LIMIT ?) AS later)`}
	happenedAt  = stmt{"happened_at", `SELECT created_at FROM ing_outbox WHERE seq = ?`}
	firstOfRest = stmt{"first_unnumbered", `SELECT created_at FROM ing_outbox WHERE seq IS NULL ORDER BY id LIMIT 1`}
)

// Sinks tells how all sinks stand that ever had a relay.
func (s *Store) Sinks(ctx context.Context) ([]patra.SinkState, error) {
	t := s.read(ctx)
	all, err := t.sinks()
	for i := range all {
		if err == nil {
			err = t.backlog(&all[i])
		}
		if err == nil {
			all[i].Rewinds, err = t.rewinds(all[i].Name)
		}
	}
	return all, err
}

func (t *tx) sinks() ([]patra.SinkState, error) { return t.sinksBy(allSinks) }

func (t *tx) sinksBy(st stmt, args ...any) ([]patra.SinkState, error) {
	all := []patra.SinkState{}
	err := t.rows(st, func(r *sql.Rows) error {
		var st patra.SinkState
		var raw json.RawMessage
		err := r.Scan(&st.Name, textInto{&st.Owner}, &st.Until, &st.Held, &st.Position, jsonInto{&raw})
		st.Name = strings.TrimPrefix(st.Name, "relay/")
		if err == nil && len(raw) > 0 {
			st.Notes = &patra.SinkHealth{}
			err = json.Unmarshal(raw, st.Notes)
			st.Error = st.Notes.LastError
		}
		st.Held = st.Held && st.Owner != ""
		all = append(all, st)
		return err
	}, args...)
	return all, err
}

// lastComplaint adds what was wrong with the event that a sink refused last.
func (t *tx) lastComplaint(st *patra.SinkState) error {
	var last patra.Instant
	for _, state := range []string{patra.DeliveryWaiting, patra.DeliveryAside} {
		var at patra.Instant
		var said string
		found, err := t.one(sinkError, []any{st.Name, state}, &at, textInto{&said})
		if err != nil {
			return err
		}
		if found && (st.Error == "" || at > last) {
			last, st.Error = at, said
		}
	}
	return nil
}

// rewinds are the last wishes that a sink gets events again, newest first.
func (t *tx) rewinds(sink string) (all []patra.Rewind, err error) {
	err = t.audited(patra.AuditRewind, sink, shownRewinds, func(e patra.AuditEntry) error {
		r := patra.Rewind{At: e.At, By: e.Actor, Reason: e.Reason}
		all = append(all, r)
		return json.Unmarshal(e.Detail, &all[len(all)-1])
	})
	return all, err
}

// shownRewinds is how many of them are told.
const shownRewinds = 5

// backlog adds what a sink has not got. Counting ends somewhere: a sink that was away for a year is far behind, and nobody
// needs to know how far to the last event.
func (t *tx) backlog(st *patra.SinkState) error {
	var oldest *int64
	if _, err := t.one(sinkWaiting, []any{st.Name, mostCounted}, &st.Waiting, &st.Attempts, &oldest); err != nil {
		return err
	}
	if _, err := t.one(sinkAside, []any{st.Name, mostCounted}, &st.Aside); err != nil {
		return err
	}
	if st.Error == "" {
		if err := t.lastComplaint(st); err != nil {
			return err
		}
	}
	var unnumbered, behind int64
	if _, err := t.one(behindAll, []any{mostCounted, st.Position, mostCounted}, &unnumbered, &behind); err != nil {
		return err
	}
	st.Capped = max(st.Waiting, st.Aside, unnumbered, behind) == mostCounted
	st.Lag = unnumbered + behind + st.Waiting
	if oldest == nil && behind > 0 {
		next := st.Position + 1
		oldest = &next
	}
	var at patra.Instant
	var found bool
	var err error
	switch {
	case oldest != nil:
		found, err = t.one(happenedAt, []any{*oldest}, &at)
	case unnumbered > 0:
		found, err = t.one(firstOfRest, nil, &at)
	}
	if found {
		st.Oldest = &at
	}
	return err
}
