-- Other words for codes, in lower case. They are replaced when a source file is applied.
-- +goose Up
CREATE TABLE IF NOT EXISTS sys_dict_item_alias (
  type_code code,
  alias code,
  item_code code,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (type_code, alias)
);

REPLACE INTO sys_dict_item_alias (type_code, alias, item_code, created_at) VALUES
  ('reg_pagination_type', 'cursor', 'TOKEN', 1767225600000000), ('reg_pagination_type', 'scroll', 'TOKEN', 1767225600000000), ('reg_pagination_type', 'resumption_token', 'TOKEN', 1767225600000000), ('reg_pagination_type', 'resumptiontoken', 'TOKEN', 1767225600000000), ('reg_pagination_type', 'next_token', 'TOKEN', 1767225600000000), ('reg_pagination_type', 'next_url', 'URL', 1767225600000000), ('reg_pagination_type', 'link', 'URL', 1767225600000000), ('reg_pagination_type', 'page_number', 'PAGE', 1767225600000000), ('reg_pagination_type', 'start', 'OFFSET', 1767225600000000),
  ('reg_auth_type', 'apikey', 'API_KEY', 1767225600000000), ('reg_auth_type', 'api-key', 'API_KEY', 1767225600000000), ('reg_auth_type', 'key', 'API_KEY', 1767225600000000), ('reg_auth_type', 'bearer_token', 'BEARER', 1767225600000000), ('reg_auth_type', 'anonymous', 'NONE', 1767225600000000),
  ('reg_auth_place', 'url', 'QUERY', 1767225600000000), ('reg_auth_place', 'params', 'QUERY', 1767225600000000), ('reg_auth_place', 'headers', 'HEADER', 1767225600000000),
  ('reg_format', 'ndjson', 'JSONL', 1767225600000000), ('reg_format', 'jsonlines', 'JSONL', 1767225600000000), ('reg_format', 'json_lines', 'JSONL', 1767225600000000),
  ('ing_total', 'approximate', 'ESTIMATE', 1767225600000000), ('ing_total', 'estimated', 'ESTIMATE', 1767225600000000), ('ing_total', 'unknown', 'NONE', 1767225600000000),
  ('ing_order', 'ascending', 'ASC', 1767225600000000), ('ing_order', 'descending', 'DESC', 1767225600000000), ('ing_order', 'unordered', 'NONE', 1767225600000000),
  ('reg_time_unit', 'ms', 'MILLISECOND', 1767225600000000), ('reg_time_unit', 'daily', 'DAY', 1767225600000000), ('reg_time_unit', 'hourly', 'HOUR', 1767225600000000), ('reg_time_unit', 'monthly', 'MONTH', 1767225600000000),
  ('reg_field_type', 'string', 'TEXT', 1767225600000000), ('reg_field_type', 'timestamp', 'DATETIME', 1767225600000000), ('reg_field_type', 'integer', 'NUMBER', 1767225600000000);
