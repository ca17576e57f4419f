-- The ids that an update was planned for, in the order in which they are fetched. The list is made with the plan.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_candidate (
  plan_id n,
  bucket n,
  seq n,
  provider_id key(512),
  reason_code code,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (plan_id, bucket, seq)
);
