-- What is told of an alert, and to whom: written with the alert, before anything is sent. One of a kind and round for each receiver.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_alert_notice (
  id id,
  alert_id n,
  receiver code,
  kind_code code,
  round n,
  state_code code,
  tries n,
  next_at us,
  sent_at us?,
  last_error text?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_notice (alert_id, receiver, kind_code, round),
  INDEX idx_notice_due (receiver, state_code, next_at)
);
