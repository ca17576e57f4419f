-- What a schedule fired last, among all that was ever asked for; and how far the plans of a watermark reach, without their rows.
-- +goose Up
ALTER TABLE ing_schedule_instance
  INDEX idx_sched_job (scheduler_job_id, id)
;

ALTER TABLE ing_plan
  INDEX idx_plan_reach (cursor_id, window_to, window_from)
;
