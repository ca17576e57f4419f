-- The quota ledger: what was used of a quota in one window, whoever of us used it. It is charged before a request is sent,
-- and nothing is ever given back. limit_n and usable_n are those of the last charge; told_n is what the provider itself
-- counted, where it says so.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_quota (
  gate_key key(200),
  window_code code,
  window_start us,
  window_end us,
  limit_n n,
  usable_n n,
  used_n n,
  told_n n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (gate_key, window_code, window_start)
);
