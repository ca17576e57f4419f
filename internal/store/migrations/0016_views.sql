-- What people read: the same rows with times as text.
-- +goose Up
CREATE VIEW v_plan AS
SELECT id, plan_key, provenance_code, endpoint_name, operation_code, status_code, reason_code, slice_count,
       ISO(window_from) AS window_from, ISO(window_to) AS window_to, ISO(created_at) AS created_at
  FROM ing_plan;

CREATE VIEW v_slice AS
SELECT id, plan_id, slice_no, purpose_code, status_code, ISO(window_from) AS window_from, ISO(window_to) AS window_to,
       ISO(fetch_from) AS fetch_from, ISO(fetch_to) AS fetch_to, ISO(closed_at) AS closed_at
  FROM ing_plan_slice;

CREATE VIEW v_task AS
SELECT id, plan_id, slice_id, provenance_code, endpoint_name, operation_code, status_code, priority, attempt_count, max_attempts,
       lease_owner, lease_count, ISO(leased_until) AS leased_until, ISO(scheduled_at) AS scheduled_at, scan_no, next_ordinal, last_error
  FROM ing_task;

CREATE VIEW v_batch AS
SELECT id, plan_id, slice_id, task_id, run_id, batch_no, scan_no, ordinal, status_code, has_next, end_code, provider_total, record_count,
       n_insert, n_update, n_same, n_stale, n_dup, n_quarantine, n_outside, ISO(started_at) AS started_at, ISO(committed_at) AS committed_at
  FROM ing_task_run_batch;

CREATE VIEW v_cursor AS
SELECT id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key,
       ISO(origin_instant) AS origin, ISO(normalized_instant) AS watermark, ISO(sealed_instant) AS complete_through, version, ISO(updated_at) AS updated_at
  FROM ing_cursor;

CREATE VIEW v_coverage AS
SELECT id, cursor_id, slice_id, ISO(window_from) AS window_from, ISO(window_to) AS window_to, kind_code, state_code, total_code,
       count_before, count_after, ids_seen, stored, quarantined, rescans, ISO(closed_at) AS closed_at
  FROM ing_coverage;

CREATE VIEW v_record AS
SELECT id, provenance_code, record_type, provider_id, rev, deleted, ISO(provider_updated_at) AS updated_at, ISO(first_seen_at) AS first_seen,
       ISO(last_refreshed_at) AS last_seen, batch_id, fields
  FROM ing_record;

-- What the watermark may never do, and what a page may never be: each must be empty.
CREATE VIEW v_check_counts AS
SELECT id AS batch_id, record_count, n_insert + n_update + n_same + n_stale + n_dup + n_quarantine AS accounted
  FROM ing_task_run_batch
 WHERE status_code = 'SUCCEEDED' AND record_count <> n_insert + n_update + n_same + n_stale + n_dup + n_quarantine;

CREATE VIEW v_check_chain AS
SELECT c.id AS cursor_id, c.version, COUNT(e.id) AS events, MAX(e.new_instant) AS last_value, c.normalized_instant
  FROM ing_cursor c JOIN ing_cursor_event e ON e.cursor_id = c.id
 GROUP BY c.id, c.version, c.normalized_instant
HAVING COUNT(e.id) <> c.version OR MAX(e.new_instant) <> c.normalized_instant;
