-- How long a provider wanted to be left alone, in microseconds, where the answer to a request says so.
-- +goose Up
ALTER TABLE ing_request ADD COLUMN
  retry_after n?
;
