-- The number of an event among those that sinks can read. It is given after the commit, because row ids become visible out of order.
-- +goose Up
ALTER TABLE ing_outbox ADD COLUMN
  seq n?
;
