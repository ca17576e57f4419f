-- Pages of a state and of a plan: the few that failed are found among a million that did not.
-- +goose Up
ALTER TABLE ing_task_run_batch
  INDEX idx_batch_status (status_code, id),
  INDEX idx_batch_plan (plan_id, id),
  INDEX idx_batch_plan_status (plan_id, status_code, id)
;
