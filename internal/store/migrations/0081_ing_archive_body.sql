-- Archived pages whose answers are still kept, for as long as they are: whoever checks the answers of a source finds them.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_archive_body (
  batch_id n,
  task_id n,
  run_id n,
  batch_no n,
  provenance_code code,
  body_sha256 hash,
  committed_at us,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (batch_id),
  INDEX idx_archive_body (body_sha256),
  INDEX idx_archive_body_task (task_id)
);
