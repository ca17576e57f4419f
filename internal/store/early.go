package store

import (
	"context"
	"database/sql"
	"fmt"

	"patra"
)

var (
	endSliceEarly = stmt{"end_slice_early", `UPDATE ing_plan_slice
		SET status_code = 'PARTIAL', closed_at = ?, reslice = ?, confirmed_from = ?, confirmed_to = ?, order_code = ? WHERE id = ? AND status_code = 'READY'`}
	// The codes of a scan's pages are all the same, or the order was lost on the way.
	walkedSoFar = stmt{"walked_so_far", `SELECT COUNT(*), COALESCE(MAX(ordinal), 0), MIN(ts_min), MAX(ts_max), MIN(COALESCE(order_code, 'NONE')), MAX(COALESCE(order_code, 'NONE'))
		FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal IS NOT NULL`}
	scannedPages = stmt{"scanned_pages", `SELECT b.scan_no, b.ordinal, b.before_token, b.has_next, b.provider_total, b.row_keys, COALESCE(q.sent_at, b.started_at), COALESCE(q.finished_at, b.committed_at)
		FROM ing_task_run_batch b LEFT JOIN ing_request q ON q.batch_id = b.id WHERE b.task_id = ? AND b.phase_code = 'SEARCH' AND b.done_ordinal IS NOT NULL ORDER BY b.scan_no, b.ordinal, b.id`}
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
	var pages, last int64
	var low, high string
	if _, err := t.one(walkedSoFar, []any{c.TaskID, scanNo}, &pages, &last, &w.Earliest, &w.Latest, textInto{&low}, textInto{&high}); err != nil {
		return w, err
	}
	if pages > 0 && pages == last && low == high {
		w.Order = low
	}
	return w, nil
}

// ScannedPages are the committed pages of all scans of a task's search, in the order in which they were read.
func (s *Store) ScannedPages(ctx context.Context, c *patra.Claim) (all []patra.ScannedPage, err error) {
	err = s.read(ctx).rows(scannedPages, func(r *sql.Rows) error {
		p, err := scanScannedPage(r)
		all = append(all, p)
		return err
	}, c.TaskID)
	return all, err
}

func scanScannedPage(r *sql.Rows) (p patra.ScannedPage, err error) {
	var before, keys []byte
	if err := r.Scan(&p.ScanNo, &p.Ordinal, &before, &p.HasNext, &p.Total, &keys, &p.SentAt, &p.FinishedAt); err != nil {
		return p, err
	}
	p.Before = string(before)
	if len(keys) > 0 {
		p.Rows, err = patra.ParsePageRows(keys)
	}
	return p, err
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
	a := patra.CoverageEntry{CursorID: c.Slice.CursorID, SliceID: c.Slice.ID, Window: early.Confirmed, Kind: patra.KindConfirmed, State: early.Completeness, Trust: early.Trust, CountAfter: early.Total,
		IDsSeen: early.IDsSeen, Stored: early.IDsSeen, ClosedAt: now}
	if early.Proof.V > 0 {
		a.Proof = &early.Proof
	}
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
	return t.noteMissing(a, missing, early.Completeness)
}
