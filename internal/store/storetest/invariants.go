package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"patra"
)

// What the spec of slice s says about it.
const (
	hasWindow = `JSON_EXTRACT(s.slice_spec, '$.window') IS NOT NULL`
	isPart    = `(JSON_EXTRACT(s.slice_spec, '$.window') IS NOT NULL AND JSON_EXTRACT(s.slice_spec, '$.range') IS NOT NULL)`
)

// earlyPages are the pages of the walk that ended slice s early.
const earlyPages = `JOIN ing_task_run r ON r.slice_id = s.id AND r.status_code = 'PARTIAL'
		JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.status_code = 'SUCCEEDED'`

// invariants are queries that must return no row, whatever happened to the processes.
var invariants = map[string]string{
	"cursor events form one chain from the origin to the value": `SELECT e.id FROM ing_cursor_event e JOIN ing_cursor c ON c.id = e.cursor_id
		WHERE e.new_instant <= e.prev_instant
		   OR (e.seq = 1 AND e.prev_instant <> c.origin_instant)
		   OR (e.seq > 1 AND NOT EXISTS (SELECT 1 FROM ing_cursor_event p WHERE p.cursor_id = e.cursor_id AND p.seq = e.seq - 1 AND p.new_instant = e.prev_instant))
		   OR (e.seq = c.version AND e.new_instant <> c.normalized_instant) OR e.seq > c.version`,
	"a cursor's version counts its events": `SELECT c.id FROM ing_cursor c WHERE c.version <> (SELECT COUNT(*) FROM ing_cursor_event e WHERE e.cursor_id = c.id)`,
	"a closed slice has a run that was exhausted": `SELECT s.id FROM ing_plan_slice s WHERE s.status_code = 'SUCCEEDED'
		AND NOT EXISTS (SELECT 1 FROM ing_task_run r WHERE r.slice_id = s.id AND r.status_code = 'SUCCEEDED' AND r.exhausted = 1)`,
	"a closed slice has one scan without a hole that ends": `SELECT r.id FROM ing_task_run r JOIN ing_plan_slice s ON s.id = r.slice_id
		WHERE r.exhausted = 1 AND ` + hasWindow + ` AND NOT EXISTS (
		SELECT 1 FROM ing_task_run_batch b WHERE b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.status_code = 'SUCCEEDED' AND b.has_next = 0
		   AND b.ordinal = (SELECT COUNT(*) FROM ing_task_run_batch k WHERE k.task_id = r.task_id AND k.scan_no = r.scan_no AND k.phase_code = 'SEARCH' AND k.status_code = 'SUCCEEDED'))`,
	"every id of an exhausted search is settled": `SELECT r.id FROM ing_task_run r WHERE r.exhausted = 1
		AND EXISTS (SELECT 1 FROM ing_task_item i WHERE i.task_id = r.task_id AND i.scan_no = r.scan_no AND i.status_code = 'PENDING')`,
	"a slice that was read to its end is covered, and no other is": `SELECT s.id FROM ing_plan_slice s LEFT JOIN ing_coverage v ON v.slice_id = s.id AND v.kind_code = 'SCAN'
		WHERE (s.status_code = 'SUCCEEDED' AND ` + hasWindow + ` AND NOT ` + isPart + `) <> (v.id IS NOT NULL)`,
	"an answer is about the time of its slice, in its cursor": `SELECT v.id FROM ing_coverage v JOIN ing_plan_slice s ON s.id = v.slice_id
		WHERE v.cursor_id <> s.cursor_id OR (v.kind_code <> 'CONFIRMED' AND (v.window_from <> s.window_from OR v.window_to <> s.window_to))`,
	"a cursor is moved by slices of its own plans": `SELECT e.id FROM ing_cursor_event e JOIN ing_plan_slice s ON s.id = e.slice_id WHERE s.cursor_id <> e.cursor_id`,
	"what is confirmed is covered, and nothing else of an early end": `SELECT s.id FROM ing_plan_slice s LEFT JOIN ing_coverage v ON v.slice_id = s.id AND v.kind_code = 'CONFIRMED'
		WHERE (s.confirmed_to IS NOT NULL) <> (v.id IS NOT NULL) OR v.window_from <> s.confirmed_from OR v.window_to <> s.confirmed_to`,
	"only an early end confirms something, and at the right end of its window": `SELECT s.id FROM ing_plan_slice s WHERE s.confirmed_to IS NOT NULL
		AND NOT (s.status_code IN ('PARTIAL', 'SPLIT') AND s.confirmed_from < s.confirmed_to AND NOT ` + isPart + ` AND (
		     (COALESCE(s.order_code, '') = 'ASC' AND s.confirmed_from = s.window_from AND s.confirmed_to <= s.window_to)
		  OR (COALESCE(s.order_code, '') = 'DESC' AND s.confirmed_to = s.window_to AND s.confirmed_from >= s.window_from)))`,
	"every page of a walk that confirmed something kept to the order": `SELECT s.id FROM ing_plan_slice s ` + earlyPages + `
		WHERE s.confirmed_to IS NOT NULL AND COALESCE(b.order_code, '') <> s.order_code`,
	"no walk confirmed more than it saw": `SELECT s.id FROM ing_plan_slice s LEFT JOIN (
		  SELECT r.slice_id, COUNT(*) pages, MAX(b.ordinal) last, MIN(b.ts_min) earliest, MAX(b.ts_max) latest FROM ing_task_run r
		    JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no = r.scan_no AND b.phase_code = 'SEARCH' AND b.status_code = 'SUCCEEDED'
		   WHERE r.status_code = 'PARTIAL' GROUP BY r.slice_id) w ON w.slice_id = s.id
		WHERE s.confirmed_to IS NOT NULL AND (COALESCE(w.pages, 0) = 0 OR w.pages <> w.last
		   OR (s.order_code = 'ASC' AND s.confirmed_to > w.latest) OR (s.order_code = 'DESC' AND s.confirmed_from <= w.earliest))`,
	"a slice that ended early says why": `SELECT s.id FROM ing_plan_slice s WHERE (s.status_code IN ('PARTIAL', 'SPLIT') AND s.reslice IS NULL) OR (s.status_code NOT IN ('PARTIAL', 'SPLIT', 'FAILED') AND s.reslice IS NOT NULL)`,
	"slice and task agree": `SELECT t.id FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE (s.status_code = 'SUCCEEDED') <> (t.status_code = 'SUCCEEDED') OR (s.status_code = 'FAILED') <> (t.status_code = 'FAILED')
		   OR (s.status_code = 'CANCELLED') <> (t.status_code = 'CANCELLED') OR (s.status_code IN ('PARTIAL', 'SPLIT')) <> (t.status_code = 'PARTIAL')
		   OR (s.status_code = 'READY') <> (t.status_code IN ('QUEUED', 'RUNNING'))`,
	"every slice has exactly one task":       `SELECT s.id FROM ing_plan_slice s WHERE (SELECT COUNT(*) FROM ing_task t WHERE t.slice_id = s.id) <> 1`,
	"a page's fence is not above its task's": `SELECT b.id FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id WHERE b.lease_count > t.lease_count`,
	"fences of committed pages never fall": `SELECT b.id FROM ing_task_run_batch b JOIN ing_task_run_batch k ON k.task_id = b.task_id AND k.id < b.id
		WHERE b.status_code = 'SUCCEEDED' AND k.status_code = 'SUCCEEDED' AND k.lease_count > b.lease_count`,
	"a page accounts for every item": `SELECT id FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED' AND record_count <> n_insert + n_update + n_same + n_stale + n_dup + n_quarantine`,
	"quarantined items are there":    `SELECT b.id FROM ing_task_run_batch b WHERE b.n_quarantine <> (SELECT COUNT(*) FROM ing_quarantine_seen s JOIN ing_quarantine q ON q.id = s.quarantine_id WHERE s.batch_id = b.id)`,
	"what is open in quarantine is there once, and only that is known by its key": `SELECT q.id FROM ing_quarantine q
		WHERE (q.status_code IN ('OPEN', 'RETRYING')) <> ((SELECT COUNT(*) FROM ing_quarantine_seen s WHERE s.quarantine_id = q.id AND s.open_key IS NOT NULL) = 1)`,
	"an open signal has its key, and a closed one none": `SELECT id FROM ing_signal WHERE (status_code IN ('NEW', 'PLANNED')) <> (open_key IS NOT NULL) OR (status_code <> 'NEW') <> (plan_id IS NOT NULL)`,
	"records come from committed pages only":            `SELECT r.id FROM ing_record r WHERE NOT EXISTS (SELECT 1 FROM ing_task_run_batch b WHERE b.id = r.batch_id AND b.status_code = 'SUCCEEDED')`,
	"a record has one row for each of its versions":     `SELECT r.id FROM ing_record r WHERE r.rev <> (SELECT COUNT(*) FROM ing_record_rev v WHERE v.record_id = r.id)`,
	"a record has one event for each of its versions":   `SELECT r.id FROM ing_record r WHERE r.rev <> (SELECT COUNT(*) FROM ing_outbox o WHERE o.record_id = r.id AND o.rev BETWEEN 1 AND r.rev)`,
	"an event tells of a version that is stored": `SELECT o.id FROM ing_outbox o WHERE o.record_id IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM ing_record_rev v WHERE v.record_id = o.record_id AND v.rev = o.rev)`,
	"inserts and updates of the ledger are the versions of the records": `SELECT b.n FROM (SELECT COALESCE(SUM(n_insert + n_update), 0) n FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED') b,
		(SELECT COALESCE(SUM(rev), 0) n FROM ing_record) r WHERE b.n <> r.n`,
	"attempts stay within what is permitted":       `SELECT id FROM ing_task WHERE attempt_count > max_attempts OR attempt_count < 0`,
	"every request was granted before it was sent": `SELECT id FROM ing_request WHERE sent_at IS NOT NULL AND sent_at < acquired_at`,
	"a finished run has no request in flight":      `SELECT q.id FROM ing_request q JOIN ing_task_run r ON r.id = q.run_id WHERE r.status_code <> 'RUNNING' AND q.finished_at IS NULL`,
	"a finished run has no open page":              `SELECT b.id FROM ing_task_run_batch b JOIN ing_task_run r ON r.id = b.run_id WHERE r.status_code <> 'RUNNING' AND b.status_code = 'RUNNING'`,
}

