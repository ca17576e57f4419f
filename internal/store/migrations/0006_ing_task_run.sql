-- One attempt of a task; attempt_no is the fence under which it ran.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_task_run (
  id id,
  task_id n,
  attempt_no n,
  plan_id n,
  slice_id n,
  provenance_code code,
  operation_code code,
  expr_hash hash,
  spec_fingerprint hash,
  lease_owner key(32),
  window_from us?,
  window_to us?,
  scan_no n,
  exhausted n,
  checkpoint json?,
  stats json,
  error json?,
  status_code code,
  started_at us,
  finished_at us?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_run_attempt (task_id, attempt_no),
  INDEX idx_run_prov_op_status (provenance_code, operation_code, status_code)
);
