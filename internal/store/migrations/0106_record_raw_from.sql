-- Where in its page the raw content of a record begins; none: it is in the record.
-- +goose Up
ALTER TABLE ing_record ADD COLUMN
  raw_from n?
;
