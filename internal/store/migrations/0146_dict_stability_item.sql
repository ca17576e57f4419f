-- Their words.
-- +goose Up
REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('reg_stability', 'SHIFTING', 1, 'ACTIVE', 1767225600000000),
  ('reg_stability', 'KEYSET', 2, 'ACTIVE', 1767225600000000),
  ('reg_stability', 'SNAPSHOT', 3, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'ASC', 1, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'DESC', 2, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'FIXED', 3, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'RELEVANCE', 4, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'UNSTABLE_TIES', 5, 'ACTIVE', 1767225600000000),
  ('reg_list_order', 'NONE', 6, 'ACTIVE', 1767225600000000),
  ('reg_list_key', 'unique', 1, 'ACTIVE', 1767225600000000);
