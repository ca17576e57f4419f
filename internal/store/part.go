package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"patra"
)

// partAnswer is where the run of a part keeps what it found, until the last part adds everything up.
const partAnswer = "answer"

var selectParts = stmt{"select_parts", `SELECT s.id, s.slice_spec, r.stats
	FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id JOIN ing_task_run r ON r.task_id = t.id AND r.status_code = 'SUCCEEDED'
	WHERE s.cursor_id = ? AND s.status_code = 'SUCCEEDED' AND s.window_to = ? AND s.window_from = ? AND s.plan_id = ?`}

// joinParts covers a window that was cut by ids when its last part closes. The lock of the cursor row comes before the
// look at the others: of two that close at once, the second sees the first.
func (t *tx) joinParts(c *patra.Claim, now patra.Instant, found scanProof) error {
	cursor, err := t.oneCursor(lockCursor, c.Slice.CursorID)
	if err != nil {
		return err
	}
	if cursor == nil {
		return patra.ErrNotFound
	}
	ranges, answers, err := t.otherParts(c)
	if err != nil {
		return err
	}
	if !lastPart(c, ranges) {
		return nil // the window is covered already, or not yet
	}
	a := patra.MergeParts(append([]patra.CoverageEntry{found.answer}, answers...))
	// What lies outside the space of ids was asked for by no part, and only the count of the whole window tells of it.
	if found.whole != nil && patra.AssessCompleteness(a.Trust, found.whole, a.IDsSeen) == patra.StateDisputed {
		if !found.twice { // one wrong count is not enough, also where the last two parts close at the same moment
			return fmt.Errorf("%d ids in the parts of %s, %d in the whole: %w", a.IDsSeen, c.Slice.Window, *found.whole, patra.ErrLookAgain)
		}
		a.State, a.CountAfter = patra.StateDisputed, found.whole
	}
	if a.SealedAt = nil; a.State == patra.StateSealed {
		a.SealedAt = &now
	}
	return t.cover(now, a, *c, c.Slice.ExprHash, found.observed)
}

// lastPart reports whether the part in hand is the one that makes a window whole, beside the ranges of those that are closed.
func lastPart(c *patra.Claim, closed []patra.IDRange) bool {
	own := c.Slice.Spec.Range
	return !own.Of.Tile(closed) && own.Of.Tile(append(closed, own.IDRange))
}

// OtherParts tells how many ids the closed parts of a claim's window have, and whether the claim's is the last that is missing.
func (s *Store) OtherParts(ctx context.Context, c *patra.Claim) (ids int64, last bool, err error) {
	ranges, answers, err := s.read(ctx).otherParts(c)
	for _, a := range answers {
		ids += a.IDsSeen
	}
	return ids, err == nil && lastPart(c, ranges), err
}

// otherParts reads the parts of the same window that are closed, without the one in hand.
func (t *tx) otherParts(c *patra.Claim) (ranges []patra.IDRange, answers []patra.CoverageEntry, err error) {
	own := c.Slice.Spec.Range
	err = t.rows(selectParts, func(r *sql.Rows) error {
		var id int64
		var rawSpec, rawStats json.RawMessage
		if err := r.Scan(&id, jsonInto{&rawSpec}, jsonInto{&rawStats}); err != nil {
			return err
		}
		var spec patra.SliceSpec
		if err := json.Unmarshal(rawSpec, &spec); err != nil {
			return err
		}
		if id == c.Slice.ID || spec.Range == nil || spec.Range.Of != own.Of || spec.Range.Key != own.Key {
			return nil
		}
		var stats map[string]json.RawMessage
		if err := json.Unmarshal(rawStats, &stats); err != nil {
			return err
		}
		var a patra.CoverageEntry
		if err := json.Unmarshal(stats[partAnswer], &a); err != nil {
			return err
		}
		ranges, answers = append(ranges, spec.Range.IDRange), append(answers, a)
		return nil
	}, c.Slice.CursorID, c.Slice.Window.To, c.Slice.Window.From, c.Slice.PlanID)
	return ranges, answers, err
}
