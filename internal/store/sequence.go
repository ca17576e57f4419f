package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"patra"
)

// Row ids become visible out of order: a transaction that took an id early may commit late, and some engines hand ids out
// in ranges. Whoever reads "everything above the last id" loses events. So ids mean nothing here. A committed event gets a
// number in a transaction of its own, under the lock of one row: when a number can be read, so can all below it.
const (
	outboxRole  = "outbox" // its position is the last number that was given
	numberBatch = 500      // how many events get their numbers in one transaction

	numbersAtOnce = 50 // and in one statement
)

var (
	insertRole    = stmt{"insert_role", `INSERT INTO ing_lease (name, lease_count, leased_until, position, notes, created_at) VALUES (?, 0, 0, ?, ?, {now})`}
	lockRole      = stmt{"lock_role", `SELECT position, notes FROM ing_lease WHERE name = ? {lock}`}
	selectRole    = stmt{"select_role", `SELECT position, notes FROM ing_lease WHERE name = ?`}
	moveOutbox    = stmt{"move_outbox", `UPDATE ing_lease SET position = ? WHERE name = 'outbox'`}
	unnumbered    = stmt{"unnumbered", `SELECT id, COALESCE(record_id, 0), rev FROM ing_outbox WHERE seq IS NULL ORDER BY id LIMIT ?`}
	anyUnnumbered = stmt{"any_unnumbered", `SELECT id FROM ing_outbox WHERE seq IS NULL LIMIT 1`}
)

// outboxNotes is what is kept with the numbers.
type outboxNotes struct {
	Instance string `json:"instance"`
}

// StoreID is the name of this store among others, made when it is first asked for. Events carry it.
func (s *Store) StoreID(ctx context.Context) (name string, err error) {
	name, found, err := s.instanceOf(s.read(ctx))
	if err != nil || found {
		return name, err
	}
	if err := s.ensureRole(ctx, outboxRole, 0, asJSON(outboxNotes{strings.ToLower(NewOwner()[:12])})); err != nil {
		return "", err
	}
	name, _, err = s.instanceOf(s.read(ctx))
	return name, err
}

func (s *Store) instanceOf(t *tx) (string, bool, error) {
	var position int64
	var raw json.RawMessage
	found, err := t.one(selectRole, []any{outboxRole}, &position, jsonInto{&raw})
	if err != nil || !found {
		return "", false, err
	}
	var n outboxNotes
	err = json.Unmarshal(raw, &n)
	return n.Instance, true, err
}

// ensureRole makes the row of a role, unless it is there.
func (s *Store) ensureRole(ctx context.Context, name string, position int64, notes any) error {
	return s.write(ctx, "make role", func(t *tx) error {
		_, err := t.exec(insertRole, name, position, notes)
		if s.dialect.duplicate(err) {
			return nil
		}
		return err
	})
}

// event is one that gets its number.
type unnumberedEvent struct{ id, recordID, rev int64 }

// AssignSequence gives committed events their numbers and tells how many, and which number was the last. It does so for a few
// hundred at a time.
func (s *Store) AssignSequence(ctx context.Context) (n int, last int64, err error) {
	if _, err := s.StoreID(ctx); err != nil { // sees to the row
		return 0, 0, err
	}
	// Nothing to do is the usual answer, and needs no lock.
	if ids, err := s.read(ctx).ids(anyUnnumbered); err != nil || len(ids) == 0 {
		_, err2 := s.read(ctx).one(selectRole, []any{outboxRole}, &last, jsonInto{new(json.RawMessage)})
		return 0, last, firstOf(err, err2)
	}
	err = s.write(ctx, "number events", func(t *tx) error {
		n = 0
		if _, err := t.one(lockRole, []any{outboxRole}, &last, jsonInto{new(json.RawMessage)}); err != nil {
			return err
		}
		events, err := t.unnumbered()
		if err != nil || len(events) == 0 {
			return err
		}
		for part := range slices.Chunk(events, numbersAtOnce) {
			if err := t.number(part, last+int64(n)); err != nil {
				return err
			}
			n += len(part)
		}
		last += int64(n)
		_, err = t.exec(moveOutbox, last)
		return err
	})
	return n, last, err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unnumbered reads some events without a number. Of a record with several versions it reads all that have none, so that no
// version gets its number before an older one, whatever the ids say: a version is committed after the one before it.
func (t *tx) unnumbered() ([]unnumberedEvent, error) {
	events, err := t.outboxRows(unnumbered, numberBatch)
	if err != nil {
		return nil, err
	}
	var args []any
	for _, e := range events {
		if e.rev > 1 && !slices.Contains(args, any(e.recordID)) {
			args = append(args, e.recordID)
		}
	}
	if len(args) == 0 {
		return events, nil
	}
	siblings, err := t.outboxRows(stmt{"unnumbered_of", `SELECT id, record_id, rev FROM ing_outbox WHERE record_id IN (` + marks(len(args)) + `) AND seq IS NULL ORDER BY record_id, rev`}, args...)
	if err != nil {
		return nil, err
	}
	return inOrder(events, siblings), nil
}

// inOrder adds siblings that are not among the events, and puts the versions of each record into their order. The places
// that a record has stay its own, so that everything else keeps the order of its ids.
func inOrder(events, siblings []unnumberedEvent) []unnumberedEvent {
	have := map[int64]bool{}
	for _, e := range events {
		have[e.id] = true
	}
	ofRecord := map[int64][]unnumberedEvent{}
	for _, e := range siblings {
		ofRecord[e.recordID] = append(ofRecord[e.recordID], e)
		if !have[e.id] {
			events = append(events, e)
		}
	}
	for i, e := range events {
		if versions := ofRecord[e.recordID]; e.recordID != 0 && len(versions) > 0 {
			events[i], ofRecord[e.recordID] = versions[0], versions[1:]
		}
	}
	return events
}

func (t *tx) outboxRows(st stmt, args ...any) (all []unnumberedEvent, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var e unnumberedEvent
		err := r.Scan(&e.id, &e.recordID, &e.rev)
		all = append(all, e)
		return err
	}, args...)
	return all, err
}

// number gives events the numbers after last, many with one statement.
func (t *tx) number(events []unnumberedEvent, last int64) error {
	var args, ids []any
	for i, e := range events {
		args, ids = append(args, e.id, last+int64(i)+1), append(ids, e.id)
	}
	text := `UPDATE {orfail} ing_outbox SET seq = CASE id ` + strings.Repeat("WHEN ? THEN ? ", len(events)) + `END WHERE seq IS NULL AND id IN (` + marks(len(events)) + `)`
	n, err := t.exec(stmt{"number_events", text}, append(args, ids...)...)
	if err == nil && n != int64(len(events)) {
		err = patra.ErrIllegalMove
	}
	return err
}
