-- Events that a sink has passed without taking them: those that wait for another attempt, and those that were set aside.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_outbox_delivery (
  sink_name code,
  seq n,
  order_key hash,
  status_code code,
  attempts n,
  next_at us,
  last_error text?,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (sink_name, seq),
  INDEX idx_deliv_due (sink_name, status_code, next_at),
  INDEX idx_deliv_order (sink_name, order_key, seq)
);
