-- The id of a record has room for its repository behind it.
-- +goose Up
ALTER TABLE ing_record MODIFY COLUMN
  provider_id key(768)
;
