-- The biography of a record: one row for each version that replaced another.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_record_rev (
  record_id n,
  rev n,
  change_code code,
  content_sha256 hash,
  provider_updated_at us?,
  observed_at us,
  batch_id n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (record_id, rev),
  INDEX idx_rev_batch (batch_id)
);
