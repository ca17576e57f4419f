-- One row per closed answer, un-merged, with the counts that prove it.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_coverage (
  id id,
  cursor_id n,
  slice_id n,
  window_from us,
  window_to us,
  kind_code code,
  state_code code,
  total_code code,
  count_before n?,
  count_after n?,
  ids_seen n,
  stored n,
  quarantined n,
  known_missing n,
  rescans n,
  closed_at us,
  sealed_at us?,
  created_at us,
  record_remarks json?,
  UNIQUE uk_cov_slice (slice_id, window_from, window_to),
  INDEX idx_cov_front (cursor_id, window_to, window_from)
);
