-- How many tasks of a partition waited, every few minutes of the last day: what is far beyond that is a surge.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_alert_sample (
  partition_key key(160),
  sampled_at us,
  queued n,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (partition_key, sampled_at)
);
