package main

import "fmt"

// pagePlace is a page's in the ledger of a task.
type pagePlace struct {
	scan    int64
	phase   string
	ordinal int64
}

// ledgerRow is a page that was asked for, or was about to be.
type ledgerRow struct {
	task, run int64
	pagePlace
	status string
}

// checkRepeats: a run that was cut off leaves one page open at most, the run after it goes on with exactly that page, and
// no page that was stored is asked for again. Where a token is used up by asking, the scan begins anew in place of that, and
// one more page may have been asked for ahead.
func (s *stage) checkRepeats() {
	s.t.Helper()
	rows, err := s.db.Query(`SELECT task_id, run_id, scan_no, phase_code, ordinal, status_code FROM ing_task_run_batch ORDER BY task_id, id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	stored, left := map[string]bool{}, map[int64]ledgerRow{}
	open := map[int64]int{}
	for rows.Next() {
		var r ledgerRow
		if err := rows.Scan(&r.task, &r.run, &r.scan, &r.phase, &r.ordinal, &r.status); err != nil {
			s.t.Fatal(err)
		}
		key := fmt.Sprint(r.task, r.pagePlace)
		if stored[key] {
			s.find("task %d asked again for page %v, which was stored", r.task, r.pagePlace)
		}
		if before, cut := left[r.task]; cut && before.run != r.run {
			s.checkResumed(before, r)
			delete(left, r.task)
		}
		switch r.status {
		case "SUCCEEDED":
			stored[key] = true
		case "SKIPPED":
			left[r.task] = r
			if open[r.run]++; open[r.run] > 1 && !(s.stateful && open[r.run] == 2) {
				s.find("run %d left more than one page open", r.run)
			}
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
}

// checkResumed compares the page that was left open with the first page of the run after.
func (s *stage) checkResumed(left, next ledgerRow) {
	want := left.pagePlace
	if s.stateful {
		want = pagePlace{scan: left.scan + 1, phase: left.phase, ordinal: 1}
	}
	if next.pagePlace != want {
		s.find("task %d left page %v open, and the run after it began with %v", left.task, left.pagePlace, next.pagePlace)
	}
}
