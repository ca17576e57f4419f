-- What needed a person, from its first sign to its end: one row each time. live_key holds kind and subject until it has ended.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_alert (
  id id,
  rule_code code,
  subject key(200),
  live_key key(260)?,
  state_code code,
  severity_code code,
  provenance_code code?,
  first_at us,
  fired_at us?,
  last_at us,
  missed n,
  resolved_at us?,
  ack_by key(128)?,
  ack_at us?,
  ack_until us?,
  ack_reason text?,
  detail json,
  created_at us,
  record_remarks json?,
  UNIQUE uk_alert (live_key),
  INDEX idx_alert_subject (rule_code, subject, id),
  INDEX idx_alert_state (state_code, id)
);
