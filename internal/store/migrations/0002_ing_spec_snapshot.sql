-- A compiled source configuration, stored once and never changed.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_spec_snapshot (
  spec_fingerprint hash,
  provenance_code code,
  endpoint_name code,
  operation_code code,
  snapshot json,
  field_origin json,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (spec_fingerprint)
);
