package store

import (
	"context"
	"fmt"

	"patra"
)

var (
	endSliceEarly = stmt{"end_slice_early", `UPDATE ing_plan_slice
		SET status_code = 'PARTIAL', closed_at = ?, reslice = ?, confirmed_from = ?, confirmed_to = ?, order_code = ? WHERE id = ? AND status_code = 'READY'`}
	// The codes of a scan's pages are all the same, or the order was lost on the way.
	walkedSoFar = stmt{"walked_so_far", `SELECT COUNT(*), COALESCE(MAX(ordinal), 0), MIN(ts_min), MAX(ts_max), MIN(COALESCE(order_code, 'NONE')), MAX(COALESCE(order_code, 'NONE')),
		       COALESCE(MAX(provider_total) - MIN(provider_total), 0) FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal IS NOT NULL`}
	// What was announced and skipped may never have been sent.
	requestsSoFar = stmt{"requests_so_far", `SELECT COUNT(*) FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND status_code IN ('SUCCEEDED', 'FAILED')`}
)

// Walked tells how far a scan of a task has come.
func (s *Store) Walked(ctx context.Context, c *patra.Claim, scanNo int64) (patra.ScanProgress, error) {
	return s.read(ctx).walked(c, scanNo)
}

func (t *tx) walked(c *patra.Claim, scanNo int64) (patra.ScanProgress, error) {
	w := patra.ScanProgress{Order: patra.OrderNone}
	if _, err := t.one(requestsSoFar, []any{c.TaskID, scanNo}, &w.Requests); err != nil {
		return w, err
	}
	var pages, last, drift int64
	var low, high string
	if _, err := t.one(walkedSoFar, []any{c.TaskID, scanNo}, &pages, &last, &w.Earliest, &w.Latest, textInto{&low}, textInto{&high}, &drift); err != nil {
		return w, err
	}
	if pages > 0 && pages == last && low == high {
		w.Order = low
	}
	w.Moved = drift != 0
	return w, nil
}

// endEarly closes a slice whose rest is to be cut. What the walk proved before it stopped is covered like any other
// window; the rest counts as under way until a planner has put children in the slice's place.
func (t *tx) endEarly(c *patra.Claim, now patra.Instant, early patra.EarlyEnd) error {
	if err := patra.SliceMoves.Check(patra.Ready, patra.Partial); err != nil {
		return err
	}
	walked, err := t.walked(c, early.ScanNo)
	if err != nil {
		return err
	}
	if err := early.Check(c.Slice, walked); err != nil {
		return fmt.Errorf("task %d scan %d: %w", c.TaskID, early.ScanNo, err)
	}
	var from, to any
	if !early.Confirmed.IsEmpty() {
		from, to = early.Confirmed.From, early.Confirmed.To
	}
	n, err := t.exec(endSliceEarly, now, asJSON(early.Reslice), from, to, optional(early.Order), c.Slice.ID)
	if err == nil && n != 1 {
		err = fmt.Errorf("slice %d is not READY: %w", c.Slice.ID, patra.ErrIllegalMove)
	}
	if err != nil || early.Confirmed.IsEmpty() {
		return err
	}
	a := patra.CoverageEntry{CursorID: c.Slice.CursorID, SliceID: c.Slice.ID, Window: early.Confirmed, Kind: patra.KindConfirmed, State: early.State(), Trust: early.Trust, CountAfter: early.Total,
		IDsSeen: early.IDsSeen, Stored: early.IDsSeen, ClosedAt: now}
	missing, err := t.missingShown(c, early.Confirmed, early.ScanNo)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		a.State = patra.StateDisputed
	}
	if a.State == patra.StateSealed {
		a.SealedAt = &now
	}
	if err := t.cover(now, a, *c, c.Slice.ExprHash, written(walked.Latest)); err != nil {
		return err
	}
	return t.noteMissing(a, missing, early.State())
}
