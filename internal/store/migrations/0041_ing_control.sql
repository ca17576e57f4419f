-- What people and executors hold back: a pause, a breaker, a halt.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_control (
  scope_code code,
  scope_key key(200),
  kind_code code,
  state_code code,
  until_at us?,
  failures n,
  reason text,
  actor key(128),
  version n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (scope_code, scope_key, kind_code)
);
