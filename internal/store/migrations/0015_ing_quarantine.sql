-- Items that could not become records, kept whole.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_quarantine (
  id id,
  batch_id n,
  item_no n,
  kind_code code,
  provenance_code code,
  record_type code,
  provider_id key(512)?,
  error_code code,
  field_path text?,
  fragment blob,
  status_code code,
  expires_at us?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_quar (batch_id, item_no),
  INDEX idx_quar_open (provenance_code, status_code, created_at),
  INDEX idx_quar_id (provenance_code, provider_id)
);
