-- An answer may look different from what the source says.
-- +goose Up
REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES ('reg_failure_means', 'SCHEMA', 6, 'ACTIVE', 1767225600000000);
