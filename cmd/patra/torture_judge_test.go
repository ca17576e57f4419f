package main

import (
	"strings"
	"testing"

	"patra/internal/store/storetest"
)

// TestTheJudgeOfTorture: a good harvest is found to be good, and then every kind of damage is done to it, one after the
// other, and found. A judge who was never seen to convict proves nothing.
func TestTheJudgeOfTorture(t *testing.T) {
	t.Parallel()
	s := newStage(t, storetest.Engines()[0], torturedSources[1], ordeals[2], 3, 1) // ids first, with poison
	s.plan()
	f := s.fleet(1)
	s.log.await(60, tortureLease*10)
	s.calm(f)
	s.finish()
	if s.check(f); len(s.findings) > 0 || t.Failed() {
		t.Fatalf("nothing was done to it yet: %q", s.findings)
	}
	for _, damage := range []struct {
		does, says string
		check      func()
	}{
		{`UPDATE ing_record SET raw = X'3C6E6F7468696E672F3E' WHERE id = (SELECT MIN(id) FROM ing_record)`, "nothing that the provider ever had", s.checkRecords},
		{`UPDATE ing_record SET rev = 2 WHERE id = (SELECT MAX(id) FROM ing_record)`, "has 2 revisions of 1 versions", s.checkRecords},
		{`DELETE FROM ing_record WHERE id = (SELECT MAX(id) FROM ing_record)`, "is missing", s.checkRecords},
		{`DELETE FROM ing_coverage WHERE window_from = (SELECT MIN(window_from) FROM ing_coverage)`, "what was read ends at", s.checkRecords},
		{`UPDATE ing_quarantine SET provider_id = 'x' WHERE id = (SELECT MIN(id) FROM ing_quarantine)`, "nothing is wrong with it", s.checkQuarantine},
		{`DELETE FROM ing_quarantine`, "0 of", s.checkQuarantine},
		{`DELETE FROM ing_request WHERE id = (SELECT MIN(id) FROM ing_request)`, "of which there is no row", s.checkRequests},
		{`UPDATE ing_task_run_batch SET status_code = 'SKIPPED' WHERE run_id = (SELECT MAX(run_id) FROM ing_task_run_batch)`, "more than one page open", s.checkRepeats},
		{`INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, batch_no, scan_no, phase_code, ordinal, lease_count, record_count,
		    n_insert, n_update, n_same, n_stale, n_dup, n_quarantine, n_outside, idempotent_key, stats, status_code, started_at, created_at)
		  SELECT run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, 9999, scan_no, phase_code, ordinal, lease_count, 0,
		    0, 0, 0, 0, 0, 0, 0, idempotent_key, '{}', 'FAILED', started_at, created_at FROM ing_task_run_batch WHERE id = (SELECT MIN(id) FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED')`, "which was stored", s.checkRepeats},
	} {
		s.findings = nil
		if _, err := s.db.Exec(damage.does); err != nil {
			t.Fatalf("%v in %s", err, damage.does)
		}
		if damage.check(); !strings.Contains(strings.Join(s.findings, "\n"), damage.says) {
			t.Errorf("after %s nobody says %q: %q", damage.does, damage.says, s.findings)
		}
	}
}
