-- How a source is cut into slices is a word of source files now.
-- +goose Up
REPLACE INTO sys_dict_type (type_code, name, created_at) VALUES ('ing_slice_strategy', 'how a window is cut into slices', 1767225600000000);

REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('ing_slice_strategy', 'TIME', 1, 'ACTIVE', 1767225600000000), ('ing_slice_strategy', 'ID_RANGE', 2, 'ACTIVE', 1767225600000000), ('ing_slice_strategy', 'CURSOR_LANDMARK', 3, 'ACTIVE', 1767225600000000), ('ing_slice_strategy', 'VOLUME_BUDGET', 4, 'ACTIVE', 1767225600000000), ('ing_slice_strategy', 'HYBRID', 5, 'ACTIVE', 1767225600000000);
