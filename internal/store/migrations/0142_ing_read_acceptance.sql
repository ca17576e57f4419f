-- A person's word that windows of a source which were read without a proof are enough. live_source holds the source until it is revoked.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_read_acceptance (
  id id,
  provenance_code code,
  live_source code?,
  reason text,
  approved_by key(128),
  revoked_at us?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_read_acceptance_live (live_source),
  INDEX idx_read_acceptance (provenance_code, id)
);
