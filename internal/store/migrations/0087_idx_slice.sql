-- Slices of a plan in the order of their ids, all and those of one state.
-- +goose Up
ALTER TABLE ing_plan_slice
  INDEX idx_slice_plan (plan_id, id),
  INDEX idx_slice_plan_status (plan_id, status_code, id)
;
