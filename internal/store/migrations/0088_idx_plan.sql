-- Plans of a watermark and of a source in the order of their ids: the newest says which question it is.
-- +goose Up
ALTER TABLE ing_plan
  INDEX idx_plan_cursor (cursor_id, id),
  INDEX idx_plan_source (provenance_code, id)
;
