-- More ways to show who we are are words of source files now.
-- +goose Up
REPLACE INTO sys_dict_type (type_code, name, created_at) VALUES ('reg_auth_signer', 'how a request is signed', 1767225600000000);

REPLACE INTO sys_dict_item (type_code, item_code, sort_no, lifecycle_code, created_at) VALUES
  ('reg_auth_type', 'CUSTOM', 6, 'ACTIVE', 1767225600000000), ('reg_auth_place', 'BODY', 3, 'ACTIVE', 1767225600000000), ('reg_auth_signer', 'HMAC_SHA256', 1, 'ACTIVE', 1767225600000000);
