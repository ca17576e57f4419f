-- Which page met which item in quarantine. An item that is met again while its row is open gets no second row.
-- +goose Up
CREATE TABLE IF NOT EXISTS ing_quarantine_seen (
  batch_id n,
  item_no n,
  quarantine_id n,
  open_key hash?,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (batch_id, item_no),
  UNIQUE uk_quar_open_key (open_key),
  INDEX idx_quar_seen (quarantine_id)
);

REPLACE INTO ing_quarantine_seen (batch_id, item_no, quarantine_id, created_at) SELECT batch_id, item_no, id, created_at FROM ing_quarantine;
