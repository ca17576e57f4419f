-- How a provider reads the ends of a window may be found out: a word of source files now.
-- +goose Up
REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('reg_window_upper', 'DISCOVER', 4, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'DISCOVER', 7, 'ACTIVE', 1767225600000000);
