package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"patra"
)

// Bulk is how much a store is filled with.
type Bulk struct {
	Batches int64 // pages of the ledger, ten to a task
	Records int64
	Queued  int64 // tasks that wait, beside those that have pages; 0: one in ten of those, 2,000 at most
}

// bulkSources share everything equally. They are shipped ones, so that whoever asks for their files finds them.
var bulkSources = []string{"crossref", "datacite", "europepmc", "pubmed"}

// tongue is how a database says what FillWork wants to say.
type tongue struct{ hash, blob, div, numbers string }

var (
	embeddedTongue = tongue{hash: "printf('%%064x', %s)", blob: "CAST('%s' AS BLOB)", div: "(%s) / %d", numbers: "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT n FROM c) AS numbers"}
	serverTongue   = tongue{hash: "LPAD(LOWER(HEX(%s)), 64, '0')", blob: "CAST('%s' AS BINARY)", div: "(%s) DIV %d", numbers: "(SELECT seq AS n FROM seq_1_to_%d) AS numbers"}
)

// FillWork makes years of work in a moment: each source has one watermark with a plan for every hundred slices, a slice of an
// hour for each task, and one task in five hundred has failed. The last ones are in the queue. What people and the keeping of
// house leave behind is there too, so that no table that grows is empty.
func FillWork(t testing.TB, db *sql.DB, b Bulk) {
	t.Helper()
	tasks, worked := b.Batches/10+b.Queued, b.Batches/10
	waiting := b.Queued
	if waiting == 0 {
		waiting = min(tasks/10, 2000)
	}
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
	say, begin := embeddedTongue, "PRAGMA synchronous = OFF"
	if mysql(db) {
		say, begin = serverTongue, "SET SESSION sql_mode = CONCAT(@@sql_mode, ',PIPES_AS_CONCAT')"
	}
	hash := func(of string) string { return fmt.Sprintf(say.hash, of) }
	blob := func(of string) string { return fmt.Sprintf(say.blob, of) }
	div := func(of string, by int64) string { return fmt.Sprintf(say.div, of, by) }
	numbers := func(n int64) string { return fmt.Sprintf(say.numbers, max(n, 1)) }
	conn, err := db.Conn(t.Context()) // what is said of a session holds for one connection
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), fmt.Sprintf(query, args...)); err != nil {
			t.Fatalf("%s\n%s", err, fmt.Sprintf(query, args...))
		}
	}
	run("%s", begin)
	// The window of task n is an hour; tasks of a source follow each other.
	starts := fmt.Sprintf("%d + (%s) * %d", from, div("n - 1", sources), hour)
	state := func(failed, waits, done string) string {
		return fmt.Sprintf("CASE WHEN n > %d THEN '%s' WHEN n %% 500 = 0 THEN '%s' ELSE '%s' END", tasks-waiting, waits, failed, done)
	}
	run(`INSERT INTO ing_cursor (id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code, expr_proto_hash, origin_instant, origin_code, cursor_value,
		normalized_instant, sealed_instant, version, plan_version, updated_at, created_at)
		SELECT n, %s, 'works', 'HARVEST', 'time', 'GLOBAL', '', 'TIME', 'FORWARD', %s, %d, 'USER', '', %d, %d, 1, 1, %d, %d FROM %s`, source("n"), hash("1"), from, from+1000*hour, from+1000*hour, from, from, numbers(sources))
	run(`INSERT INTO ing_spec_snapshot (spec_fingerprint, provenance_code, endpoint_name, operation_code, snapshot, field_origin, created_at) VALUES (%s, 'crossref', 'works', 'HARVEST', '{}', '{}', %d)`, hash("2"), from)
	plans := max(tasks/100+1, 500)
	run(`INSERT INTO ing_plan (id, plan_key, generation, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_id, window_from, window_to, window_inputs, expr_proto_hash, expr_proto_snapshot, spec_fingerprint,
		slice_strategy_code, slice_params, priority, slice_count, status_code, warnings, version, created_at)
		SELECT n, 'plan/' || n, 0, 1, %s, 'works', 'HARVEST', (n %% %d), %d + n * %d, %d + (n + 1) * %d, '{}', %s, '{}', %s, 'TIME', '{}', 2, 100, 'READY', '[]', 1, %d + n FROM %s`,
		source("n"), sources, from, hour, from, hour, hash("1"), hash("2"), from, numbers(plans))
	run(`UPDATE ing_plan SET cursor_id = %d WHERE cursor_id = 0`, sources)
	run(`INSERT INTO ing_plan_slice (id, plan_id, cursor_id, provenance_code, slice_no, purpose_code, part_no, part_count, slice_spec, slice_signature_hash, expr_snapshot, expr_hash, window_from, window_to, fetch_from, fetch_to,
		status_code, closed_at, created_at)
		SELECT n, 1 + %s, 1 + (n - 1) %% %d, %s, n, 'GAP', 1, 1, '{}', %s, '{}', %s, %s, %s + %d, %s, %s + %d, %s, %d, %d FROM %s`,
		div("n", 100), sources, source("n"), hash("n"), hash("1"), starts, starts, hour, starts, starts, hour, state("FAILED", "READY", "SUCCEEDED"), from, from, numbers(tasks))
	run(`INSERT INTO ing_task (id, schedule_instance_id, plan_id, slice_id, cursor_id, provenance_code, endpoint_name, operation_code, partition_key, params, expr_hash, spec_fingerprint, trigger_type_code, idempotent_key, priority,
		scheduled_at, status_code, cancel_requested, lease_count, leased_until, attempt_count, max_attempts, scan_no, next_ordinal, next_detail_ordinal, created_at)
		SELECT id, 1, plan_id, id, cursor_id, provenance_code, 'works', 'HARVEST', provenance_code || '/works/HARVEST', '{}', expr_hash, %s, 'MANUAL', %s, 2, %d,
		CASE status_code WHEN 'READY' THEN 'QUEUED' ELSE status_code END, 0, 1, 0, 1, 5, 1, 10, 0, %d + id FROM ing_plan_slice`, hash("2"), hash("id"), from, from)
	run(`INSERT INTO ing_task_run (id, task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, expr_hash, spec_fingerprint, lease_owner, window_from, window_to, scan_no, exhausted, stats, status_code, started_at, finished_at, created_at)
		SELECT id, id, 1, plan_id, id, provenance_code, 'HARVEST', expr_hash, %s, 'worker', window_from, window_to, 1, 1, '{}', status_code, %d + id, %d + id, %d + id FROM ing_plan_slice WHERE status_code <> 'READY'`, hash("2"), from, from, from)
	run(`INSERT INTO ing_coverage (cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, ids_seen, stored, quarantined, known_missing, rescans, closed_at, created_at)
		SELECT cursor_id, id, window_from, window_to, 'SLICE', 'READ', 'EXACT', 100, 100, 0, 0, 0, %d, %d FROM ing_plan_slice WHERE status_code = 'SUCCEEDED'`, from, from)
	run(`INSERT INTO ing_cursor_event (cursor_id, seq, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, direction_code, cause_code, prev_value, new_value, prev_instant, new_instant,
		plan_id, slice_id, task_id, run_id, idempotent_key, created_at)
		SELECT cursor_id, id, provenance_code, 'works', 'HARVEST', 'time', 'GLOBAL', '', 'TIME', 'FORWARD', 'ADVANCE', '', '', window_from, window_to, plan_id, id, id, id, %s, %d + id FROM ing_plan_slice WHERE status_code = 'SUCCEEDED'`, hash("id"), from)
	indexed := unindexed(t, conn, "ing_task_run_batch", "ing_record", "ing_request")
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
			SELECT %s, 'work', '10.5555/' || (n + %d), 1, %d + n * 1000000, %s, 0, '{"title":"Work ' || n || '"}', %s, 'JSON', %d, %d, %d + n + %d, %d, 1 + n %% %d, %s, %s, %d FROM %s`,
			source("n"), at, from, hash("n"), blob("{}"), from, from, from, at, from, max(b.Batches, 1), hash("1"), hash("2"), from, numbers(min(500_000, b.Records-at)))
	}
	indexed()
	run(`INSERT INTO ing_quarantine (batch_id, item_no, kind_code, provenance_code, record_type, provider_id, error_code, field_path, fragment, status_code, created_at)
		SELECT id, 1, 'ITEM', provenance_code, 'work', 'bad' || id, 'MISSING_ID', 'id', %s, 'OPEN', created_at FROM ing_task_run_batch WHERE id %% 100 = 0`, blob(`{"title":1}`))
	run(`INSERT INTO ing_outbox (event_type, record_id, rev, created_at, seq) SELECT 'patra.record.upserted', id, rev, created_at, id FROM ing_record WHERE id <= %d`, b.Batches)
	run(`INSERT INTO ing_record_rev (record_id, rev, change_code, content_sha256, observed_at, batch_id, created_at) SELECT id, 1, 'NEW', content_sha256, observed_at, batch_id, created_at FROM ing_record WHERE id <= %d`, b.Records/10)
	run(`INSERT INTO ing_quarantine_seen (batch_id, item_no, quarantine_id, created_at) SELECT batch_id, item_no, id, created_at FROM ing_quarantine`)
	run(`INSERT INTO ing_task_item (task_id, scan_no, seq, provider_id, search_ordinal, status_code, created_at) SELECT t.id, 1, n, '10.5555/' || n, 1, 'DONE', t.created_at FROM ing_task t, %s WHERE t.id %% 5 = 0`, numbers(10))
	few := numbers(max(worked, 100))
	run(`INSERT INTO ing_healing (task_id, run_id, provenance_code, endpoint_name, operation_code, action_code, reason_code, created_at) SELECT n, n, %s, 'works', 'HARVEST', 'SHRINK', 'TOO_LARGE', %d + n FROM %s`, source("n"), from, few)
	run(`INSERT INTO ing_signal (provenance_code, record_type, provider_id, reason_code, open_key, status_code, plan_id, created_at) SELECT %s, 'work', '10.5555/' || n, 'MANUAL', CASE WHEN n %% 50 = 0 THEN %s END, CASE WHEN n %% 50 = 0 THEN 'NEW' ELSE 'DONE' END, 1 + n %% %d, %d + n FROM %s`,
		source("n"), hash("n"), plans, from, few)
	run(`INSERT INTO ing_audit (seq, actor, action_code, target, reason, detail, prev_hash, hash, created_at) SELECT n, 'ada', 'PAUSE', 'task:' || n, '', '{}', %s, %s, %d + n FROM %s`, hash("n - 1"), hash("n"), from, few)
	run(`UPDATE ing_audit_head SET seq = (SELECT MAX(seq) FROM ing_audit), hash = (SELECT MAX(hash) FROM ing_audit)`)
	run(`INSERT INTO ing_evidence (body_sha256, stored_sha256, size, stored_size, codec_code, location, redacted, last_ref_at, created_at) SELECT body_sha256, body_sha256, 1000, 100, 'ZSTD', '', 0, created_at, created_at FROM ing_task_run_batch WHERE id %% 10 = 0`)
	run(`INSERT INTO ing_candidate (plan_id, bucket, seq, provider_id, reason_code, created_at) SELECT 1 + n %% %d, 1, n, '10.5555/' || n, 'STALE', %d FROM %s`, plans, from, few)
	// What is in the archive has left the tables.
	run(`INSERT INTO ing_archive (task_id, plan_id, slice_id, location, pages, requests, items, written, rows_sha256, archived_at, created_at) SELECT %d + n, %d + n, %d + n, '', 10, 10, 0, 100, %s, %d, %d FROM %s`, tasks, plans, tasks, hash("n"), from, from, few)
	run(`INSERT INTO ing_archive_batch (batch_id, task_id, run_id, created_at) SELECT %d + n, %d + n, %d + n, %d FROM %s`, 10*b.Batches, tasks, tasks, from, few)
	run(`INSERT INTO ing_schedule_instance (scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code, triggered_at, trigger_params, provenance_code, endpoint_name, operation_code, status_code, created_at)
		SELECT 'patra', CASE WHEN n %% 10 = 0 THEN 'daily' ELSE 'by hand' END, 'fire/' || n, 'SCHEDULE', %d + n, '{}', %s, 'works', 'HARVEST', 'PLANNED', %d + n FROM %s`, from, source("n"), from, few)
	run(`INSERT INTO ing_outbox_delivery (sink_name, seq, order_key, status_code, attempts, next_at, created_at) SELECT 'feed', seq, %s, CASE WHEN seq %% 2 = 0 THEN 'WAITING' ELSE 'ASIDE' END, 1, %d, created_at FROM ing_outbox WHERE seq %% 20 = 0`, hash("seq"), from)
	run(`INSERT INTO ing_lease (name, lease_count, leased_until, position, created_at) VALUES ('relay/feed', 1, 0, 1, %d)`, from)
}

// unindexed takes the indexes of tables away, and gives what puts them there again: to sort a million rows once is far quicker
// than to find a place for each. A server keeps its indexes, as it would copy the whole table.
func unindexed(t testing.TB, conn *sql.Conn, tables ...string) (again func()) {
	t.Helper()
	var made []string
	do := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, table := range tables {
		rows, err := conn.QueryContext(t.Context(), "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", table)
		if err != nil {
			return func() {} // there is no such table on a server
		}
		var names []string
		for rows.Next() {
			var name, text string
			if err := rows.Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			names, made = append(names, name), append(made, text)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			do("DROP INDEX " + name)
		}
	}
	return func() {
		for _, text := range made {
			do(text)
		}
	}
}
