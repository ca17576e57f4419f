-- Which of the providers behind its source a plan asks; none: the source is one provider.
-- +goose Up
ALTER TABLE ing_plan ADD COLUMN
  repository key(255)?
;
