-- Committed pages that are in an archive: what a record still says of where it came from.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_archive_batch (
  batch_id n,
  task_id n,
  run_id n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (batch_id),
  INDEX idx_archive_task (task_id)
);
