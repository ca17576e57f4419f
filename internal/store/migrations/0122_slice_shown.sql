-- Ids of the window that the provider has shown: they must be found when it closes. None where it has shown none.
-- +goose Up
ALTER TABLE ing_plan_slice ADD COLUMN
  shown json?
;
