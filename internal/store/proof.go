package store

import (
	"cmp"
	"fmt"

	"patra"
)

var (
	scanSum = stmt{"scan_summary", `SELECT COUNT(*), COALESCE(MAX(ordinal), 0), COALESCE(SUM(n_insert + n_update + n_same + n_stale), 0), COALESCE(SUM(n_quarantine), 0), MAX(ts_max)
		FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = ? AND done_ordinal IS NOT NULL`}
	scanEdge = stmt{"scan_edge", `SELECT has_next, provider_total FROM ing_task_run_batch WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal = ?`}
)

// prove looks into the ledger whether a scan was exhausted, and sums up what it found.
func (t *tx) prove(c *patra.Claim, now patra.Instant, proof patra.Proof) (scanProof, error) {
	found := scanProof{answer: patra.CoverageEntry{CursorID: c.Slice.CursorID, SliceID: c.Slice.ID, Window: c.Slice.Window, Kind: patra.KindScan, State: proof.State, Trust: proof.Trust,
		IDsSeen: proof.IDsSeen, Rescans: proof.Rescans, ClosedAt: now}, state: cmp.Or(proof.FoundState, proof.State), rest: proof.Rest, last: proof.Last, widened: proof.Widened}
	if proof.Window.V > 0 {
		found.answer.Proof = &proof.Window
	}
	if proof.State == patra.StateSealed {
		found.answer.SealedAt = &now
	}
	if proof.ByID && c.Slice.Spec.Window != nil {
		return found, fmt.Errorf("task %d: ids that were known say nothing about %s: %w", c.TaskID, c.Slice.Window, patra.ErrNoProof)
	}
	if !proof.ByID {
		if err := t.proveSearch(c, proof, &found); err != nil {
			return found, err
		}
		if err := t.proveShown(c, proof, &found); err != nil {
			return found, err
		}
	}
	if proof.Details || proof.ByID {
		return found, t.proveDetails(c, proof, &found.answer)
	}
	return found, nil
}

// proveSearch makes sure that pages 1 to n are all there, and that the last one said that nothing follows.
func (t *tx) proveSearch(c *patra.Claim, proof patra.Proof, found *scanProof) error {
	a := &found.answer
	var pages, last int64
	var latest *patra.Instant
	_, err := t.one(scanSum, []any{c.TaskID, proof.ScanNo, patra.PhaseSearch}, &pages, &last, &a.Stored, &a.Quarantined, &latest)
	if err != nil {
		return err
	}
	var first, hasNext bool
	if _, err := t.one(scanEdge, []any{c.TaskID, proof.ScanNo, 1}, &first, &a.CountBefore); err != nil {
		return err
	}
	ended, err := t.one(scanEdge, []any{c.TaskID, proof.ScanNo, last}, &hasNext, &a.CountAfter)
	if err != nil {
		return err
	}
	if pages == 0 || pages != last || !ended || hasNext {
		return fmt.Errorf("task %d scan %d: %w", c.TaskID, proof.ScanNo, patra.ErrNoProof)
	}
	found.observed = written(latest)
	return nil
}

// proveShown makes sure that the scan has found what the provider has shown of the window. What is missing is a dispute,
// whatever the run takes it for.
func (t *tx) proveShown(c *patra.Claim, proof patra.Proof, found *scanProof) (err error) {
	if found.missing, err = t.missingShown(c, c.Slice.Window, proof.ScanNo); len(found.missing) > 0 {
		found.answer.State, found.answer.SealedAt = patra.StateDisputed, nil
	}
	return err
}

// proveDetails makes sure that every id of the search is settled, by detail pages without a hole.
func (t *tx) proveDetails(c *patra.Claim, proof patra.Proof, a *patra.CoverageEntry) error {
	var pages, last, stored, quarantined int64
	var latest *patra.Instant
	if _, err := t.one(scanSum, []any{c.TaskID, proof.ScanNo, patra.PhaseDetail}, &pages, &last, &stored, &quarantined, &latest); err != nil {
		return err
	}
	var items, open int64
	if _, err := t.one(itemSum, []any{c.TaskID, proof.ScanNo}, &items, &open, &a.KnownMissing); err != nil {
		return err
	}
	if open > 0 || pages != last {
		return fmt.Errorf("task %d scan %d: %d of %d ids are not settled: %w", c.TaskID, proof.ScanNo, open, items, patra.ErrNoProof)
	}
	a.Stored += stored
	a.Quarantined += quarantined
	return nil
}

// written is a moment as cursors keep it; empty if there is none.
func written(at *patra.Instant) string {
	if at == nil {
		return ""
	}
	return at.String()
}
