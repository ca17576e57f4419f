-- What people do to the keys of the rate gate is in the audit log, and nowhere else.
-- +goose Up
DROP TABLE IF EXISTS ing_gate_change;
