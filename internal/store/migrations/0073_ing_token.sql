-- Who may call over HTTP. Of a secret only its hash is here. A token with a parent is a session of it, and ends with it.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_token (
  id id,
  name key(128),
  secret_hash hash,
  rank_code code,
  evidence n,
  parent_id n?,
  created_at us,
  created_by key(128),
  expires_at us,
  revoked_at us?,
  last_used_at us?,
  record_remarks json?,
  UNIQUE uk_token_secret (secret_hash),
  INDEX idx_token_parent (parent_id)
);
