-- What happened to records, for those who listen: one row for each version, written with it.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_outbox (
  id id,
  event_key hash,
  event_type code,
  subject key(640),
  order_key hash,
  record_id n?,
  rev n,
  payload json,
  created_at us,
  record_remarks json?,
  UNIQUE uk_outbox_version (record_id, rev)
);
