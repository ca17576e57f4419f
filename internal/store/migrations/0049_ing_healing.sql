-- What was done so that work goes on although something went wrong: one row for each action.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_healing (
  id id,
  task_id n?,
  run_id n?,
  provenance_code code,
  endpoint_name code,
  operation_code code?,
  action_code code,
  reason_code code,
  detail json?,
  created_at us,
  record_remarks json?,
  INDEX idx_healing_recent (provenance_code, created_at),
  INDEX idx_healing_task (task_id)
);
