-- What happened, for those who listen. Of a record: one row for each version, written with it; what it says is in the record.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_outbox (
  id id,
  event_type code,
  record_id n?,
  rev n,
  event_key hash?,
  subject key(640)?,
  payload json?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_outbox_version (record_id, rev),
  UNIQUE uk_outbox_event (event_key)
);

REPLACE INTO ing_outbox (event_type, record_id, rev, created_at) SELECT 'patra.record.upserted', record_id, rev, created_at FROM ing_record_rev;
