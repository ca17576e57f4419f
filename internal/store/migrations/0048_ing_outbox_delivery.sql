-- Which events a sink has not acknowledged yet.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_outbox_delivery (
  sink_name code,
  outbox_id n,
  order_key hash,
  rev n,
  attempts n,
  next_at us,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (sink_name, outbox_id),
  INDEX idx_deliv_due (sink_name, next_at, outbox_id)
);
