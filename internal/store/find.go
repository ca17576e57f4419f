package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"patra"
)

// RecordQuery is which records are wanted. Zero values do not narrow.
type RecordQuery struct {
	Source, Type, IDPrefix string
	Repository             string
	ChangedSince           *patra.Instant
	UpdatedFrom, UpdatedTo *patra.Instant
	Deleted                bool // only those that the provider deleted
	Missing                bool // only those that the provider refused to give, and that are not gone; with Gone: either
	Gone                   bool // only those that were refused so often that they are gone
	Where                  []patra.FieldTest
	Limit                  int64 // 0 is all
}

// where builds the conditions: every value and every path of a field is a parameter.
func (q RecordQuery) where(d dialect) (string, []any) {
	conds, args := []string{"r.id > ?"}, []any{int64(0)}
	add := func(set bool, cond string, values ...any) {
		if set {
			conds, args = append(conds, cond), append(args, values...)
		}
	}
	add(q.Source != "", "r.provenance_code = ?", q.Source)
	add(q.Type != "", "r.record_type = ?", q.Type)
	add(q.Repository != "", "r.repository = ?", q.Repository)
	add(q.IDPrefix != "", "r.provider_id LIKE ? ESCAPE '!'", patra.EscapeLike(q.IDPrefix)+"%")
	add(q.ChangedSince != nil, "r.changed_at >= ?", q.ChangedSince)
	add(q.UpdatedFrom != nil, "r.provider_updated_at >= ?", q.UpdatedFrom)
	add(q.UpdatedTo != nil, "r.provider_updated_at < ?", q.UpdatedTo)
	add(q.Deleted, "r.deleted = 1")
	// What an older version of the program does beside this one is in the remarks of the record only.
	add(q.Missing || q.Gone, `r.id IN (SELECT a.live_id FROM ing_absence a WHERE a.live_id IS NOT NULL AND a.status_code IN (?, ?)) AND r.record_remarks LIKE '%"missing_since":%'`, q.absences()...)
	for _, t := range q.Where {
		cond, values := fieldCondition(d, t)
		add(true, cond, values...)
	}
	return strings.Join(conds, " AND "), args
}

// absences are the states that an absence may have.
func (q RecordQuery) absences() []any {
	all := []any{patra.AbsenceMissing, patra.AbsenceGone}
	switch {
	case !q.Gone:
		all[1] = patra.AbsenceMissing
	case !q.Missing:
		all[0] = patra.AbsenceGone
	}
	return all
}

// fieldCondition is a condition on a field. A list is what any of its members is; what is not there is nothing.
func fieldCondition(d dialect, t patra.FieldTest) (string, []any) {
	path := t.JSONPath()
	switch t.Op {
	case "~":
		return "LOWER(" + d.fieldText + ") LIKE LOWER(?) ESCAPE '!'", []any{path, "%" + patra.EscapeLike(t.Value) + "%"}
	case "=", "!=":
		cond, args := d.fieldIs, []any{path, t.Value}
		if d.fieldIsPath { // the path stands behind the value
			args = []any{jsonOf(t.Value), path}
		}
		if t.Op == "!=" {
			cond = "NOT COALESCE(" + cond + ", FALSE)"
		}
		return cond, args
	}
	number, err := strconv.ParseFloat(t.Value, 64)
	if err != nil {
		return d.fieldText + " " + t.Op + " ?", []any{path, t.Value}
	}
	return "((COALESCE(" + d.fieldNumber + ", FALSE) AND " + d.fieldText + " + 0.0 " + t.Op + " ?) OR (NOT COALESCE(" + d.fieldNumber + ", FALSE) AND " + d.fieldText + " " + t.Op + " ?))",
		[]any{path, path, number, path, path, t.Value}
}

// jsonOf is a value as a JSON scalar: a number, true, false, or a text.
func jsonOf(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil || value == "true" || value == "false" {
		return value
	}
	return asJSON(value)
}

// Find hands the records of a query to use, in the order of their arrival, a short page at a time.
func (s *Store) Find(ctx context.Context, q RecordQuery, use func(patra.Record) error) error {
	where, args := q.where(s.dialect)
	st := stmt{"find_records", `SELECT ` + recordColumns + ` FROM ing_record r WHERE ` + where + ` ORDER BY r.id LIMIT 500`}
	for left := q.Limit; ; {
		page, err := s.read(ctx).records(st, args...)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, rec := range page {
			if err := use(rec); err != nil {
				return err
			}
			if left--; left == 0 {
				return nil
			}
			args[0] = rec.ID
		}
	}
}

var recordTypes = stmt{"record_types", `SELECT DISTINCT record_type FROM ing_record WHERE provenance_code = ? ORDER BY record_type`}

// RecordTypes are the types of the records of a source.
func (s *Store) RecordTypes(ctx context.Context, source string) (types []string, err error) {
	err = s.read(ctx).rows(recordTypes, func(r *sql.Rows) error {
		var t string
		err := r.Scan(&t)
		types = append(types, t)
		return err
	}, source)
	return types, err
}
