package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"patra"
)

var (
	insertBatch = stmt{"insert_batch", `INSERT INTO ing_task_run_batch
		(run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, batch_no, scan_no, phase_code, ordinal, lease_count, page_no, page_size,
		 before_token, before_token_hash, record_count, n_insert, n_update, n_same, n_stale, n_dup, n_quarantine, n_outside, idempotent_key, request_digest, stats,
		 status_code, started_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, ?, ?, '{}', 'RUNNING', ?, ?)`}
	commitBatch = stmt{"commit_batch", `UPDATE ing_task_run_batch
		SET status_code = 'SUCCEEDED', done_ordinal = ordinal, after_token = ?, after_token_hash = ?, has_next = ?, end_code = ?, ts_min = ?, ts_max = ?, order_code = ?, provider_total = ?,
		    record_count = ?, n_insert = ?, n_update = ?, n_same = ?, n_stale = ?, n_dup = ?, n_quarantine = ?, n_outside = ?,
		    response_digest = ?, body_sha256 = ?, kept = ?, row_keys = ?, stats = ?, committed_at = ?
		WHERE id = ? AND status_code = 'RUNNING'`}
	failBatch = stmt{"fail_batch", `UPDATE ing_task_run_batch SET status_code = 'FAILED', error = ?, response_digest = ?, body_sha256 = ?, kept = ?, committed_at = ? WHERE id = ? AND status_code = 'RUNNING'`}
	checkRun  = stmt{"checkpoint_run", `UPDATE ing_task_run SET scan_no = ?, checkpoint = ? WHERE id = ?`}

	pageByRequest = stmt{"page_by_request", `SELECT id, batch_id FROM ing_request WHERE request_id = ?`}
	batchLanded   = stmt{"batch_landed", `SELECT COUNT(*) FROM ing_task_run_batch WHERE id = ? AND lease_count = ? AND status_code = ?`}
)

// OpenPage writes the ledger row and the request row of a page, before its request is sent.
func (s *Store) OpenPage(ctx context.Context, c *patra.Claim, now patra.Instant, open patra.PageOpen) (patra.OpenPage, error) {
	var page patra.OpenPage
	err := s.write(ctx, "open page", func(t *tx) (err error) {
		next := open.Ordinal
		if open.Ahead {
			next--
		}
		if err := t.renewLease(c.Lease, open.Phase, open.ScanNo, next); err != nil {
			return err
		}
		page, err = t.openPage(c, now, open)
		return err
	}, func(t *tx) (bool, error) {
		page.PageOpen = open
		return t.one(pageByRequest, []any{open.RequestID}, &page.RequestRowID, &page.BatchID)
	})
	return page, err
}

func (t *tx) openPage(c *patra.Claim, now patra.Instant, open patra.PageOpen) (patra.OpenPage, error) {
	page := patra.OpenPage{PageOpen: open}
	key := patra.Hash([]any{c.PlanKey, c.TaskID, open.ScanNo, open.Phase, open.Ordinal})
	var err error
	page.BatchID, err = t.insert(insertBatch, c.RunID, c.TaskID, c.Slice.ID, c.Task.PlanID, c.Task.Source, c.Task.Operation, c.Slice.ExprHash,
		open.BatchNo, open.ScanNo, open.Phase, open.Ordinal, c.Fence, open.Ordinal, open.PageSize,
		[]byte(open.Before), patra.HashBytes([]byte(open.Before)), key, text(open.Request), now, now)
	if err != nil {
		return page, err
	}
	page.RequestRowID, err = t.insert(insertRequest, open.RequestID, c.RunID, page.BatchID, patra.RequestPage, open.GateKey, open.Cost, open.Waited, open.AcquiredAt, now)
	return page, err
}

// CommitPage makes a page's result durable in one transaction: records, quarantine, ledger, checkpoint, lease. If
// next is given, its rows are written in the same transaction, so that one commit a page is enough and still
// nothing is ever sent without a row.
func (s *Store) CommitPage(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, next *patra.PageOpen) (patra.Counts, *patra.OpenPage, error) {
	var counts patra.Counts
	var opened *patra.OpenPage
	newest := incomingOf(res) // before its turn: the others can write meanwhile
	err := s.write(ctx, "commit page", func(t *tx) (err error) {
		opened = nil
		began := time.Now()
		defer func() { err = cmp.Or(err, inTime(since(began))) }()
		if err := t.renewLease(c.Lease, page.Phase, page.ScanNo, page.Ordinal+1); err != nil {
			return err
		}
		if counts, err = t.keep(c, now, recordType, page, res, newest); err != nil {
			return err
		}
		if err := t.closeBatch(now, page, res, counts); err != nil {
			return err
		}
		if err := t.keepShown(c.Slice.ID, res.Shown); err != nil {
			return err
		}
		if err := t.finishRequest(page.RequestRowID, res.Exchange); err != nil {
			return err
		}
		if _, err := t.exec(checkRun, page.ScanNo, asJSON(map[string]any{"scan_no": page.ScanNo, "ordinal": page.Ordinal}), c.RunID); err != nil {
			return err
		}
		if next != nil {
			o, err := t.openPage(c, now, *next)
			opened = &o
			return err
		}
		return nil
	}, s.pageCommitted(c, page, patra.Succeeded))
	return counts, opened, err
}

// longest is how long a page may take from its first row to its commit: half of what exports wait for.
const longest = time.Duration(patra.Settling/2) * time.Microsecond

