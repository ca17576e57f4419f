-- The ids that a search gave, to be fetched one by one or in batches. One row for each id of a scan.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_task_item (
  task_id n,
  scan_no n,
  seq n,
  provider_id key(512),
  search_ordinal n,
  detail_ordinal n?,
  status_code code,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (task_id, scan_no, seq),
  UNIQUE uk_item_id (task_id, scan_no, provider_id),
  INDEX idx_item_open (task_id, scan_no, status_code, seq)
);
