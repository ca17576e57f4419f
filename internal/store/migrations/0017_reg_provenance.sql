-- The sources that were ever applied, with their newest names. Whoever changes a source locks its row here.
-- +goose Up
CREATE TABLE IF NOT EXISTS reg_provenance (
  provenance_code code,
  name text,
  record_type code,
  docs text,
  defaults json,
  lifecycle_code code,
  version n,
  source_file_sha256 hash,
  updated_at us,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (provenance_code)
);
