package invariants

// What the spec of slice s says about it.
const (
	hasWindow = `JSON_EXTRACT(s.slice_spec, '$.window') IS NOT NULL`
	isPart    = `(JSON_EXTRACT(s.slice_spec, '$.window') IS NOT NULL AND JSON_EXTRACT(s.slice_spec, '$.range') IS NOT NULL)`
)

// earlyPages are the pages of the walk that ended slice s early.
const earlyPages = `JOIN ing_task t ON t.slice_id = s.id JOIN ing_task_run r ON r.task_id = t.id AND r.status_code = 'PARTIAL'
		JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.status_code = 'SUCCEEDED'`

// slices is what is promised of slices: how they are closed, and what takes their place.
var slices = []Invariant{
	{Text: "a closed slice has a run that was exhausted", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s WHERE s.status_code = 'SUCCEEDED'
		AND NOT EXISTS (SELECT 1 FROM ing_task t JOIN ing_task_run r ON r.task_id = t.id WHERE t.slice_id = s.id AND r.status_code = 'SUCCEEDED' AND r.exhausted = 1)`)},
	{Text: "a slice that was read to its end is covered, and no other is", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s LEFT JOIN ing_coverage v ON v.slice_id = s.id AND v.kind_code = 'SCAN'
		WHERE (s.status_code = 'SUCCEEDED' AND `+hasWindow+` AND NOT `+isPart+`) <> (v.id IS NOT NULL)`)},
	{Text: "what is confirmed is covered, and nothing else of an early end", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s LEFT JOIN ing_coverage v ON v.slice_id = s.id AND v.kind_code = 'CONFIRMED'
		WHERE (s.confirmed_to IS NOT NULL) <> (v.id IS NOT NULL) OR v.window_from <> s.confirmed_from OR v.window_to <> s.confirmed_to`)},
	{Text: "only an early end confirms something, and at the right end of its window", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s WHERE s.confirmed_to IS NOT NULL
		AND NOT ((s.status_code IN ('PARTIAL', 'SPLIT') OR (s.status_code IN ('FAILED', 'CANCELLED') AND s.reslice IS NOT NULL)) AND s.confirmed_from < s.confirmed_to AND NOT `+isPart+` AND (
		     (COALESCE(s.order_code, '') = 'ASC' AND s.confirmed_from = s.window_from AND s.confirmed_to <= s.window_to)
		  OR (COALESCE(s.order_code, '') = 'DESC' AND s.confirmed_to = s.window_to AND s.confirmed_from >= s.window_from)))`)},
	{Text: "every page of a walk that confirmed something kept to the order", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s `+earlyPages+`
		WHERE s.confirmed_to IS NOT NULL AND COALESCE(b.order_code, '') <> s.order_code`)},
	{Text: "no walk confirmed more than it saw", Next: reread, look: none("slice", `SELECT s.id FROM ing_plan_slice s LEFT JOIN (
		  SELECT r.slice_id, COUNT(*) pages, MAX(b.ordinal) last, MIN(b.ts_min) earliest, MAX(b.ts_max) latest FROM ing_task_run r
		    JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.status_code = 'SUCCEEDED'
		   WHERE r.status_code = 'PARTIAL' GROUP BY r.slice_id) w ON w.slice_id = s.id
		WHERE s.confirmed_to IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ing_archive z WHERE z.slice_id = s.id) AND (COALESCE(w.pages, 0) = 0 OR w.pages <> w.last
		   OR (s.order_code = 'ASC' AND s.confirmed_to > w.latest) OR (s.order_code = 'DESC' AND s.confirmed_from <= w.earliest))`)},
	{Text: "a slice that ended early says why", Next: report, look: none("slice", `SELECT s.id FROM ing_plan_slice s
		WHERE (s.status_code IN ('PARTIAL', 'SPLIT') AND s.reslice IS NULL) OR (s.status_code NOT IN ('PARTIAL', 'SPLIT', 'FAILED', 'CANCELLED') AND s.reslice IS NOT NULL)`)},
	{Text: splitsTile, Next: reread, look: wrongSplits},
	{Text: groupsTile, Next: reread, look: wrongGroups},
	{Text: "every slice has exactly one task", Next: redeem, look: none("slice", `SELECT s.id FROM ing_plan_slice s WHERE (SELECT COUNT(*) FROM ing_task t WHERE t.slice_id = s.id) <> 1`)},
	{Text: "slice and task agree", Next: redeem, look: none("task", `SELECT t.id FROM ing_task t LEFT JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE s.id IS NULL OR (s.status_code = 'SUCCEEDED') <> (t.status_code = 'SUCCEEDED') OR (s.status_code = 'FAILED') <> (t.status_code = 'FAILED')
		   OR (s.status_code = 'CANCELLED') <> (t.status_code = 'CANCELLED') OR (s.status_code IN ('PARTIAL', 'SPLIT')) <> (t.status_code = 'PARTIAL')
		   OR (s.status_code = 'READY') <> (t.status_code IN ('QUEUED', 'RUNNING'))`)},
}
