package verifier

import (
	"context"
	"database/sql"
)

// place is a page's in the ledger of a task.
type place struct {
	scan    int64
	phase   string
	ordinal int64
}

// page is a row of the ledger: a page that was asked for, or was about to be.
type page struct {
	task, run int64
	place
	status string
	once   bool // its position can be used once
}

// askRepeats: a run that was cut off leaves one page open at most, the run after it goes on with exactly that page, and no
// page that was stored is asked for again. Where a token is used up by asking, the scan begins anew in place of that, and one
// more page may have been asked for ahead.
func askRepeats(ctx context.Context, s *Scene, v *Invariant) error {
	var task, run int64
	var left *page
	stored, open := map[place]bool{}, 0
	return s.each(ctx, `SELECT b.task_id, b.run_id, b.scan_no, b.phase_code, b.ordinal, b.status_code, CASE WHEN r.spec_fingerprint IN (`+stateful+`) THEN 1 ELSE 0 END
		FROM ing_task_run_batch b JOIN ing_task_run r ON r.id = b.run_id WHERE b.phase_code <> 'CENSUS' ORDER BY b.task_id, b.id`, func(rows *sql.Rows) error {
		var r page
		if err := rows.Scan(&r.task, &r.run, &r.scan, &r.phase, &r.ordinal, &r.status, &r.once); err != nil {
			return err
		}
		v.Looked++
		if r.task != task {
			task, run, left = r.task, 0, nil
			clear(stored)
		}
		if r.run != run {
			run, open = r.run, 0
		}
		if stored[r.place] {
			v.found("task %d asked again for page %v, which was stored", r.task, r.place)
		}
		if left != nil && left.run != r.run {
			if want := left.follows(); r.place != want {
				v.found("task %d left page %v open, and the run after it began with %v", r.task, left.place, r.place)
			}
			left = nil
		}
		switch r.status {
		case "SUCCEEDED":
			stored[r.place] = true
		case "SKIPPED":
			left = &r
			if open++; open > 1 && !(r.once && open == 2) {
				v.found("run %d left more than one page open", r.run)
			}
		}
		return nil
	})
}

// follows is where the next run begins.
func (p *page) follows() place {
	if p.once {
		return place{scan: p.scan + 1, phase: p.phase, ordinal: 1}
	}
	return p.place
}
