package invariants

import "patra"

// leases is what is promised of tasks, of the runs that hold them, and of the fences that keep others out.
var leases = []Invariant{
	{Text: "a page's fence is not above its task's", Next: redeem, look: none("batch", `SELECT b.id FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id WHERE b.lease_count > t.lease_count`)},
	{Text: "fences of committed pages never fall", Next: report, look: none("batch", `SELECT id FROM (
		SELECT id, lease_count, LAG(lease_count) OVER (PARTITION BY task_id ORDER BY id) AS before_it FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED') AS pages
		WHERE lease_count < before_it`)},
	{Text: "a fence has one owner: every page is of the run that had its fence", Next: report, look: none("batch", `SELECT b.id FROM ing_task_run_batch b LEFT JOIN ing_task_run r ON r.id = b.run_id
		WHERE r.id IS NULL OR r.task_id <> b.task_id OR r.attempt_no <> b.lease_count`)},
	{Text: "a task that is running has the run of its fence, and no other task has a run under way", Next: report, look: none("task", `SELECT t.id FROM ing_task t
		LEFT JOIN ing_task_run r ON r.task_id = t.id AND r.status_code = 'RUNNING'
		WHERE (t.status_code = 'RUNNING') <> (r.id IS NOT NULL) OR r.attempt_no <> t.lease_count OR r.lease_owner <> t.lease_owner`)},
	{Text: "attempts stay within what is permitted", Next: report, look: none("task", `SELECT id FROM ing_task WHERE attempt_count > max_attempts OR attempt_count < 0`)},
	{Text: "no task waits long for somebody to take it over", Next: resume, Verdict: patra.VerdictWarn, look: func(l *checkRun) error {
		if l.opt.Now == 0 {
			return nil
		}
		return l.none("task", `SELECT id FROM ing_task WHERE status_code = 'RUNNING' AND leased_until < ?`, l.opt.Now.Add(-l.opt.Grace))
	}},
}
