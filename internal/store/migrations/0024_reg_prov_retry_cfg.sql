-- How patiently one page is asked for.
-- live_key holds the scope while the row is open and nothing after: two open rows of one scope cannot be stored.
-- +goose Up
CREATE TABLE IF NOT EXISTS reg_prov_retry_cfg (
  id id,
  provenance_code code,
  endpoint_name code?,
  operation_code code?,
  effective_from us,
  effective_to us?,
  lifecycle_code code,
  version n,
  body json,
  source_file_sha256 hash,
  live_key key(160)?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_reg_retry_live (live_key),
  INDEX idx_reg_retry_at (provenance_code, endpoint_name, operation_code, effective_from)
);
