package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"patra"
)

var (
	selectShown  = stmt{"select_shown", `SELECT shown FROM ing_plan_slice WHERE id = ?`}
	writeShown   = stmt{"write_shown", `UPDATE ing_plan_slice SET shown = ? WHERE id = ?`}
	sealedOfPlan = stmt{"sealed_of_plan", `SELECT c.id FROM ing_coverage c JOIN ing_plan_slice s ON s.id = c.slice_id WHERE c.cursor_id = ? AND s.plan_id = ? AND s.id <> ? AND c.state_code = 'SEALED' ORDER BY c.id`}
	cursorOfPlan = stmt{"cursor_of_plan", `SELECT COALESCE(cursor_id, 0), window_from FROM ing_plan WHERE id = ?`}
	noteAnswer   = stmt{"note_answer", `UPDATE ing_coverage SET record_remarks = ? WHERE slice_id = ? AND window_from = ? AND window_to = ?`}
)

// Shown is what a provider has shown of the window of a slice, before it was read and since.
func (s *Store) Shown(ctx context.Context, sliceID int64) (patra.ShownIDs, error) {
	return s.read(ctx).shown(sliceID)
}

func (t *tx) shown(sliceID int64) (shown patra.ShownIDs, err error) {
	var raw json.RawMessage
	if _, err := t.one(selectShown, []any{sliceID}, jsonInto{&raw}); err != nil || len(raw) == 0 {
		return nil, err
	}
	err = json.Unmarshal(raw, &shown)
	return shown, err
}

// keepShown writes what a provider has shown of a slice's window.
func (t *tx) keepShown(sliceID int64, shown patra.ShownIDs) error {
	if len(shown) == 0 {
		return nil
	}
	_, err := t.exec(writeShown, asJSON(shown), sliceID)
	return err
}

// MissingShown are the ids that a provider has shown of the window of a claim, and that a finished scan should have found and
// did not.
func (s *Store) MissingShown(ctx context.Context, c *patra.Claim, scanNo int64) (patra.ShownIDs, error) {
	return s.read(ctx).missingShown(c, c.Slice.Window, scanNo)
}

func (t *tx) missingShown(c *patra.Claim, w patra.Window, scanNo int64) (patra.ShownIDs, error) {
	if c.Slice.IsPart() || c.Slice.Spec.Window == nil {
		return nil, nil
	}
	shown, err := t.shown(c.Slice.ID)
	if err != nil {
		return nil, err
	}
	ids := shown.Within(w).NotMet(scanNo)
	if len(ids) == 0 {
		return nil, nil
	}
	stored, err := t.timesOf(c.Task.Source, c.Task.Repository, ids)
	return shown.Missing(w, scanNo, stored), err
}

// timesOf are the times of those records that are stored. One without a time is taken to have that of its window.
func (t *tx) timesOf(source, repository string, ids []string) (map[string]patra.Instant, error) {
	at := make(map[string]patra.Instant, len(ids))
	args := []any{source}
	for _, id := range ids {
		args = append(args, scopedID(repository, id))
	}
	err := t.rows(stmt{"times_of_records", `SELECT provider_id, provider_updated_at FROM ing_record WHERE provenance_code = ? AND provider_updated_at IS NOT NULL AND provider_id IN (` + marks(len(ids)) + `)`}, func(r *sql.Rows) error {
		var id string
		var updated patra.Instant
		err := r.Scan(&id, &updated)
		at[localID(repository, id)] = updated
		return err
	}, args...)
	return at, err
}

// disputeSiblings puts the other windows of a plan into dispute that were read before it was known that the provider reads the
// end of a window in another way: what lies at their ends was not asked for.
func (t *tx) disputeSiblings(c *patra.Claim, now patra.Instant) error {
	ids, err := t.ids(sealedOfPlan, c.Slice.CursorID, c.Task.PlanID, c.Slice.ID)
	if err != nil || len(ids) == 0 {
		return err
	}
	return t.settle(c.Slice.CursorID, ids, patra.CoverageNote{At: now, By: "patra", From: patra.StateSealed, To: patra.StateDisputed,
		Reason: "it was read as if the provider included the end of a window, which it does not"})
}

// settleMoved ends the disputes of a plan's cursor whose missing ids have been read since, with a date in another window: the
// provider moved them while it was read. Every window that could bring them is read when the plan is finished.
func (t *tx) settleMoved(planID int64) error {
	var cursorID int64
	var from patra.Instant
	if found, err := t.one(cursorOfPlan, []any{planID}, &cursorID, &from); err != nil || !found || cursorID == 0 {
		return err
	}
	c, err := t.oneCursor(cursorByID, cursorID)
	if err != nil || c == nil {
		return err
	}
	disputed, err := t.disputes(*c, min(from, c.SealedThrough))
	if err != nil {
		return err
	}
	var moved []int64
	for _, d := range disputed {
		is, err := t.missingMoved(*c, d.ID)
		if err != nil {
			return err
		}
		if is {
			moved = append(moved, d.ID)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	return t.settle(cursorID, moved, patra.CoverageNote{At: now, By: "patra", From: patra.StateDisputed, To: patra.StateSealed,
		Reason: "the missing records have been read with a later date, in the window of that date"})
}

func (t *tx) missingMoved(c patra.Cursor, entryID int64) (bool, error) {
	entries, err := t.answersBy(selectAnswer, entryID)
	if err != nil || len(entries) == 0 || len(entries[0].Missing()) == 0 {
		return false, err
	}
	stored, err := t.timesOf(c.Source, c.Repository, entries[0].Missing())
	return entries[0].MissingMoved(stored), err
}

// mostExplained is how many windows are told with their reason; those beyond it are listed all the same.
const mostExplained = 100

// explain reads why answers are in dispute or not proved, which few are.
func (t *tx) explain(answers []patra.CoverageEntry) error {
	explained := 0
	for i := range answers {
		if answers[i].State == patra.StateSealed || explained == mostExplained {
			continue
		}
		explained++
		full, err := t.answersBy(selectAnswer, answers[i].ID)
		if err != nil {
			return err
		}
		if len(full) == 1 {
			answers[i].Remarks, answers[i].Proof = full[0].Remarks, full[0].Proof
		}
	}
	return nil
}

// noteMissing puts an entry into dispute, and names what is missing. state is that of the entry apart from it.
func (t *tx) noteMissing(a patra.CoverageEntry, missing patra.ShownIDs, state patra.Completeness) error {
	if len(missing) == 0 {
		return nil
	}
	_, err := t.exec(noteAnswer, asJSON([]patra.CoverageNote{patra.MissingNote(a.ClosedAt, missing, state)}), a.SliceID, a.Window.From, a.Window.To)
	return err
}
