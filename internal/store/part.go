package store

import (
	"cmp"
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
	if a.State == patra.StateSealed && !found.last { // nobody has looked for what lies outside of the parts
		return fmt.Errorf("the parts of %s are read: %w", c.Slice.Window, patra.ErrLookAgain)
	}
	a.State, a.Proof = patra.JudgeParts(a.State, found.rest, cmp.Or(found.answer.Proof, &patra.WindowProof{}))
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

// IsLastPart reports whether the part of a claim is the last of its window that is not closed.
func (s *Store) IsLastPart(ctx context.Context, c *patra.Claim) (bool, error) {
	ranges, _, err := s.read(ctx).otherParts(c)
	return err == nil && lastPart(c, ranges), err
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
