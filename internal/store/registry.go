package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"patra"
)

// registryTables is where each dimension is kept. They all have the same columns.
var registryTables = map[patra.Dimension]string{
	patra.DimEndpoint:   "reg_prov_endpoint_def",
	patra.DimHTTP:       "reg_prov_http_cfg",
	patra.DimCredential: "reg_prov_credential",
	patra.DimPagination: "reg_prov_pagination_cfg",
	patra.DimWindow:     "reg_prov_window_offset_cfg",
	patra.DimResponse:   "reg_prov_response_cfg",
	patra.DimRetry:      "reg_prov_retry_cfg",
	patra.DimRate:       "reg_prov_rate_limit_cfg",
	patra.DimParams:     "reg_prov_api_param_map",
	patra.DimCapability: "reg_prov_expr_capability",
	patra.DimRender:     "reg_prov_expr_render_rule",
	patra.DimFields:     "reg_expr_field_dict",
}

const provenanceColumns = `provenance_code, name, record_type, docs, defaults, lifecycle_code, version, source_file_sha256, updated_at`

var (
	lockProvenance   = stmt{"lock_provenance", `SELECT ` + provenanceColumns + ` FROM reg_provenance WHERE provenance_code = ? {lock}`}
	insertProvenance = stmt{"insert_provenance", `INSERT INTO reg_provenance (` + provenanceColumns + `, created_at) VALUES (?, ?, ?, ?, ?, 'ACTIVE', 0, ?, 0, ?)`}
	updateProvenance = stmt{"update_provenance", `UPDATE reg_provenance SET name = ?, record_type = ?, docs = ?, defaults = ?, lifecycle_code = 'ACTIVE', version = version + 1,
		source_file_sha256 = ?, updated_at = ? WHERE provenance_code = ?`}
	retireProvenance = stmt{"retire_provenance", `UPDATE reg_provenance SET lifecycle_code = 'RETIRED', version = version + 1, updated_at = ? WHERE provenance_code = ?`}
	listProvenances  = stmt{"list_provenances", `SELECT ` + provenanceColumns + ` FROM reg_provenance ORDER BY provenance_code`}
	openRegistry     = registryQuery("open_registry", `provenance_code = ? AND effective_to IS NULL`)
	liveRegistry     = registryQuery("live_registry", `provenance_code = ? AND effective_from <= ? AND (effective_to IS NULL OR effective_to > ?)`)
	wholeRegistry    = registryQuery("whole_registry", `provenance_code = ?`)
	selectCodes      = stmt{"select_codes", `SELECT type_code, item_code FROM sys_dict_item WHERE lifecycle_code = 'ACTIVE' ORDER BY type_code, sort_no`}
	selectAliases    = stmt{"select_aliases", `SELECT type_code, alias, item_code FROM sys_dict_item_alias`}
)

// registryQuery reads every dimension in one statement, so that a reader never sees half of a change.
func registryQuery(name, where string) stmt {
	var parts []string
	for _, d := range patra.Dimensions {
		parts = append(parts, fmt.Sprintf(`SELECT '%s' AS dimension, id, provenance_code, endpoint_name, operation_code, effective_from, effective_to, lifecycle_code, version, body, source_file_sha256
			FROM %s WHERE %s`, d, registryTables[d], where))
	}
	return stmt{name, strings.Join(parts, "\nUNION ALL ")}
}

func closeRegistryRow(d patra.Dimension) stmt {
	return stmt{"close_registry_row", `UPDATE ` + registryTables[d] + ` SET effective_to = ?, live_key = NULL WHERE id = ? AND effective_to IS NULL`}
}

