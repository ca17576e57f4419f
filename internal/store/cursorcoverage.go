package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"patra"
)

var (
	uncutPlans = stmt{"uncut_plans", `SELECT id, status_code, window_from, window_to, reason_code, created_at FROM ing_plan WHERE cursor_id = ? AND window_to > ? AND status_code IN ('DRAFT', 'SLICING', 'PARTIAL', 'FAILED')`}
	unsealed   = stmt{"unsealed", `SELECT window_to FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND state_code <> 'SEALED' ORDER BY window_to LIMIT 1`}
)

// CursorCoverage reads all that is known of the time that a cursor answers for.
func (s *Store) CursorCoverage(ctx context.Context, c patra.Cursor, now patra.Instant) (f patra.CursorCoverage, err error) {
	span, planned, err := s.CoverableWindow(ctx, c, now)
	if err != nil {
		return f, err
	}
	return s.cursorCoverage(ctx, c, span, planned)
}

// OpenCoverage is CursorCoverage from the first moment on at which anything can be missing, waived, in dispute or not proved: a cursor whose
// years are all sealed costs as much as one with a day.
func (s *Store) OpenCoverage(ctx context.Context, c patra.Cursor, now patra.Instant) (f patra.CursorCoverage, err error) {
	span, planned, err := s.CoverableWindow(ctx, c, now)
	if err != nil {
		return f, err
	}
	if span.From >= c.Origin { // before the origin nothing is promised, so that nothing says how far it is read
		from, err := s.read(ctx).openFrom(c)
		if err != nil {
			return f, err
		}
		span.From = max(span.From, from)
	}
	return s.cursorCoverage(ctx, c, span, planned)
}

// openFrom is where the first thing can lie that is not read and sealed. Before a watermark everything is read or waived; before the
// moment through which it is complete everything is sealed.
func (t *tx) openFrom(c patra.Cursor) (patra.Instant, error) {
	var to patra.Instant
	if c.SealedThrough >= c.Value {
		return c.SealedThrough, nil
	}
	doubted, err := t.one(unsealed, []any{c.ID, c.SealedThrough}, &to)
	if err != nil || doubted {
		return c.SealedThrough, err
	}
	from := c.Value
	waived, err := t.windows(selectWaivers, c.ID, c.SealedThrough)
	for _, w := range waived {
		from = min(from, w.From)
	}
	return max(from, c.SealedThrough), err
}

// cursorCoverage needs no transaction, because of its order: what ended is read before what is live, and that before what is covered, so
// that a slice that closes in between is not missing.
func (s *Store) cursorCoverage(ctx context.Context, c patra.Cursor, span patra.Window, planned patra.Instant) (f patra.CursorCoverage, err error) {
	t := s.read(ctx)
	f.Cursor, f.Span, f.Planned = c, span, planned
	if f.Plans, err = t.uncutPlans(c.ID, span.From); err != nil {
		return f, err
	}
	if f.Ended, err = t.unanswered(c.ID, span); err != nil {
		return f, err
	}
	if f.Live, err = t.live(c.ID); err != nil {
		return f, err
	}
	if f.Answers, err = t.mapEntries(answersOf, c.ID, span.From, topmost, topmost); err != nil {
		return f, err
	}
	if err := t.explain(f.Answers); err != nil {
		return f, err
	}
	if err := t.acceptRead(c.Source, &f.CoverageFacts); err != nil {
		return f, err
	}
	waivers, err := t.waivers(c.ID)
	for _, w := range waivers {
		if w.RevokedAt == nil {
			f.Waivers = append(f.Waivers, w)
		}
	}
	return f, err
}

// UncutPlans are the plans of a cursor that reach behind a moment and are not cut to their end, or could not be cut; newest first.
func (s *Store) UncutPlans(ctx context.Context, cursorID int64, from patra.Instant) ([]patra.Plan, error) {
	return s.read(ctx).uncutPlans(cursorID, from)
}

func (t *tx) uncutPlans(cursorID int64, from patra.Instant) (all []patra.Plan, err error) {
	err = t.rows(uncutPlans, func(r *sql.Rows) error {
		var p patra.Plan
		err := r.Scan(&p.ID, &p.Status, &p.Window.From, &p.Window.To, textInto{&p.Reason}, &p.CreatedAt)
		all = append(all, p)
		return err
	}, cursorID, from)
	slices.SortFunc(all, func(a, b patra.Plan) int { return cmp.Compare(b.ID, a.ID) })
	return all, err
}
