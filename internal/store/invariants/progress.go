package invariants

import (
	"database/sql"

	"patra"
)

// progress is what is promised of watermarks and of what they stand for.
var progress = []Invariant{
	{Text: "no watermark stands beyond what is covered", Next: reread, look: beyond},
	{Text: "a watermark stands where the coverage ends, unless a person moved it back", Next: report, Verdict: patra.VerdictWarn, look: behind},
	{Text: "whatever is complete is sealed", Next: reread, look: unsealed},
	{Text: "cursor events form one chain from the origin to the value", Next: redeem, look: none("cursor event", `SELECT e.id FROM ing_cursor_event e JOIN ing_cursor c ON c.id = e.cursor_id
		WHERE (e.new_instant <= e.prev_instant AND e.cause_code NOT IN ('REWIND', 'COMPACT'))
		   OR ((e.seq = 1 OR e.cause_code = 'COMPACT') AND e.prev_instant <> c.origin_instant)
		   OR (e.cause_code = 'COMPACT' AND EXISTS (SELECT 1 FROM ing_cursor_event p WHERE p.cursor_id = e.cursor_id AND p.seq < e.seq))
		   OR (e.seq > 1 AND e.cause_code <> 'COMPACT' AND NOT EXISTS (SELECT 1 FROM ing_cursor_event p WHERE p.cursor_id = e.cursor_id AND p.seq = e.seq - 1 AND p.new_instant = e.prev_instant))
		   OR (e.seq = c.version AND e.new_instant <> c.normalized_instant) OR e.seq > c.version`)},
	{Text: "a cursor's version counts its events", Next: redeem, look: none("cursor", `SELECT c.id FROM ing_cursor c WHERE c.version <> (SELECT COUNT(*) + COALESCE(MIN(e.seq), 1) - 1 FROM ing_cursor_event e WHERE e.cursor_id = c.id)`)},
	{Text: "a cursor is moved by slices of its own plans, or by a person who is named", Next: redeem, look: none("cursor event", `SELECT e.id FROM ing_cursor_event e
		LEFT JOIN ing_plan_slice s ON s.id = e.slice_id LEFT JOIN ing_plan p ON p.id = s.plan_id
		WHERE (e.slice_id IS NULL AND e.actor IS NULL) OR (e.slice_id IS NOT NULL AND (COALESCE(s.cursor_id, 0) <> e.cursor_id OR COALESCE(p.cursor_id, 0) <> e.cursor_id))`)},
	{Text: "an answer is about the time of its slice, in its cursor", Next: redeem, look: none("answer", `SELECT v.id FROM ing_coverage v LEFT JOIN ing_plan_slice s ON s.id = v.slice_id
		WHERE s.id IS NULL OR v.cursor_id <> s.cursor_id OR (v.kind_code <> 'CONFIRMED' AND (v.window_from <> s.window_from OR v.window_to <> s.window_to))`)},
	{Text: "an exact count that differs is a dispute, unless a person accepted it with a reason", Next: report, look: none("answer", `SELECT id FROM ing_coverage
		WHERE kind_code = 'SCAN' AND state_code = 'SEALED' AND total_code = 'EXACT' AND count_after <> ids_seen AND record_remarks IS NULL AND proof IS NULL`)},
	{Text: "a sealed window names the witness that proved it, unless a person or an older version sealed it", Next: report, look: none("answer", `SELECT id FROM ing_coverage
		WHERE state_code = 'SEALED' AND record_remarks IS NULL AND proof IS NOT NULL AND COALESCE(JSON_EXTRACT(proof, '$.witness'), 'NONE') IN ('NONE', '"NONE"', '""')`)},
	{Text: "what a planner would read is what people are told is missing", Next: report, look: unlisted},
}

// cursor is a watermark with all that it must agree with.
type cursor struct {
	id                    int64
	origin, value, sealed patra.Instant
	rewound               bool
}

func (l *checkRun) cursors() (all []cursor, err error) {
	err = l.each(`SELECT c.id, c.origin_instant, c.normalized_instant, c.sealed_instant, COALESCE((SELECT e.cause_code FROM ing_cursor_event e WHERE e.cursor_id = c.id AND e.seq = c.version), '')
		FROM ing_cursor c ORDER BY c.id`, func(r *sql.Rows) error {
		var c cursor
		var cause string
		err := r.Scan(&c.id, &c.origin, &c.value, &c.sealed, &cause)
		c.rewound = cause == "REWIND"
		all = append(all, c)
		return err
	})
	return all, err
}

// covered gives the windows of a cursor that are read or waived, in the order of their beginnings.
func (l *checkRun) covered(cursorID int64, use func(patra.Window)) error {
	return l.each(`SELECT window_from, window_to FROM ing_coverage WHERE cursor_id = ?
		UNION ALL SELECT window_from, window_to FROM ing_gap_waiver WHERE cursor_id = ? AND revoked_at IS NULL ORDER BY 1, 2`, func(r *sql.Rows) error {
		var w patra.Window
		err := r.Scan(&w.From, &w.To)
		use(w)
		return err
	}, cursorID, cursorID)
}

