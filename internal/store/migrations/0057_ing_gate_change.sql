-- What people did to the keys of the rate gate, and why.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_gate_change (
  id id,
  gate_key key(200),
  action_code code,
  value key(40),
  reason text,
  actor text,
  created_at us,
  record_remarks json?,
  INDEX idx_gate_change (gate_key, id)
);
