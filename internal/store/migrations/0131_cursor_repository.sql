-- Which of the providers behind its source a cursor is of.
-- +goose Up
ALTER TABLE ing_cursor ADD COLUMN
  repository key(255)?
;