// frontiers walks over the coverage of every cursor once and compares where it ends.
func (l *checkRun) frontiers(compare func(c cursor, reach patra.Instant)) error {
	all, err := l.cursors()
	if err != nil {
		return err
	}
	for _, c := range all {
		reach := c.origin
		if err := l.covered(c.id, func(w patra.Window) {
			if w.From <= reach {
				reach = max(reach, w.To)
			}
		}); err != nil {
			return err
		}
		compare(c, reach)
	}
	return nil
}

func beyond(l *checkRun) error {
	return l.frontiers(func(c cursor, reach patra.Instant) {
		if c.value > reach {
			l.found("cursor %d stands at %s, but the coverage ends at %s", c.id, c.value, reach)
		}
	})
}

func behind(l *checkRun) error {
	return l.frontiers(func(c cursor, reach patra.Instant) {
		if c.value < reach && !c.rewound {
			l.found("cursor %d stands at %s, but the coverage reaches to %s", c.id, c.value, reach)
		}
	})
}

// unsealed paints the answers of a cursor one over the other, oldest first, and looks how far the sealed ones go.
func unsealed(l *checkRun) error {
	all, err := l.cursors()
	if err != nil {
		return err
	}
	for _, c := range all {
		var sealed patra.Coverage
		err := l.each(`SELECT window_from, window_to, state_code FROM ing_coverage WHERE cursor_id = ? AND window_from < ? ORDER BY closed_at, id`, func(r *sql.Rows) error {
			var w patra.Window
			var state string
			if err := r.Scan(&w.From, &w.To, &state); err != nil {
				return err
			}
			if state == "SEALED" {
				sealed = sealed.Union(patra.Coverage{w})
			} else {
				sealed = sealed.Minus(patra.Coverage{w})
			}
			return nil
		}, c.id, c.sealed)
		if err != nil {
			return err
		}
		if left := (patra.Coverage{{From: c.origin, To: c.sealed}}).Minus(sealed); c.sealed > c.value || (c.sealed > c.origin && len(left) > 0) {
			l.found("cursor %d is said to be complete through %s, but its watermark is %s and %v is not sealed", c.id, c.sealed, c.value, left)
		}
	}
	return nil
}

// unlisted adds up by itself what nobody has read and nobody is at work on, and compares it with the list of gaps.
func unlisted(l *checkRun) error {
	if l.opt.Gaps == nil {
		return nil
	}
	all, err := l.cursors()
	if err != nil {
		return err
	}
	for _, c := range all {
		until, done := c.origin, []patra.Window(nil)
		if err := l.each(`SELECT COALESCE(MAX(window_to), 0) FROM ing_plan WHERE cursor_id = ? AND window_to > window_from`, func(r *sql.Rows) error { return r.Scan(&until) }, c.id); err != nil {
			return err
		}
		if err := l.covered(c.id, func(w patra.Window) { done = join(done, w) }); err != nil {
			return err
		}
		live, err := l.live(c.id)
		if err != nil {
			return err
		}
		told, err := l.opt.Gaps(l.ctx, c.id, until)
		if err != nil {
			return err
		}
		missing := (patra.Coverage{{From: c.origin, To: max(until, c.origin)}}).Minus(done).Minus(live)
		if unsaid := missing.Minus(patra.NewCoverage(told...)); len(unsaid) > 0 {
			l.found("cursor %d: nobody is told that %v is missing", c.id, unsaid)
		}
		if invented := patra.NewCoverage(told...).Minus(missing); len(invented) > 0 {
			l.found("cursor %d: %v is said to be missing and is not", c.id, invented)
		}
	}
	return nil
}

// join adds a window that begins at or after all others.
func join(done []patra.Window, w patra.Window) []patra.Window {
	if n := len(done); n > 0 && w.From <= done[n-1].To {
		done[n-1].To = max(done[n-1].To, w.To)
		return done
	}
	return append(done, w)
}

// live is what of a cursor is queued, running or about to be cut.
func (l *checkRun) live(cursorID int64) (patra.Coverage, error) {
	var all, confirmed []patra.Window
	err := l.each(`SELECT window_from, window_to, COALESCE(confirmed_from, window_from), COALESCE(confirmed_to, window_from) FROM ing_plan_slice
		WHERE cursor_id = ? AND status_code IN ('READY', 'PARTIAL')`, func(r *sql.Rows) error {
		var w, c patra.Window
		err := r.Scan(&w.From, &w.To, &c.From, &c.To)
		all, confirmed = append(all, w), append(confirmed, c)
		return err
	}, cursorID)
	var live []patra.Window
	for i, w := range all {
		live = append(live, patra.Window{From: w.From, To: max(w.From, min(w.To, confirmed[i].From))}, patra.Window{From: max(w.From, min(w.To, confirmed[i].To)), To: w.To})
	}
	return patra.NewCoverage(live...), err
}
