-- The chain of a cursor's events, whose first ones may be in an archive: one event stands for them, under the last number.
-- +goose Up
DROP VIEW IF EXISTS v_check_chain;

CREATE VIEW v_check_chain AS
SELECT c.id AS cursor_id, c.version, COUNT(e.id) AS events, MAX(CASE WHEN e.seq = c.version THEN e.new_instant END) AS last_value, c.normalized_instant
  FROM ing_cursor c JOIN ing_cursor_event e ON e.cursor_id = c.id
 GROUP BY c.id, c.version, c.normalized_instant
HAVING COUNT(e.id) <> c.version - COALESCE(MAX(CASE WHEN e.cause_code = 'COMPACT' THEN e.seq END), 1) + 1
    OR MAX(CASE WHEN e.seq = c.version THEN e.new_instant END) <> c.normalized_instant;
