-- One row for every HTTP request, written before it is sent.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_request (
  id id,
  request_id key(40),
  run_id n?,
  batch_id n?,
  kind_code code,
  gate_key key(200),
  cost n,
  waited n,
  acquired_at us,
  sent_at us?,
  finished_at us?,
  http_status n?,
  bytes n?,
  outcome_code code?,
  level_code code?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_request (request_id),
  INDEX idx_request_gate (gate_key, acquired_at),
  INDEX idx_request_batch (batch_id)
);
