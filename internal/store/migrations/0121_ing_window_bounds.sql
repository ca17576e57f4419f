-- How providers read the ends of a window, where a source leaves that to be found out: one row for each endpoint and address.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_window_bounds (
  id id,
  provenance_code code,
  endpoint_name code,
  address_hash hash,
  address text,
  precision_code code?,
  upper_code code?,
  evidence text?,
  found_at us?,
  asked_at us,
  doubt text?,
  doubted_at us?,
  version n,
  created_at us,
  UNIQUE uk_bounds (provenance_code, endpoint_name, address_hash)
);
