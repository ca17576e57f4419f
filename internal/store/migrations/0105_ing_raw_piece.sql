-- Pieces of kept pages, packed, in which the raw content of records lies. The id is that of the batch and the number of the piece.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_raw_piece (
  id n,
  live n,
  body blob,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (id)
);
