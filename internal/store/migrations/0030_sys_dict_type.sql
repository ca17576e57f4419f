-- The kinds of code.
-- +goose Up
CREATE TABLE IF NOT EXISTS sys_dict_type (
  type_code code,
  name text,
  created_at us,
  record_remarks json?,
  PRIMARY KEY (type_code)
);

REPLACE INTO sys_dict_type (type_code, name, created_at) VALUES
  ('http_method', 'HTTP methods', 1767225600000000),
  ('ing_operation', 'what a plan does', 1767225600000000),
  ('reg_lifecycle', 'states of a registry row', 1767225600000000),
  ('reg_endpoint_role', 'what an endpoint is for', 1767225600000000),
  ('reg_auth_type', 'how we show who we are', 1767225600000000),
  ('reg_auth_place', 'where a key goes', 1767225600000000),
  ('reg_send', 'where parameters go', 1767225600000000),
  ('reg_pagination_type', 'how one page leads to the next', 1767225600000000),
  ('reg_token_state', 'whether a page may be asked for again', 1767225600000000),
  ('reg_token_same', 'what an unchanged token means', 1767225600000000),
  ('reg_token_encode', 'whether a token is encoded', 1767225600000000),
  ('ing_end', 'how a walk ends', 1767225600000000),
  ('reg_format', 'formats of an answer', 1767225600000000),
  ('reg_no_id', 'what happens to an item without an id', 1767225600000000),
  ('ing_total', 'what a count is worth', 1767225600000000),
  ('reg_failure_means', 'what an odd answer means', 1767225600000000),
  ('reg_window_mode', 'how windows are cut', 1767225600000000),
  ('reg_window_upper', 'what an upper bound means', 1767225600000000),
  ('reg_time_unit', 'units of time', 1767225600000000),
  ('ing_order', 'in which order items come', 1767225600000000),
  ('reg_field_type', 'what a field holds', 1767225600000000),
  ('reg_expr_op', 'what can be asked of a field', 1767225600000000),
  ('reg_expr_match', 'how a term is compared', 1767225600000000),
  ('reg_expr_end', 'ends of a range', 1767225600000000),
  ('reg_expr_upper', 'what an upper bound of a field means', 1767225600000000),
  ('reg_expr_escape', 'how a quote stands inside quotes', 1767225600000000),
  ('reg_transform', 'what is done to a value', 1767225600000000);
