-- Roles that one process has at a time: who has it, under which fence and until when, and how far whoever has it has come.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_lease (
  name key(128),
  lease_owner key(32)?,
  lease_count n,
  leased_until us,
  position n,
  notes json?,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (name)
);
