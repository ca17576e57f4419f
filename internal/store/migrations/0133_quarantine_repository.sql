-- Which of the providers behind its source an item in quarantine is of.
-- +goose Up
ALTER TABLE ing_quarantine ADD COLUMN
  repository key(255)?
;
