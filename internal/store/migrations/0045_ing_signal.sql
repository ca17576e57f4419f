-- Wishes to look at a record again, and what became of them. At most one is open for each record and reason.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_signal (
  id id,
  provenance_code code,
  record_type code,
  provider_id key(512),
  reason_code code,
  open_key hash?,
  payload json?,
  plan_id n?,
  status_code code,
  created_at us,
  record_remarks json?,
  UNIQUE uk_signal_open (open_key),
  INDEX idx_signal_new (provenance_code, status_code, id)
);

REPLACE INTO sys_dict_type (type_code, name, created_at) VALUES
  ('ing_signal_reason', 'why a record should be looked at again', 1767225600000000), ('reg_merge_nulls', 'what becomes of fields that a newer version does not have', 1767225600000000);

REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('ing_signal_reason', 'RETRACTED', 1, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'ERRATUM', 2, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'MERGED', 3, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'MISSING_FIELD', 4, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'QUARANTINE', 5, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'REMAP', 6, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'STALE', 7, 'ACTIVE', 1767225600000000), ('ing_signal_reason', 'MANUAL', 8, 'ACTIVE', 1767225600000000),
  ('reg_merge_nulls', 'OVERWRITE', 1, 'ACTIVE', 1767225600000000), ('reg_merge_nulls', 'FILL', 2, 'ACTIVE', 1767225600000000);
