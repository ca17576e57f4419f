-- Whether the answer of a page was kept (1) or nobody wanted that (0). Pages from before do not say.
-- +goose Up
ALTER TABLE ing_task_run_batch ADD COLUMN
  kept n?
;
