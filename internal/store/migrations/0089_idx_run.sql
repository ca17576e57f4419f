-- Attempts of a plan in the order of their ids.
-- +goose Up
ALTER TABLE ing_task_run
  INDEX idx_run_plan (plan_id, id)
;
