-- How long the raw content of a record is in its page.
-- +goose Up
ALTER TABLE ing_record ADD COLUMN
  raw_size n?
;
