-- Slices of a plan in the order of their ids.
-- +goose Up
ALTER TABLE ing_plan_slice
  INDEX idx_slice_plan (plan_id, id)
;
