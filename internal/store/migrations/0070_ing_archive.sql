-- Tasks whose pages, requests and items were put into an archive: where they are, and what they add up to.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_archive (
  task_id n,
  plan_id n,
  slice_id n,
  location text,
  pages n,
  requests n,
  items n,
  written n,
  rows_sha256 hash,
  archived_at us,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (task_id),
  INDEX idx_archive_plan (plan_id)
);