func insertRegistryRow(d patra.Dimension) stmt {
	return stmt{"insert_registry_row", `INSERT INTO ` + registryTables[d] + `
		(provenance_code, endpoint_name, operation_code, effective_from, lifecycle_code, version, body, source_file_sha256, live_key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
}

func lastRegistryVersion(d patra.Dimension) stmt {
	return stmt{"last_registry_version", `SELECT COALESCE(MAX(version), 0) FROM ` + registryTables[d] + `
		WHERE provenance_code = ? AND COALESCE(endpoint_name, '') = ? AND COALESCE(operation_code, '') = ?`}
}

// ApplySource makes the registry say what rows say from now on, and tells what that changed: rows that say something
// else are closed and others begin, the rest is not touched. Without a change nothing is written. Appliers of the same
// source wait for each other.
func (s *Store) ApplySource(ctx context.Context, now patra.Instant, head patra.Provenance, rows []patra.RegistryRow) ([]patra.RegistryChange, error) {
	for _, r := range rows {
		if _, ok := registryTables[r.Dimension]; !ok || r.Source != head.Code {
			return nil, fmt.Errorf("apply source: a row of %s %q does not belong to %s", r.Source, r.Dimension, head.Code)
		}
	}
	var changes []patra.RegistryChange
	err := s.write(ctx, "apply source", func(t *tx) error {
		known, err := t.lockProvenance(now, head)
		if err != nil {
			return err
		}
		open, err := t.registry(openRegistry, head.Code)
		if err != nil {
			return err
		}
		changes = patra.RegistryChanges(open, rows)
		if len(changes) == 0 {
			return nil
		}
		// Clocks differ between machines: a change never begins before the last one did.
		at := max(now, known.UpdatedAt+1)
		for i := range changes {
			if err := t.applyChange(at, head.FileHash, &changes[i]); err != nil {
				return err
			}
		}
		_, err = t.exec(updateProvenance, head.Name, head.RecordType, head.Docs, string(head.Defaults), head.FileHash, at, head.Code)
		return err
	})
	return changes, err
}

// RetireSource takes a source out of the registry from now on, and tells which rows that closed, those for one operation
// included. What was in force stays known, and applying the source again brings it back. A source that is out already
// changes nothing; patra.ErrNotFound means that it was never in.
func (s *Store) RetireSource(ctx context.Context, now patra.Instant, code string) ([]patra.RegistryChange, error) {
	var changes []patra.RegistryChange
	err := s.write(ctx, "retire source", func(t *tx) error {
		changes = nil
		known, err := t.provenances(lockProvenance, code)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			return patra.ErrNotFound
		}
		open, err := t.registry(openRegistry, code)
		if err != nil || len(open) == 0 {
			return err
		}
		at := max(now, known[0].UpdatedAt+1)
		for _, r := range open {
			c := patra.RegistryChange{Close: &r}
			if err := t.applyChange(at, "", &c); err != nil {
				return err
			}
			changes = append(changes, c)
		}
		_, err = t.exec(retireProvenance, at, code)
		return err
	})
	return changes, err
}

// lockProvenance takes the lock under which a source is changed, and makes the row if there is none.
func (t *tx) lockProvenance(now patra.Instant, head patra.Provenance) (patra.Provenance, error) {
	for range 2 {
		found, err := t.provenances(lockProvenance, head.Code)
		if err != nil {
			return head, err
		}
		if len(found) == 1 {
			return found[0], nil
		}
		_, err = t.insert(insertProvenance, head.Code, head.Name, head.RecordType, head.Docs, string(head.Defaults), head.FileHash, now)
		if err != nil && !t.s.dialect.duplicate(err) {
			return head, err
		}
	}
	found, err := t.provenances(lockProvenance, head.Code)
	if err == nil && len(found) != 1 {
		err = patra.ErrNotFound
	}
	if err != nil {
		return head, err
	}
	return found[0], nil
}

// applyChange closes a row, begins another, and writes down in c what they became.
func (t *tx) applyChange(at patra.Instant, fileHash string, c *patra.RegistryChange) error {
	if c.Close != nil {
		n, err := t.exec(closeRegistryRow(c.Close.Dimension), at, c.Close.ID)
		if err == nil && n != 1 {
			err = errors.New("somebody else closed the row")
		}
		if err != nil {
			return err
		}
		closed := *c.Close
		closed.To, c.Close = &at, &closed
	}
	if c.Open == nil {
		return nil
	}
	r := *c.Open
	if _, err := t.one(lastRegistryVersion(r.Dimension), []any{r.Source, r.Endpoint, r.Operation}, &r.Version); err != nil {
		return err
	}
	r.Version++
	r.From, r.To, r.Lifecycle, r.FileHash = at, nil, patra.LifecycleActive, fileHash
	var err error
	r.ID, err = t.insert(insertRegistryRow(r.Dimension), r.Source, optional(r.Endpoint), optional(r.Operation), r.From, r.Lifecycle, r.Version, string(r.Body), r.FileHash, r.Scope(), at)
	c.Open = &r
	return err
}

// Registry reads the rows of a source that were in force at an instant, whatever their lifecycle.
func (s *Store) Registry(ctx context.Context, code string, at patra.Instant) ([]patra.RegistryRow, error) {
	return s.read(ctx).registry(liveRegistry, code, at, at)
}

// RegistryHistory reads every row that a source ever had.
func (s *Store) RegistryHistory(ctx context.Context, code string) ([]patra.RegistryRow, error) {
	return s.read(ctx).registry(wholeRegistry, code)
}

// Provenances lists the sources that were ever applied.
func (s *Store) Provenances(ctx context.Context) ([]patra.Provenance, error) {
	return s.read(ctx).provenances(listProvenances)
}

// registry runs a query over all dimensions; args are those of one of them.
func (t *tx) registry(st stmt, args ...any) ([]patra.RegistryRow, error) {
	all := []patra.RegistryRow{}
	err := t.rows(st, func(r *sql.Rows) error {
		var row patra.RegistryRow
		var operation string
		err := r.Scan(&row.Dimension, &row.ID, &row.Source, textInto{&row.Endpoint}, textInto{&operation}, &row.From, &row.To, &row.Lifecycle, &row.Version, jsonInto{&row.Body}, &row.FileHash)
		row.Operation = patra.Operation(operation)
		all = append(all, row)
		return err
	}, slices.Repeat(args, len(patra.Dimensions))...)
	slices.SortFunc(all, patra.CompareRegistryRows)
	return all, err
}

func (t *tx) provenances(st stmt, args ...any) ([]patra.Provenance, error) {
	all := []patra.Provenance{}
	err := t.rows(st, func(r *sql.Rows) error {
		var p patra.Provenance
		err := r.Scan(&p.Code, &p.Name, &p.RecordType, &p.Docs, jsonInto{&p.Defaults}, &p.Lifecycle, &p.Version, &p.FileHash, &p.UpdatedAt)
		all = append(all, p)
		return err
	}, args...)
	return all, err
}

// Dictionary reads the codes that sources may use.
func (s *Store) Dictionary(ctx context.Context) (patra.Dictionary, error) {
	d, t := patra.Dictionary{}, s.read(ctx)
	err := t.rows(selectCodes, func(r *sql.Rows) error {
		var kind, code string
		err := r.Scan(&kind, &code)
		entry := d[kind]
		entry.Items = append(entry.Items, code)
		d[kind] = entry
		return err
	})
	if err != nil {
		return nil, err
	}
	err = t.rows(selectAliases, func(r *sql.Rows) error {
		var kind, alias, code string
		err := r.Scan(&kind, &alias, &code)
		entry := d[kind]
		if entry.Aliases == nil {
			entry.Aliases = map[string]string{}
		}
		entry.Aliases[alias] = code
		d[kind] = entry
		return err
	})
	return d, err
}
