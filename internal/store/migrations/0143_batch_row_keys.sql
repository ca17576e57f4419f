-- The rows of a page in their order, as hashes of id and place: what the proof of a window is computed from. Pages of earlier versions have none.
-- +goose Up
ALTER TABLE ing_task_run_batch ADD COLUMN
  row_keys blob?
;