// errSlow rolls a transaction back that took so long that an export may have passed its rows by. It is tried again, and
// its rows get the time that it is then.
var errSlow = errors.New("the transaction took too long")

// since is how long ago something was, on the clock that stands still while a machine sleeps or on the one that does not.
func since(began time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(began), now.Round(0).Sub(began.Round(0)))
}

func inTime(took time.Duration) error {
	if took > longest {
		return errSlow
	}
	return nil
}

// FailPage records a request that gave no page, and opens the next attempt if there is to be one.
func (s *Store) FailPage(ctx context.Context, c *patra.Claim, now patra.Instant, page patra.OpenPage, fail patra.PageFailure, next *patra.PageOpen) (*patra.OpenPage, error) {
	var opened *patra.OpenPage
	err := s.write(ctx, "fail page", func(t *tx) error {
		opened = nil
		scan, ordinal := page.ScanNo, page.Ordinal
		if next != nil {
			scan, ordinal = next.ScanNo, next.Ordinal
		}
		if err := t.renewLease(c.Lease, page.Phase, scan, ordinal); err != nil {
			return err
		}
		n, err := t.exec(failBatch, asJSON(fail.Fault), text(fail.Response), optional(fail.BodySHA256), keptOf(fail.BodySHA256, fail.Kept), now, page.BatchID)
		if err == nil && n != 1 {
			err = patra.ErrIllegalMove
		}
		if err != nil {
			return err
		}
		if err := t.refer(now, fail.Kept); err != nil {
			return err
		}
		if err := t.finishRequest(page.RequestRowID, fail.Exchange); err != nil {
			return err
		}
		if next != nil {
			o, err := t.openPage(c, now, *next)
			opened = &o
			return err
		}
		return nil
	}, s.pageCommitted(c, page, patra.Failed))
	return opened, err
}

// pageCommitted tells, after a COMMIT without an answer, whether the page is in the ledger under this lease.
func (s *Store) pageCommitted(c *patra.Claim, page patra.OpenPage, as patra.Status) func(*tx) (bool, error) {
	return func(t *tx) (bool, error) {
		var n int
		_, err := t.one(batchLanded, []any{page.BatchID, c.Fence, as}, &n)
		return n == 1, err
	}
}

// keptOf says of a page that had a body whether it is kept.
func keptOf(body string, kept *patra.StoredBody) any {
	switch {
	case body == "":
		return nil
	case kept == nil:
		return 0
	}
	return 1
}

// closeBatch marks the ledger row as done, once.
func (t *tx) closeBatch(now patra.Instant, page patra.OpenPage, res patra.PageResult, n patra.Counts) error {
	rows, err := t.exec(commitBatch, []byte(res.After), patra.HashBytes([]byte(res.After)), res.HasNext, optional(res.EndCode), res.TimeMin, res.TimeMax, optional(res.Order), res.Total,
		n.Total(), n.Insert, n.Update, n.Same, n.Stale, n.Dup, n.Quarantine, n.Outside, text(res.Response), optional(res.BodySHA256), keptOf(res.BodySHA256, res.Kept), rowKeysOf(page, res),
		asJSON(batchStats{res.Repairs}), now, page.BatchID)
	if err == nil && rows != 1 {
		err = patra.ErrIllegalMove
	}
	return err
}

// batchStats is what the stats of a page's row say.
type batchStats struct {
	Repairs patra.Repairs `json:"repairs,omitempty"`
}

// rowKeysOf are the rows of a page of a search. One without rows has an empty list: that is known, unlike the rows of an older version.
func rowKeysOf(page patra.OpenPage, res patra.PageResult) any {
	if page.Phase == patra.PhaseDetail {
		return nil
	}
	return res.Rows.Bytes()
}

// keep stores what a page brought: records and what could not become one. Together they account for every item.
func (t *tx) keep(c *patra.Claim, now patra.Instant, recordType string, page patra.OpenPage, res patra.PageResult, newest []incomingRecord) (patra.Counts, error) {
	if err := t.refer(now, res.Kept); err != nil {
		return patra.Counts{}, err
	}
	in := &recordWriter{tx: t, claim: c, now: now, recordType: recordType, repository: c.Task.Repository, batchID: page.BatchID, merge: res.Merge, rules: res.Changes}
	if err := in.upsertPage(res, newest); err != nil {
		return in.counts, err
	}
	counts := in.counts
	if err := in.absorb(res.Records); err != nil {
		return counts, err
	}
	if err := in.raws.flush(t, page.BatchID, now); err != nil {
		return counts, err
	}
	if err := t.resolve(c.Task, recordType, res.Records); err != nil {
		return counts, err
	}
	if err := t.raiseFrom(now, c.Task, recordType, in.taken); err != nil {
		return counts, err
	}
	if err := t.addItems(c, now, page, res.IDs); err != nil {
		return counts, err
	}
	if err := t.settleItems(c, page, res.Items); err != nil {
		return counts, err
	}
	if err := t.settleKnown(pageContext{c, recordType, page.BatchID, now}, res); err != nil {
		return counts, err
	}
	for _, q := range res.Quarantined {
		if err := t.setAside(c, now, recordType, page.BatchID, q); err != nil {
			return counts, err
		}
	}
	counts.Quarantine = int64(len(res.Quarantined))
	counts.Outside = res.Outside
	if counts.Total() != int64(len(res.Records)+len(res.Quarantined)) {
		return counts, errors.New("the page's items are not all accounted for")
	}
	return counts, nil
}
