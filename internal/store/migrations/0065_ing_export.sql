-- How far exports that go on from one time to the next have come, and the haul that one of them is taking out now.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_export (
  name key(128),
  filter_hash hash,
  filter json,
  state_code code,
  taken_to us,
  haul_to us?,
  place text?,
  place_sha256 hash?,
  owner key(64)?,
  haul_records n,
  exports n,
  records n,
  started_at us?,
  finished_at us?,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (name)
);
