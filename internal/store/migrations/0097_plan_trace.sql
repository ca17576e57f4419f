-- Which trace the making of a plan belongs to, as W3C writes it (traceparent): its runs are parts of the same trace, in
-- whichever process and however often they are tried. Plans that nobody traced have none.
-- +goose Up
ALTER TABLE ing_plan ADD COLUMN
  traceparent key(55)?
;
