-- How many requests of an archived task left under a key in each hour, and what they cost: whoever counts a quota from the
-- beginning of its window, or reports how politely was asked, must know of them.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_archive_sent (
  task_id n,
  gate_key key(200),
  hour_at us,
  requests n,
  cost n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (task_id, gate_key, hour_at),
  INDEX idx_archive_sent (gate_key, hour_at)
);
