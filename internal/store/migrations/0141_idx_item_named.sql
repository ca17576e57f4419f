-- The searches that named an id are found by it.
-- +goose Up
ALTER TABLE ing_task_item
  INDEX idx_item_named (provider_id)
;