// tables is a database, or a transaction of one.
type tables interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// CheckInvariants looks at the tables from outside.
func CheckInvariants(t testing.TB, db *sql.DB) {
	t.Helper()
	for _, promise := range broken(t, db) {
		t.Errorf("broken: %s", promise)
	}
}

// broken lists the promises that the tables do not keep, each with a few rows that show it.
func broken(t testing.TB, db tables) []string {
	t.Helper()
	all := slices.Concat(lostWatermarks(t, db), wrongSplits(t, db), wrongGroups(t, db))
	for name, query := range invariants {
		var ids []int64
		scan(t, db, query, func(r *sql.Rows) error {
			var id int64
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		})
		if len(ids) > 0 {
			all = append(all, fmt.Sprintf("%s: rows %v", name, ids[:min(len(ids), 5)]))
		}
	}
	return all
}

const frontierHolds = "the watermark stands where the coverage ends"

// lostWatermarks computes every frontier again from the coverage alone: the watermark never passes it.
func lostWatermarks(t testing.TB, db tables) (all []string) {
	t.Helper()
	covered := map[int64][]patra.Window{}
	scan(t, db, `SELECT cursor_id, window_from, window_to FROM ing_coverage UNION ALL SELECT cursor_id, window_from, window_to FROM ing_gap_waiver WHERE revoked_at IS NULL`, func(r *sql.Rows) error {
		var id int64
		var w patra.Window
		err := r.Scan(&id, &w.From, &w.To)
		covered[id] = append(covered[id], w)
		return err
	})
	scan(t, db, `SELECT id, origin_instant, normalized_instant FROM ing_cursor`, func(r *sql.Rows) error {
		var id int64
		var origin, value patra.Instant
		err := r.Scan(&id, &origin, &value)
		if frontier := patra.NewCoverage(covered[id]...).Frontier(origin); value != frontier {
			all = append(all, fmt.Sprintf("%s: cursor %d stands at %s, but the coverage reaches to %s", frontierHolds, id, value, frontier))
		}
		return err
	})
	return all
}

func scan(t testing.TB, db tables, query string, use func(*sql.Rows) error) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
