-- Which of the providers behind its source a record is of. It stands behind the id too (provider_id), after a blank.
-- +goose Up
ALTER TABLE ing_record ADD COLUMN
  repository key(255)?
;
