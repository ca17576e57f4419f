package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"patra"
)

var (
	// The last event of a cursor stays: it says why the cursor stands where it stands.
	selectCompactable = stmt{"select_compactable", `SELECT c.id FROM ing_cursor c WHERE c.id > ?
		AND (SELECT COUNT(*) FROM ing_cursor_event e WHERE e.cursor_id = c.id AND e.seq < c.version AND e.created_at < ?) > 1 ORDER BY c.id LIMIT 100`}
	selectOldEvents = stmt{"select_old_events", `SELECT e.* FROM ing_cursor_event e JOIN ing_cursor c ON c.id = e.cursor_id
		WHERE e.cursor_id = ? AND e.seq < c.version AND e.created_at < ? ORDER BY e.seq`}
	selectFirstEvents = stmt{"select_first_events", `SELECT * FROM ing_cursor_event WHERE cursor_id = ? AND seq <= ? ORDER BY seq`}
	compactInto       = stmt{"compact_into", `UPDATE ing_cursor_event SET cause_code = 'COMPACT', prev_value = ?, prev_instant = ?, actor = ?, slice_id = NULL, idempotent_key = ?, record_remarks = ?
		WHERE cursor_id = ? AND seq = ?`}
	deleteEvents    = stmt{"delete_events", `DELETE FROM ing_cursor_event WHERE cursor_id = ? AND seq < ?`}
	deleteCompact   = stmt{"delete_compact", `DELETE FROM ing_cursor_event WHERE cursor_id = ? AND seq = ? AND cause_code = 'COMPACT'`}
	selectCompact   = stmt{"select_compact", `SELECT seq, record_remarks FROM ing_cursor_event WHERE cursor_id = ? AND cause_code = 'COMPACT'`}
	lockCursorEvent = stmt{"lock_cursor_for_events", `UPDATE ing_cursor SET version = version WHERE id = ? AND version > ?`}
)

// Compactable lists cursors after one that have more than one event from before a moment.
func (s *Store) Compactable(ctx context.Context, after int64, before patra.Instant) (all []int64, err error) {
	err = s.read(ctx).rows(selectCompactable, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		all = append(all, id)
		return err
	}, after, before)
	return all, err
}

// EventRows hands over the events of a cursor from before a moment, all but the last one.
func (s *Store) EventRows(ctx context.Context, cursorID int64, before patra.Instant, use func(patra.ArchiveRow) error) error {
	return s.read(ctx).eventRows(selectOldEvents, use, cursorID, before)
}

func (t *tx) eventRows(st stmt, use func(patra.ArchiveRow) error, args ...any) error {
	return t.rows(st, func(r *sql.Rows) error {
		row, err := readRow(r)
		if err != nil {
			return err
		}
		return use(patra.ArchiveRow{Table: eventTable, Values: row})
	}, args...)
}

const eventTable = "ing_cursor_event"

// Compact puts one event in the place of the first ones of a cursor, once they are durable elsewhere. The chain stays
// whole: it begins at the origin and leads where they led.
func (s *Store) Compact(ctx context.Context, e patra.CompactedEvents, actor string, sum func(each func(use func(patra.ArchiveRow) error) error) (string, error)) error {
	return s.write(ctx, "compact", func(t *tx) error {
		if n, err := t.exec(lockCursorEvent, e.CursorID, e.Through); err != nil || n != 1 {
			return cmp.Or(err, patra.ErrIllegalMove)
		}
		var first patra.ArchiveRow
		is, err := sum(func(use func(patra.ArchiveRow) error) error {
			return t.eventRows(selectFirstEvents, func(row patra.ArchiveRow) error {
				if first.Values == nil {
					first = row
				}
				return use(row)
			}, e.CursorID, e.Through)
		})
		if err != nil {
			return err
		}
		if is != e.RowsSHA256 {
			return patra.ErrChanged
		}
		if _, err := t.exec(deleteEvents, e.CursorID, e.Through); err != nil {
			return err
		}
		key := patra.Hash([]any{"COMPACT", e.CursorID, e.Through, e.RowsSHA256})
		_, err = t.exec(compactInto, first.Values["prev_value"], first.Values["prev_instant"], actor, key, asJSON(e), e.CursorID, e.Through)
		return err
	}, func(t *tx) (bool, error) {
		found, err := t.compacted(e.CursorID)
		return found != nil && found.Location == e.Location, err
	})
}

// Compacted is what the first event of a cursor stands for; nil if for itself only.
func (s *Store) Compacted(ctx context.Context, cursorID int64) (*patra.CompactedEvents, error) {
	return s.read(ctx).compacted(cursorID)
}

func (t *tx) compacted(cursorID int64) (*patra.CompactedEvents, error) {
	var e patra.CompactedEvents
	var said json.RawMessage
	found, err := t.one(selectCompact, []any{cursorID}, &e.Through, jsonInto{&said})
	if err != nil || !found {
		return nil, err
	}
	return &e, json.Unmarshal(said, &e)
}

// RestoreEvents puts the events back for which one stands.
func (s *Store) RestoreEvents(ctx context.Context, e patra.CompactedEvents, rows []patra.ArchiveRow) error {
	return s.write(ctx, "restore events", func(t *tx) error {
		n, err := t.exec(deleteCompact, e.CursorID, e.Through)
		if err != nil || n != 1 {
			return cmp.Or(err, patra.ErrNotFound)
		}
		for _, row := range rows {
			if row.Table != eventTable {
				return errors.New("these are no events")
			}
			if err := t.putBack(row); err != nil {
				return err
			}
		}
		return nil
	}, func(t *tx) (bool, error) {
		found, err := t.compacted(e.CursorID)
		return found == nil || found.Location != e.Location, err
	})
}
