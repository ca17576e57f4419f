package storetest

import (
	"database/sql"
	"fmt"
	"testing"

	"patra"
)

// Bulk is how much a store is filled with.
type Bulk struct {
	Batches int64 // pages of the ledger, ten to a task
	Records int64
}

// bulkSources share everything equally. They are shipped ones, so that whoever asks for their files finds them.
var bulkSources = []string{"crossref", "datacite", "europepmc", "pubmed"}

// FillWork makes years of work in a moment, in an embedded store: each source has one watermark with a plan for every hundred
// slices, a slice of an hour for each task, and one task in five hundred has failed. The last ones are in the queue.
func FillWork(t testing.TB, db *sql.DB, b Bulk) {
	t.Helper()
	tasks := b.Batches / 10
	sources := int64(len(bulkSources))
	from := int64(patra.Date(2010, 1, 1))
	const hour = int64(patra.Hour)
	source := func(of string) string {
		text := "CASE " + of + " % " + fmt.Sprint(sources)
		for i, s := range bulkSources {
			text += fmt.Sprintf(" WHEN %d THEN '%s'", i, s)
		}
		return text + " END"
	}
	hash := func(of string) string { return "printf('%064x', " + of + ")" }
	numbers := func(n int64) string {
		return fmt.Sprintf("(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c)", max(n, 1))
	}
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(fmt.Sprintf(query, args...)); err != nil {
			t.Fatalf("%s\n%s", err, query)
		}
	}
	run("PRAGMA synchronous = OFF")
	// The window of task n is an hour; tasks of a source follow each other.
	starts := fmt.Sprintf("%d + ((n - 1) / %d) * %d", from, sources, hour)
	state := func(failed, waits, done string) string {
		return fmt.Sprintf("CASE WHEN n > %d THEN '%s' WHEN n %% 500 = 0 THEN '%s' ELSE '%s' END", tasks-min(tasks/10, 2000), waits, failed, done)
	}
	run(`INSERT INTO ing_cursor (id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code, expr_proto_hash, origin_instant, origin_code, cursor_value,
		normalized_instant, sealed_instant, version, plan_version, updated_at, created_at)
		SELECT n, %s, 'works', 'HARVEST', 'time', 'GLOBAL', '', 'TIME', 'FORWARD', %s, %d, 'USER', '', %d, %d, 1, 1, %d, %d FROM %s`, source("n"), hash("1"), from, from+1000*hour, from+1000*hour, from, from, numbers(sources))
	plans := tasks/100 + 1
	run(`INSERT INTO ing_plan (id, plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_id, window_from, window_to, window_inputs, expr_proto_hash, expr_proto_snapshot, spec_fingerprint,
		slice_strategy_code, slice_params, priority, slice_count, status_code, warnings, version, created_at)
		SELECT n, 'plan/' || n, 0, 1, %s, 'works', 'HARVEST', (n %% %d), %d + n * %d, %d + (n + 1) * %d, '{}', %s, '{}', %s, 'TIME', '{}', 2, 100, 'READY', '[]', 1, %d + n FROM %s`,
		source("n"), sources, from, hour, from, hour, hash("1"), hash("2"), from, numbers(plans))
	run(`UPDATE ing_plan SET cursor_id = %d WHERE cursor_id = 0`, sources)
	run(`INSERT INTO ing_plan_slice (id, plan_id, cursor_id, provenance_code, slice_no, purpose_code, part_no, part_count, slice_spec, slice_signature_hash, expr_snapshot, expr_hash, window_from, window_to, fetch_from, fetch_to,
		status_code, closed_at, created_at)
		SELECT n, 1 + n / 100, 1 + (n - 1) %% %d, %s, n, 'GAP', 1, 1, '{}', %s, '{}', %s, %s, %s + %d, %s, %s + %d, %s, %d, %d FROM %s`,
		sources, source("n"), hash("n"), hash("1"), starts, starts, hour, starts, starts, hour, state("FAILED", "READY", "SUCCEEDED"), from, from, numbers(tasks))
	run(`INSERT INTO ing_task (id, schedule_instance_id, plan_id, slice_id, cursor_id, provenance_code, endpoint_name, operation_code, partition_key, params, expr_hash, spec_fingerprint, trigger_type_code, idempotent_key, priority,
		scheduled_at, status_code, cancel_requested, lease_count, leased_until, attempt_count, max_attempts, scan_no, next_ordinal, next_detail_ordinal, created_at)
		SELECT id, 1, plan_id, id, cursor_id, provenance_code, 'works', 'HARVEST', provenance_code || '/works/HARVEST', '{}', expr_hash, %s, 'MANUAL', %s, 2, %d,
		CASE status_code WHEN 'READY' THEN 'QUEUED' ELSE status_code END, 0, 1, 0, 1, 5, 1, 10, 0, %d + id FROM ing_plan_slice`, hash("2"), hash("id"), from, from)
	run(`INSERT INTO ing_task_run (id, task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, expr_hash, spec_fingerprint, lease_owner, window_from, window_to, scan_no, exhausted, stats, status_code, started_at, finished_at, created_at)
		SELECT id, id, 1, plan_id, id, provenance_code, 'HARVEST', expr_hash, %s, 'worker', window_from, window_to, 1, 1, '{}', status_code, %d + id, %d + id, %d + id FROM ing_plan_slice WHERE status_code <> 'READY'`, hash("2"), from, from, from)
	run(`INSERT INTO ing_coverage (cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, ids_seen, stored, quarantined, known_missing, rescans, closed_at, created_at)
		SELECT cursor_id, id, window_from, window_to, 'SLICE', 'FETCHED', 'EXACT', 100, 100, 0, 0, 0, %d, %d FROM ing_plan_slice WHERE status_code = 'SUCCEEDED'`, from, from)
	run(`INSERT INTO ing_cursor_event (cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code, cause_code, prev_value, new_value, prev_instant, new_instant,
		plan_id, slice_id, task_id, run_id, idempotent_key, created_at)
		SELECT cursor_id, id, provenance_code, 'works', 'HARVEST', 'time', 'GLOBAL', '', 'TIME', 'FORWARD', 'ADVANCE', '', '', window_from, window_to, plan_id, id, id, id, %s, %d + id FROM ing_plan_slice WHERE status_code = 'SUCCEEDED'`, hash("id"), from)
	for at := int64(0); at < b.Batches; at += 100_000 {
		run(`INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, provenance_code, operation_code, expr_hash, batch_no, scan_no, phase_code, ordinal, done_ordinal, lease_count, has_next, record_count, n_insert, n_update, n_same, n_stale,
			n_dup, n_quarantine, n_outside, idempotent_key, body_sha256, stats, error, status_code, started_at, committed_at, created_at)
			SELECT t.id, t.id, t.id, t.plan_id, t.provenance_code, 'HARVEST', t.expr_hash, n, 1, 'SEARCH', n, CASE WHEN t.status_code = 'SUCCEEDED' THEN n END, 1, 1, 10, 10, 0, 0, 0, 0, 0, 0, %s, %s, '{}',
			CASE WHEN t.status_code = 'SUCCEEDED' THEN NULL ELSE '{"level":"L1","code":"HTTP","text":"status 500"}' END, t.status_code, %d + t.id * 10 + n, %d + t.id * 10 + n, %d + t.id * 10 + n
			FROM ing_task_run t, %s WHERE t.id > %d AND t.id <= %d`, hash("t.id * 10 + n"), hash("t.id * 10 + n"), from, from, from, numbers(10), at/10, (at+100_000)/10)
	}
	run(`INSERT INTO ing_request (request_id, run_id, batch_id, kind_code, gate_key, cost, waited, acquired_at, sent_at, finished_at, http_status, bytes, outcome_code, created_at)
		SELECT 'r' || id, run_id, id, 'PAGE', provenance_code, 1, 0, started_at, started_at, committed_at, 200, 1000, 'OK', created_at FROM ing_task_run_batch`)
	for at := int64(0); at < b.Records; at += 500_000 {
		run(`INSERT INTO ing_record (provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at, batch_id, expr_hash, spec_fingerprint, created_at)
			SELECT %s, 'work', '10.5555/' || (n + %d), 1, %d + n * 1000000, %s, 0, '{"title":"Work ' || n || '"}', CAST('{}' AS BLOB), 'JSON', %d, %d, %d + n + %d, %d, 1 + n %% %d, %s, %s, %d FROM %s`,
			source("n"), at, from, hash("n"), from, from, from, at, from, max(b.Batches, 1), hash("1"), hash("2"), from, numbers(min(500_000, b.Records-at)))
	}
	run(`INSERT INTO ing_quarantine (batch_id, item_no, kind_code, provenance_code, record_type, provider_id, error_code, field_path, fragment, status_code, created_at)
		SELECT id, 1, 'ITEM', provenance_code, 'work', 'bad' || id, 'MISSING_ID', 'id', CAST('{"title":1}' AS BLOB), 'OPEN', created_at FROM ing_task_run_batch WHERE id %% 100 = 0`)
	run(`INSERT INTO ing_outbox (event_type, record_id, rev, created_at, seq) SELECT 'patra.record.upserted', id, rev, created_at, id FROM ing_record WHERE id <= %d`, b.Batches)
}
