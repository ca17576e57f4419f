-- What most keys of the rate gate do not have: requests on their way, what the provider said, who keeps the state.
-- +goose Up
ALTER TABLE ing_rate_gate ADD COLUMN
  notes json?
;
