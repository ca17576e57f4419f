-- The codes. A source that uses one that is not here is refused.
-- +goose Up
CREATE TABLE IF NOT EXISTS sys_dict_item (
  type_code code,
  item_code code,
  sort_no n,
  lifecycle_code code,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (type_code, item_code)
);

REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('http_method', 'GET', 1, 'ACTIVE', 1767225600000000), ('http_method', 'POST', 2, 'ACTIVE', 1767225600000000),
  ('ing_operation', 'HARVEST', 1, 'ACTIVE', 1767225600000000), ('ing_operation', 'BACKFILL', 2, 'ACTIVE', 1767225600000000), ('ing_operation', 'UPDATE', 3, 'ACTIVE', 1767225600000000), ('ing_operation', 'METRICS', 4, 'ACTIVE', 1767225600000000),
  ('reg_lifecycle', 'ACTIVE', 1, 'ACTIVE', 1767225600000000), ('reg_lifecycle', 'DRAFT', 2, 'ACTIVE', 1767225600000000), ('reg_lifecycle', 'RETIRED', 3, 'ACTIVE', 1767225600000000),
  ('reg_endpoint_role', 'SEARCH', 1, 'ACTIVE', 1767225600000000), ('reg_endpoint_role', 'DETAIL', 2, 'ACTIVE', 1767225600000000), ('reg_endpoint_role', 'METRICS', 3, 'ACTIVE', 1767225600000000),
  ('reg_auth_type', 'NONE', 1, 'ACTIVE', 1767225600000000), ('reg_auth_type', 'API_KEY', 2, 'ACTIVE', 1767225600000000), ('reg_auth_type', 'BEARER', 3, 'ACTIVE', 1767225600000000), ('reg_auth_type', 'BASIC', 4, 'ACTIVE', 1767225600000000), ('reg_auth_type', 'OAUTH2', 5, 'ACTIVE', 1767225600000000),
  ('reg_auth_place', 'QUERY', 1, 'ACTIVE', 1767225600000000), ('reg_auth_place', 'HEADER', 2, 'ACTIVE', 1767225600000000),
  ('reg_send', 'QUERY', 1, 'ACTIVE', 1767225600000000), ('reg_send', 'FORM', 2, 'ACTIVE', 1767225600000000), ('reg_send', 'JSON', 3, 'ACTIVE', 1767225600000000),
  ('reg_pagination_type', 'OFFSET', 1, 'ACTIVE', 1767225600000000), ('reg_pagination_type', 'PAGE', 2, 'ACTIVE', 1767225600000000), ('reg_pagination_type', 'TOKEN', 3, 'ACTIVE', 1767225600000000), ('reg_pagination_type', 'URL', 4, 'ACTIVE', 1767225600000000), ('reg_pagination_type', 'TIME', 5, 'ACTIVE', 1767225600000000),
  ('reg_token_state', 'STATELESS', 1, 'ACTIVE', 1767225600000000), ('reg_token_state', 'STATEFUL', 2, 'ACTIVE', 1767225600000000),
  ('reg_token_same', 'END', 1, 'ACTIVE', 1767225600000000), ('reg_token_same', 'CONTINUE', 2, 'ACTIVE', 1767225600000000), ('reg_token_same', 'ERROR', 3, 'ACTIVE', 1767225600000000),
  ('reg_token_encode', 'ALWAYS', 1, 'ACTIVE', 1767225600000000), ('reg_token_encode', 'NEVER', 2, 'ACTIVE', 1767225600000000),
  ('ing_end', 'NO_TOKEN', 1, 'ACTIVE', 1767225600000000), ('ing_end', 'SAME_TOKEN', 2, 'ACTIVE', 1767225600000000), ('ing_end', 'EMPTY_PAGE', 3, 'ACTIVE', 1767225600000000), ('ing_end', 'NULL_NEXT', 4, 'ACTIVE', 1767225600000000), ('ing_end', 'SHORT_PAGE', 5, 'ACTIVE', 1767225600000000), ('ing_end', 'EMPTY_CODE', 6, 'ACTIVE', 1767225600000000), ('ing_end', 'ITEMS_DONE', 7, 'ACTIVE', 1767225600000000),
  ('reg_format', 'JSON', 1, 'ACTIVE', 1767225600000000), ('reg_format', 'XML', 2, 'ACTIVE', 1767225600000000), ('reg_format', 'JSONL', 3, 'ACTIVE', 1767225600000000), ('reg_format', 'CSV', 4, 'ACTIVE', 1767225600000000), ('reg_format', 'TSV', 5, 'ACTIVE', 1767225600000000),
  ('reg_no_id', 'QUARANTINE', 1, 'ACTIVE', 1767225600000000), ('reg_no_id', 'HASH', 2, 'ACTIVE', 1767225600000000),
  ('ing_total', 'EXACT', 1, 'ACTIVE', 1767225600000000), ('ing_total', 'ESTIMATE', 2, 'ACTIVE', 1767225600000000), ('ing_total', 'NONE', 3, 'ACTIVE', 1767225600000000),
  ('reg_failure_means', 'RETRY', 1, 'ACTIVE', 1767225600000000), ('reg_failure_means', 'REFUSED', 2, 'ACTIVE', 1767225600000000), ('reg_failure_means', 'FATAL', 3, 'ACTIVE', 1767225600000000), ('reg_failure_means', 'EMPTY', 4, 'ACTIVE', 1767225600000000), ('reg_failure_means', 'TOKEN_EXPIRED', 5, 'ACTIVE', 1767225600000000),
  ('reg_window_mode', 'CALENDAR', 1, 'ACTIVE', 1767225600000000), ('reg_window_mode', 'SLIDING', 2, 'ACTIVE', 1767225600000000),
  ('reg_window_upper', 'INCLUSIVE_DAY', 1, 'ACTIVE', 1767225600000000), ('reg_window_upper', 'INCLUSIVE_SECOND', 2, 'ACTIVE', 1767225600000000), ('reg_window_upper', 'EXCLUSIVE', 3, 'ACTIVE', 1767225600000000),
  ('reg_time_unit', 'MILLISECOND', 1, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'SECOND', 2, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'MINUTE', 3, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'HOUR', 4, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'DAY', 5, 'ACTIVE', 1767225600000000), ('reg_time_unit', 'MONTH', 6, 'ACTIVE', 1767225600000000),
  ('ing_order', 'ASC', 1, 'ACTIVE', 1767225600000000), ('ing_order', 'DESC', 2, 'ACTIVE', 1767225600000000), ('ing_order', 'NONE', 3, 'ACTIVE', 1767225600000000),
  ('reg_field_type', 'TEXT', 1, 'ACTIVE', 1767225600000000), ('reg_field_type', 'KEYWORD', 2, 'ACTIVE', 1767225600000000), ('reg_field_type', 'TOKEN', 3, 'ACTIVE', 1767225600000000), ('reg_field_type', 'DATE', 4, 'ACTIVE', 1767225600000000), ('reg_field_type', 'DATETIME', 5, 'ACTIVE', 1767225600000000), ('reg_field_type', 'NUMBER', 6, 'ACTIVE', 1767225600000000),
  ('reg_expr_op', 'TERM', 1, 'ACTIVE', 1767225600000000), ('reg_expr_op', 'IN', 2, 'ACTIVE', 1767225600000000), ('reg_expr_op', 'RANGE', 3, 'ACTIVE', 1767225600000000), ('reg_expr_op', 'EXISTS', 4, 'ACTIVE', 1767225600000000), ('reg_expr_op', 'TOKEN', 5, 'ACTIVE', 1767225600000000),
  ('reg_expr_match', 'ANY', 1, 'ACTIVE', 1767225600000000), ('reg_expr_match', 'PHRASE', 2, 'ACTIVE', 1767225600000000), ('reg_expr_match', 'EXACT', 3, 'ACTIVE', 1767225600000000), ('reg_expr_match', 'PREFIX', 4, 'ACTIVE', 1767225600000000),
  ('reg_expr_end', 'FROM', 1, 'ACTIVE', 1767225600000000), ('reg_expr_end', 'TO', 2, 'ACTIVE', 1767225600000000),
  ('reg_expr_upper', 'INCLUSIVE', 1, 'ACTIVE', 1767225600000000), ('reg_expr_upper', 'EXCLUSIVE', 2, 'ACTIVE', 1767225600000000),
  ('reg_expr_escape', 'REFUSE', 1, 'ACTIVE', 1767225600000000), ('reg_expr_escape', 'BACKSLASH', 2, 'ACTIVE', 1767225600000000), ('reg_expr_escape', 'DOUBLE', 3, 'ACTIVE', 1767225600000000),
  ('reg_transform', 'LOWER', 1, 'ACTIVE', 1767225600000000), ('reg_transform', 'UPPER', 2, 'ACTIVE', 1767225600000000);
