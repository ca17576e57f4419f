-- What people did, line by line. Rows are only added, and each has the hash of the one before it.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_audit (
  id id,
  seq n,
  actor key(128),
  action_code code,
  target key(200),
  reason text,
  detail json,
  prev_hash hash,
  hash hash,
  created_at us,
  record_remarks json?,
  UNIQUE uk_audit_seq (seq),
  INDEX idx_audit_target (target, seq)
);
