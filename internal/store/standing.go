package store

import (
	"database/sql"

	"patra"
)

// coverageSource is the coverage of one cursor as far as somebody has to look at it.
type coverageSource interface {
	// after gives windows that end after a moment, in the order of their ends: the next few of them.
	after(at patra.Instant) ([]patra.Window, error)
	// across is the latest end of all windows that lie across a moment; nil if there is none.
	across(at patra.Instant) (*patra.Instant, error)
	// about gives what speaks of any moment of a stretch of time.
	about(w patra.Window) ([]patra.CoverageEntry, error)
}

// nextWatermark is where a cursor is after one more answer: its watermark, and how far it is complete. It is what Frontier
// and Paint make of all answers since the origin. But an answer that does not lie at the cursor's edge changes nothing,
// and then nothing is read: else a campaign that closes its newest slices first would read all of them with each.
func nextWatermark(c patra.Cursor, a patra.CoverageEntry, waived patra.Coverage, all coverageSource) (value, sealed patra.Instant, err error) {
	value, sealed = c.Value, c.SealedThrough
	if a.Window.Contains(value) || len(waived) > 0 {
		if value, err = contiguousEnd(value, waived, all); err != nil {
			return value, sealed, err
		}
	}
	// What was read before the origin, because somebody insisted, is no part of the promise.
	a.Window.From = max(a.Window.From, c.Origin)
	joins := a.State == patra.StateSealed && a.Window.Contains(sealed)
	breaks := a.State != patra.StateSealed && a.Window.From < sealed
	if !joins && !breaks {
		return value, sealed, nil
	}
	// What is sealed is covered: completeness never goes beyond the watermark.
	spoken, err := all.about(patra.Window{From: min(sealed, a.Window.From), To: value})
	if err != nil {
		return value, sealed, err
	}
	return value, patra.SealedFrontier(sealed, a, spoken), nil
}

// contiguousEnd is how far answers and waivers together go from a moment on without a hole.
func contiguousEnd(from patra.Instant, waived patra.Coverage, all coverageSource) (patra.Instant, error) {
	for {
		answered, err := reachOf(from, all)
		if err != nil {
			return answered, err
		}
		if from = waived.Frontier(answered); from == answered {
			return from, nil
		}
	}
}

// reachOf is how far answers alone go. In the order of their ends one window leads to the next; a hole is one only if no
// longer window lies across it.
func reachOf(from patra.Instant, all coverageSource) (patra.Instant, error) {
	for {
		next, err := all.after(from)
		if err != nil || len(next) == 0 {
			return from, err
		}
		for _, w := range next {
			if w.From > from {
				end, err := all.across(from)
				if err != nil || end == nil {
					return from, err
				}
				from = *end
				break
			}
			from = w.To
		}
	}
}

// atOnce is how many windows are read together: more than most moves of a watermark pass, and little to read in vain.
const atOnce = 64

var (
	coveredAfter = stmt{"covered_after", `SELECT window_from, window_to FROM ing_coverage WHERE cursor_id = ? AND window_to > ? ORDER BY window_to, window_from LIMIT ?`}
	bridge       = stmt{"bridge", `SELECT MAX(window_to) FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND window_from <= ?`}
	spokenFor    = stmt{"spoken_for", `SELECT id, window_from, window_to, state_code, closed_at FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND window_from < ?`}
)

// coverageReader reads the coverage of one cursor within a transaction that has its lock.
type coverageReader struct {
	t        *tx
	cursorID int64
}

func (b coverageReader) after(at patra.Instant) ([]patra.Window, error) {
	return b.t.windows(coveredAfter, b.cursorID, at, atOnce)
}

func (b coverageReader) across(at patra.Instant) (end *patra.Instant, err error) {
	_, err = b.t.one(bridge, []any{b.cursorID, at, at}, &end)
	return end, err
}

func (b coverageReader) about(w patra.Window) (all []patra.CoverageEntry, err error) {
	err = b.t.rows(spokenFor, func(r *sql.Rows) error {
		var a patra.CoverageEntry
		err := r.Scan(&a.ID, &a.Window.From, &a.Window.To, &a.State, &a.ClosedAt)
		all = append(all, a)
		return err
	}, b.cursorID, w.From, w.To)
	return all, err
}
