-- By which evidence a window was judged. Windows that earlier versions read have none: they were judged by the walk and the count.
-- +goose Up
ALTER TABLE ing_coverage ADD COLUMN
  proof json?
;
