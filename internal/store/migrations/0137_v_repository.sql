-- What people read says which repository a record, a cursor and a plan are of.
-- +goose Up
DROP VIEW IF EXISTS v_plan;

CREATE VIEW v_plan AS SELECT id, plan_key, provenance_code, endpoint_name, operation_code, status_code, reason_code, slice_count,
       ISO(window_from) AS window_from, ISO(window_to) AS window_to, ISO(created_at) AS created_at, repository
  FROM ing_plan;

DROP VIEW IF EXISTS v_cursor;

CREATE VIEW v_cursor AS SELECT id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key,
       ISO(origin_instant) AS origin, ISO(normalized_instant) AS watermark, ISO(sealed_instant) AS complete_through, version, ISO(updated_at) AS updated_at, repository
  FROM ing_cursor;

DROP VIEW IF EXISTS v_record;

CREATE VIEW v_record AS SELECT id, provenance_code, record_type, CASE WHEN repository IS NULL THEN provider_id ELSE SUBSTR(provider_id, 1, LENGTH(provider_id) - LENGTH(repository) - 1) END AS provider_id,
       rev, deleted, ISO(provider_updated_at) AS updated_at, ISO(first_seen_at) AS first_seen, ISO(last_refreshed_at) AS last_seen, batch_id, fields, repository
  FROM ing_record;
