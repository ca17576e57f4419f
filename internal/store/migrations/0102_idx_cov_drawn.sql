-- All that a coverage map is drawn from: to fetch the rows of tens of thousands of answers as well takes longer than everything else.
-- +goose Up
ALTER TABLE ing_coverage
  INDEX idx_cov_drawn (cursor_id, window_to, window_from, slice_id, state_code, count_after, ids_seen, closed_at)
;
