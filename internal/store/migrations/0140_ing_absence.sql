-- Records that the provider refuses to give by their ids: one row for each absence. live_id holds the record until it is over.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_absence (
  id id,
  record_id n,
  live_id n?,
  provenance_code code,
  record_type code,
  rev n,
  status_code code,
  missing_since us,
  refused_at us,
  refusals n,
  gone_at us?,
  batch_id n,
  ended_at us?,
  end_batch_id n?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_absence_live (live_id),
  INDEX idx_absence_record (record_id, id),
  INDEX idx_absence_status (status_code, provenance_code, live_id)
);

REPLACE INTO ing_absence (record_id, live_id, provenance_code, record_type, rev, status_code, missing_since, refused_at, refusals, batch_id, created_at) SELECT id, id, provenance_code, record_type, rev, 'MISSING', last_refreshed_at, last_refreshed_at, 1, batch_id, last_refreshed_at FROM ing_record WHERE record_remarks LIKE '%"missing_since":%';
