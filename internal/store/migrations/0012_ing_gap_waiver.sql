-- A stretch that a person has signed off as missing.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_gap_waiver (
  id id,
  cursor_id n,
  window_from us,
  window_to us,
  reason text,
  approved_by key(128),
  revoked_at us?,
  created_at us,
  record_remarks json?,
  INDEX idx_waiver (cursor_id, window_to)
);
