-- The signals of one record, in the order of their ids.
-- +goose Up
ALTER TABLE ing_signal
  INDEX idx_signal_record (provenance_code, provider_id, id)
;
