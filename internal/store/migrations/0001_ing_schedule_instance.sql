-- One trigger. It is kept when compilation fails, with the reason.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_schedule_instance (
  id id,
  scheduler_code code,
  scheduler_job_id key(128),
  scheduler_log_id key(128),
  trigger_type_code code,
  triggered_at us,
  trigger_params json,
  provenance_code code,
  endpoint_name code,
  operation_code code,
  expr_proto_hash hash?,
  expr_proto_snapshot json?,
  spec_fingerprint hash?,
  status_code code,
  error json?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_sched_fire (scheduler_code, scheduler_job_id, scheduler_log_id)
);
