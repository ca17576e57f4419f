-- What was found out about a provider: a card for each certification of an endpoint at an address with its parameters, and for which claims it was made.
-- +goose Up
CREATE TABLE IF NOT EXISTS reg_prov_certificate (
  id id,
  provenance_code code,
  endpoint_name code,
  scope_hash hash,
  claims_hash hash,
  form_code code,
  certified_at us,
  requests n,
  verdict_code code,
  certified_by key(128),
  card json,
  created_at us,
  INDEX idx_certificate (provenance_code, endpoint_name, scope_hash, id)
);
