-- The rate gate: one row for each key, shared by all processes of the store. Rates are thousandths of a request a second.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_rate_gate (
  gate_key key(200),
  rate_milli n,
  burst n,
  arrival_at us,
  cooldown_until us,
  aimd_milli n,
  ceiling_milli n,
  adapted_at us,
  refused_at us,
  skew n,
  version n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (gate_key)
);
