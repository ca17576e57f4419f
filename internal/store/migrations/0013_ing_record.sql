-- The records, one row for each business key.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_record (
  id id,
  provenance_code code,
  record_type code,
  provider_id key(512),
  rev n,
  provider_updated_at us?,
  content_sha256 hash,
  deleted n,
  merged_into key(512)?,
  fields json,
  raw blob,
  raw_code code,
  first_seen_at us,
  observed_at us,
  changed_at us,
  last_refreshed_at us,
  batch_id n,
  expr_hash hash,
  spec_fingerprint hash,
  created_at us,
  record_remarks json?,
  UNIQUE uk_record (provenance_code, record_type, provider_id),
  INDEX idx_record_changed (provenance_code, changed_at, id),
  INDEX idx_record_stale (provenance_code, record_type, last_refreshed_at),
  INDEX idx_record_spec (provenance_code, spec_fingerprint)
);
