-- Tasks of a state, of a source and of a plan are listed in the order of their ids, and counted, without looking at others.
-- +goose Up
ALTER TABLE ing_task
  INDEX idx_task_status (status_code, id),
  INDEX idx_task_source (provenance_code, status_code, id),
  INDEX idx_task_of_plan (plan_id, id)
;
