-- Events without a number are found by it, and no number is given twice.
-- +goose Up
CREATE UNIQUE INDEX uk_outbox_seq ON ing_outbox (seq);
