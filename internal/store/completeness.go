package store

import (
	"context"
	"database/sql"

	"patra"
)

var selectCompleteness = stmt{"select_completeness", `SELECT cursor_id, slice_id, from_us, to_us, state_code, counted, seen, {stored}, quarantined, known_missing
	FROM v_completeness WHERE cursor_id = ? ORDER BY from_us, to_us, slice_id`}

// Completeness reads the ledger of one cursor: what is planned and what is closed, in the order of time.
func (s *Store) Completeness(ctx context.Context, cursorID int64) (all []patra.CompletenessRow, err error) {
	err = s.read(ctx).rows(selectCompleteness, func(r *sql.Rows) error {
		var l patra.CompletenessRow
		err := r.Scan(&l.CursorID, &l.SliceID, &l.Window.From, &l.Window.To, &l.State, &l.Counted, &l.Seen, &l.Stored, &l.Quarantined, &l.KnownMissing)
		all = append(all, l)
		return err
	}, cursorID)
	return all, err
}
