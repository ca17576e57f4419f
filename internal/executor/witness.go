package executor

import (
	"context"
	"time"

	"patra"
)

// rowKeys are the rows of a page in the order of the answer, for the proof that the window is complete.
type rowKeys struct {
	r    *run
	rows patra.PageRows
	last *patra.Instant
}

// add takes the next item of the page, whether it became a record or not.
func (k *rowKeys) add(o patra.Observation) {
	spec := k.r.program.Spec
	outside := k.r.strays(o.UpdatedAt)
	var sortedBy *patra.Instant
	disordered := false
	if spec.SortsByTime() && o.UpdatedAt != nil {
		sortedBy = o.UpdatedAt
	}
	if sortedBy != nil && !outside { // what was not asked for breaks no order
		at := spec.Window.Precision.Floor(*o.UpdatedAt)
		disordered = k.last != nil && at < *k.last
		k.last = &at
	}
	row := patra.RowKeyOf(o.ID, o.Raw, sortedBy, outside)
	if row.Disordered = disordered; spec.SortsByTime() && sortedBy == nil { // whether it moved shows only in what it is
		row.Sort = uint32(patra.RowKeyOf("", o.Raw, nil, false).ID)
	}
	k.rows = append(k.rows, row)
}

// loadScans reads the scans of a task from the ledger: those that earlier runs finished, and the one that goes on. It reports false
// where the rows of a page are not known, as of one that an older version read.
func (r *run) loadScans(ctx context.Context, scanNo int64) (current *patra.ScanEvidence, known bool, err error) {
	pages, err := r.Store.ScannedPages(ctx, r.claim)
	if err != nil {
		return nil, false, err
	}
	current = patra.NewScanEvidence(scanNo, r.witness)
	at := map[int64]*patra.ScanEvidence{scanNo: current}
	for _, p := range pages {
		if p.Rows == nil {
			if p.ScanNo == scanNo {
				return nil, false, nil
			}
			continue
		}
		if at[p.ScanNo] == nil {
			at[p.ScanNo] = patra.NewScanEvidence(p.ScanNo, r.witness)
		}
		e := at[p.ScanNo]
		if p.Ordinal != e.Pages+1 {
			continue // a hole: the scan was given up, and proves nothing
		}
		page := patra.ScanPage{Rows: p.Rows, HasNext: p.HasNext, Total: p.Total, SentAt: p.SentAt, FinishedAt: p.FinishedAt}
		page.Position, page.Asked = r.program.Spec.Place(p.Before)
		e.Add(page)
		if e.Ended && p.ScanNo != scanNo {
			r.earlier = append(r.earlier, e)
		}
	}
	return current, true, nil
}

// step judges how a page continues the walk, and chooses the next position where pages are to overlap.
func (r *run) step(page patra.OpenPage, res *patra.PageResult) {
	spec, e := r.program.Spec, r.scan.evidence
	at, asked := spec.Place(page.Before)
	step := e.Add(patra.ScanPage{Position: at, Asked: asked, Rows: res.Rows, HasNext: res.HasNext, Total: res.Total,
		SentAt: res.Exchange.SentAt, FinishedAt: res.Exchange.FinishedAt})
	switch {
	case e.Complete():
		if res.HasNext {
			res.HasNext, res.After, res.EndCode = false, "", patra.EndWhole
		}
	case !e.Seams():
	case step.End:
		if res.HasNext { // else the provider has said it
			res.EndCode = patra.EndSeam
		}
		res.HasNext, res.After = false, ""
	default:
		if res.HasNext, res.EndCode, res.After = true, "", spec.PositionAt(step.Next); r.witness.Witness == patra.WitnessSizes {
			res.After = spec.PageNumber(e.PageAt(step.Next, int64(spec.Pagination.PageSize)))
		}
	}
}

// judge decides what the scans of the window prove, and whether another one is worth its requests.
func (r *run) judge(ctx context.Context) (patra.WindowVerdict, error) {
	v := r.verdict()
	if r.witness.Witness == patra.WitnessCensus && v.State == patra.StateRead {
		return r.judgeByCensus(ctx, v)
	}
	if v.Again && r.draining() {
		return v, errDrained
	}
	// What copies show within their lag proves nothing, whatever the witness: a window that has just ended must be read again after it.
	if lag := time.Duration(r.witness.Lag) * time.Microsecond; v.Again && lag > 0 {
		r.began = r.began.Add(lag) // the pause is none of the time that the slice may take
		return v, r.sleep(ctx, lag)
	}
	return v, nil
}

// proveShorter reports whether shorter windows may be proved where a long one was not: records came and went while it was read, and a
// shorter one is read in less time.
func (r *run) proveShorter() bool {
	switch r.witness.Witness {
	case patra.WitnessSeam, patra.WitnessSizes, patra.WitnessMetAgain:
	default:
		return false
	}
	sl, w := r.claim.Slice, r.program.Spec.Window
	if sl.Spec.Window == nil || sl.IsPart() || r.isUnsplittable() {
		return false
	}
	shortest := w.Precision.Next(w.Precision.Floor(sl.Window.From))
	if !w.MinStep.IsZero() {
		shortest = max(shortest, w.MinStep.After(sl.Window.From))
	}
	return shortest < sl.Window.To
}

func (r *run) verdict() patra.WindowVerdict {
	v := patra.JudgeScans(r.witness, r.claim.Slice.Fetch.To, append(r.earlier, r.scan.evidence))
	v.Proof.TaskID, v.Proof.Planned = r.claim.TaskID, r.witness.Witness
	return v
}
