package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"patra"
)

const waiverColumns = `id, cursor_id, window_from, window_to, reason, approved_by, created_at, revoked_at`

var (
	selectUnanswered = stmt{"select_unanswered", `SELECT s.id, t.id, s.window_from, s.window_to, s.status_code, s.reslice IS NOT NULL, t.last_error FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id
		WHERE s.cursor_id = ? AND s.status_code IN ('FAILED', 'CANCELLED') AND s.window_from IS NOT NULL AND s.window_to > ? AND s.window_from < ?`}
	listWaivers = stmt{"list_waivers", `SELECT ` + waiverColumns + ` FROM ing_gap_waiver WHERE cursor_id = ? ORDER BY window_from, id`}
	allWaivers  = stmt{"all_waivers", `SELECT ` + waiverColumns + ` FROM ing_gap_waiver WHERE id < ? ORDER BY id DESC LIMIT ?`}
)

// Gaps lists what is missing or in dispute of a stretch of a cursor's time. It needs no transaction, because of its order:
// what is live is read before what is covered, so that a slice that closes in between is not missing.
func (s *Store) Gaps(ctx context.Context, cursorID int64, span patra.Window) ([]patra.Gap, error) {
	return s.read(ctx).gaps(cursorID, span)
}

func (t *tx) gaps(cursorID int64, span patra.Window) (all []patra.Gap, err error) {
	var e patra.CoverageFacts
	if e.Ended, err = t.unanswered(cursorID, span); err != nil {
		return nil, err
	}
	if e.Live, err = t.live(cursorID); err != nil {
		return nil, err
	}
	if e.Answers, err = t.answers(cursorID, span.From); err != nil {
		return nil, err
	}
	waivers, err := t.waivers(cursorID)
	if err != nil {
		return nil, err
	}
	for _, w := range waivers {
		if w.RevokedAt == nil {
			e.Waivers = append(e.Waivers, w)
		}
	}
	c, err := t.oneCursor(cursorByID, cursorID)
	if err == nil && c != nil {
		err = t.acceptRead(c.Source, &e)
	}
	if err != nil {
		return nil, err
	}
	all = patra.Gaps(span, e)
	for i := range all {
		all[i].CursorID = cursorID
	}
	return all, nil
}

// missing is what of the time between a cursor's origin and a moment nobody has read and nobody has signed off.
func (t *tx) missing(cursorID int64, until patra.Instant) (ws []patra.Window, err error) {
	c, err := t.oneCursor(cursorByID, cursorID)
	if err != nil || c == nil {
		return nil, err
	}
	gaps, err := t.gaps(cursorID, patra.Window{From: c.Origin, To: max(until, c.Origin)})
	for _, g := range gaps {
		if g.Unread() {
			ws = append(ws, g.Window)
		}
	}
	return ws, err
}

// unanswered are the slices of a stretch that ended without an answer.
func (t *tx) unanswered(cursorID int64, span patra.Window) ([]patra.UnfinishedSlice, error) {
	return t.ended(selectUnanswered, cursorID, span.From, span.To)
}

func (t *tx) ended(st stmt, args ...any) (all []patra.UnfinishedSlice, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var s patra.UnfinishedSlice
		var raw json.RawMessage
		if err := r.Scan(&s.SliceID, &s.TaskID, &s.Window.From, &s.Window.To, &s.Status, &s.Early, jsonInto{&raw}); err != nil {
			return err
		}
		if len(raw) > 0 {
			s.Fault = &patra.Fault{}
			if err := json.Unmarshal(raw, s.Fault); err != nil {
				return err
			}
		}
		all = append(all, s)
		return nil
	}, args...)
	return all, err
}

// Waivers lists what was signed off as missing, also what was revoked.
func (s *Store) Waivers(ctx context.Context, cursorID int64) ([]patra.Waiver, error) {
	return s.read(ctx).waivers(cursorID)
}

// AllWaivers lists what was signed off as missing of all cursors, newest first.
func (s *Store) AllWaivers(ctx context.Context, before int64, limit int) ([]patra.Waiver, error) {
	if before == 0 {
		before = topmost
	}
	return s.read(ctx).waiversBy(allWaivers, before, limit)
}

func (t *tx) waivers(cursorID int64) ([]patra.Waiver, error) {
	return t.waiversBy(listWaivers, cursorID)
}

func (t *tx) waiversBy(st stmt, args ...any) (all []patra.Waiver, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var w patra.Waiver
		err := r.Scan(&w.ID, &w.CursorID, &w.Window.From, &w.Window.To, textInto{&w.Reason}, textInto{&w.By}, &w.At, &w.RevokedAt)
		all = append(all, w)
		return err
	}, args...)
	return all, err
}

// CoverageIn is the time of a cursor that was read and is in one of some states.
func (s *Store) CoverageIn(ctx context.Context, cursorID int64, states ...patra.Completeness) (all patra.Coverage, err error) {
	answers, err := s.CoverageEntries(ctx, cursorID)
	by := patra.CoverageByState(answers)
	for _, state := range states {
		all = all.Union(by[state])
	}
	return all, err
}
