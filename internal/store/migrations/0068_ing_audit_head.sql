-- Where the audit log ends. Whoever adds a row holds this one, so that there is one writer at a time; and a log whose last
-- rows were taken away does not end here.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_audit_head (
  name code,
  seq n,
  hash hash,
  created_at us,
  PRIMARY KEY (name)
);

REPLACE INTO ing_audit_head (name, seq, hash, created_at) VALUES ('audit', 0, '0000000000000000000000000000000000000000000000000000000000000000', 1767225600000000);
