-- What a source file says about the positions and the order of a list.
-- +goose Up
REPLACE INTO sys_dict_type (type_code, name, created_at) VALUES
  ('reg_stability', 'what a position of a walk is', 1767225600000000),
  ('reg_list_order', 'the order of a list', 1767225600000000),
  ('reg_list_key', 'what a position that is a key promises', 1767225600000000);
