-- What is kept of the bodies that providers sent, by the hash of the bytes as they came. The bodies themselves are blobs.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_evidence (
  body_sha256 hash,
  stored_sha256 hash,
  size n,
  stored_size n,
  codec_code code,
  location text,
  redacted n,
  last_ref_at us,
  expires_at us?,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (body_sha256),
  INDEX idx_evidence_expired (expires_at)
);
