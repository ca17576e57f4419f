-- The completeness ledger: every window that is planned or closed, and how far it is proved. Where windows overlap, the
-- newest closed one speaks. And the chain of a cursor's events, whose last one counts: a person may move it back.
-- +goose Up
CREATE VIEW v_completeness AS
SELECT cursor_id, id AS slice_id, window_from AS from_us, window_to AS to_us, ISO(window_from) AS window_from, ISO(window_to) AS window_to,
       CASE WHEN estimate_source_code = 'COUNT' THEN 'COUNTED' ELSE 'OPEN' END AS state_code,
       CASE WHEN estimate_source_code = 'COUNT' THEN estimate_records END AS counted, NULL AS seen, NULL AS stored, NULL AS quarantined, NULL AS known_missing, NULL AS closed_at
  FROM ing_plan_slice
 WHERE status_code = 'READY' AND cursor_id IS NOT NULL
UNION ALL
SELECT cursor_id, slice_id, window_from, window_to, ISO(window_from), ISO(window_to), state_code, count_after, ids_seen, stored, quarantined, known_missing, ISO(closed_at)
  FROM ing_coverage;

DROP VIEW IF EXISTS v_check_chain;

CREATE VIEW v_check_chain AS
SELECT c.id AS cursor_id, c.version, COUNT(e.id) AS events, MAX(CASE WHEN e.seq = c.version THEN e.new_instant END) AS last_value, c.normalized_instant
  FROM ing_cursor c JOIN ing_cursor_event e ON e.cursor_id = c.id
 GROUP BY c.id, c.version, c.normalized_instant
HAVING COUNT(e.id) <> c.version OR MAX(CASE WHEN e.seq = c.version THEN e.new_instant END) <> c.normalized_instant;
