package invariants

// consumed are the pages of the scan of run r that may have used up a position without giving what was there. The first
// request of a scan has no position yet; a refusal for being too fast, or for who we are, uses none up; and neither does
// a request that never left.
const consumed = `SELECT 1 FROM ing_task_run_batch b WHERE b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.ordinal > 1
		AND (b.status_code IN ('SKIPPED', 'RUNNING') OR (b.status_code = 'FAILED' AND COALESCE(JSON_EXTRACT(b.error, '$.code'), '') NOT LIKE '%RATE_LIMITED%'
		   AND COALESCE(JSON_EXTRACT(b.error, '$.code'), '') NOT LIKE '%AUTH%' AND EXISTS (SELECT 1 FROM ing_request q WHERE q.batch_id = b.id AND q.sent_at IS NOT NULL)))`

// done are the committed pages of one phase of the scan of run r.
func done(phase string) string {
	return `FROM ing_task_run_batch b WHERE b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = '` + phase + `' AND b.status_code = 'SUCCEEDED'`
}

// online is that the pages of the task of run r are in the tables, and not in an archive.
const online = `NOT EXISTS (SELECT 1 FROM ing_archive z WHERE z.task_id = r.task_id)`

// ledger is what is promised of scans, pages and requests.
var ledger = []Invariant{
	{Text: "an exhausted scan has no hole, and its last page says that nothing follows", Next: reread, look: none("run", `SELECT r.id FROM ing_task_run r JOIN ing_plan_slice s ON s.id = r.slice_id
		WHERE r.exhausted = 1 AND `+online+` AND `+hasWindow+` AND NOT EXISTS (SELECT 1 `+done("SEARCH")+` AND b.has_next = 0
		   AND b.ordinal = (SELECT COUNT(*) FROM ing_task_run_batch k WHERE k.task_id = r.task_id AND k.scan_no = r.scan_no AND k.phase_code = 'SEARCH' AND k.status_code = 'SUCCEEDED'))`)},
	{Text: "the details of an exhausted search have no hole", Next: reread, look: none("run", `SELECT r.id FROM ing_task_run r WHERE r.exhausted = 1
		AND (SELECT COUNT(*) `+done("DETAIL")+`) <> (SELECT COALESCE(MAX(b.ordinal), 0) `+done("DETAIL")+`)`)},
	{Text: "every id of an exhausted search is settled", Next: reread, look: none("run", `SELECT r.id FROM ing_task_run r WHERE r.exhausted = 1
		AND EXISTS (SELECT 1 FROM ing_task_item i WHERE i.task_id = r.task_id AND i.scan_no = r.scan_no AND i.status_code = 'PENDING')`)},
	{Text: "where a position can be used once, a scan with an unknown outcome never counts as exhausted", Next: reread, look: none("run", `SELECT r.id FROM ing_task_run r
		JOIN (SELECT spec_fingerprint FROM ing_spec_snapshot WHERE JSON_EXTRACT(snapshot, '$.pagination.token.state') LIKE '%STATEFUL%') AS once ON once.spec_fingerprint = r.spec_fingerprint
		WHERE r.exhausted = 1 AND EXISTS (`+consumed+`)`)},
	{Text: "a page accounts for every item", Next: report, look: none("batch", `SELECT id FROM ing_task_run_batch
		WHERE status_code = 'SUCCEEDED' AND record_count <> n_insert + n_update + n_same + n_stale + n_dup + n_quarantine`)},
	{Text: "only a committed page counts as done, under its own number", Next: redeem, look: none("batch", `SELECT id FROM ing_task_run_batch
		WHERE (status_code = 'SUCCEEDED') <> (done_ordinal IS NOT NULL) OR done_ordinal <> ordinal`)},
	{Text: "a replay commits nothing", Next: redeem, look: none("request", `SELECT q.id FROM ing_request q JOIN ing_task_run_batch b ON b.id = q.batch_id WHERE q.kind_code = 'REPLAY' AND b.status_code = 'SUCCEEDED'`)},
	{Text: "every request was granted before it was sent", Next: report, look: none("request", `SELECT id FROM ing_request WHERE sent_at IS NOT NULL AND sent_at < acquired_at`)},
	{Text: "a finished run has no request in flight", Next: report, look: none("request", `SELECT q.id FROM ing_request q JOIN ing_task_run r ON r.id = q.run_id WHERE r.status_code <> 'RUNNING' AND q.finished_at IS NULL`)},
	{Text: "what is in an archive is not in the tables", Next: report, look: none("task", `SELECT a.task_id FROM ing_archive a
		WHERE EXISTS (SELECT 1 FROM ing_task_run_batch b WHERE b.task_id = a.task_id) OR EXISTS (SELECT 1 FROM ing_task_item i WHERE i.task_id = a.task_id)`)},
	{Text: "only what never moves again is in an archive", Next: report, look: none("task", `SELECT a.task_id FROM ing_archive a LEFT JOIN ing_task t ON t.id = a.task_id LEFT JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE NOT (COALESCE(t.status_code, '') = 'SUCCEEDED' OR (COALESCE(t.status_code, '') = 'PARTIAL' AND COALESCE(s.status_code, '') = 'SPLIT'))`)},
	{Text: "every page of an archive belongs to a task of it", Next: report, look: none("batch", `SELECT p.batch_id FROM ing_archive_batch p WHERE NOT EXISTS (SELECT 1 FROM ing_archive a WHERE a.task_id = p.task_id)`)},
	{Text: "what is still counted of an archive belongs to a task of it", Next: report, look: none("task", `SELECT p.task_id FROM
		(SELECT task_id FROM ing_archive_sent UNION SELECT task_id FROM ing_archive_body) p WHERE NOT EXISTS (SELECT 1 FROM ing_archive a WHERE a.task_id = p.task_id)`)},
	{Text: "a finished run has no open page", Next: report, look: none("batch", `SELECT b.id FROM ing_task_run_batch b JOIN ing_task_run r ON r.id = b.run_id WHERE r.status_code <> 'RUNNING' AND b.status_code = 'RUNNING'`)},
}
