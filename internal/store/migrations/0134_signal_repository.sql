-- Which of the providers behind its source the record of a signal is of.
-- +goose Up
ALTER TABLE ing_signal ADD COLUMN
  repository key(255)?
;
