package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"patra"
)

const rawColumns = `r.raw, r.raw_code, r.raw_from, r.raw_size`

const recordColumns = `r.id, r.provenance_code, r.record_type, r.provider_id, r.provider_updated_at, r.deleted, r.merged_into, r.rev, r.first_seen_at, r.last_refreshed_at, r.observed_at, r.changed_at, r.fields, ` + rawColumns + `,
	r.content_sha256, r.batch_id, r.expr_hash, r.spec_fingerprint, r.record_remarks, r.repository`

var (
	countRecords   = stmt{"count_records", `SELECT COUNT(*) FROM ing_record WHERE (? = '' OR provenance_code = ?)`}
	selectRecord   = stmt{"select_record", `SELECT ` + recordColumns + ` FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.provider_id = ?`}
	countKnown     = stmt{"count_known", `SELECT COUNT(*) FROM ing_record WHERE provenance_code = ? AND COALESCE(repository, '') = ?`}
	repositoriesOf = stmt{"repositories_of", `SELECT repository FROM ing_cursor WHERE provenance_code = ? AND repository IS NOT NULL`}
	// What stands behind an id begins with a blank, and nothing stands between a blank and an exclamation mark.
	selectWithID = stmt{"select_with_id", `SELECT ` + recordColumns + ` FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.provider_id = ?
		UNION ALL SELECT ` + recordColumns + ` FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.provider_id > ? AND r.provider_id < ? AND r.repository IS NOT NULL`}
	batchLineage    = stmt{"batch_lineage", `SELECT t.schedule_instance_id, b.plan_id, b.slice_id, b.task_id, b.run_id, b.id FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id WHERE b.id = ?`}
	archivedLineage = stmt{"archived_lineage", `SELECT t.schedule_instance_id, t.plan_id, t.slice_id, t.id, a.run_id, a.batch_id FROM ing_archive_batch a JOIN ing_task t ON t.id = a.task_id WHERE a.batch_id = ?`}
	selectChanges   = stmt{"select_changes", `SELECT rev, change_code, content_sha256, provider_updated_at, observed_at, batch_id FROM ing_record_rev WHERE record_id = ? ORDER BY rev`}
)

// Records hands every stored record of a source (all sources if empty) to use, in the order of their arrival.
func (s *Store) Records(ctx context.Context, source string, use func(patra.Record) error) error {
	x := ExportQuery{Raw: true}
	if source != "" {
		x.Sources = []string{source}
	}
	return s.Extract(ctx, x, use)
}

func scanRecord(r *sql.Rows) (rec row, err error) {
	var raw []byte
	var notes json.RawMessage
	err = r.Scan(&rec.ID, &rec.Source, &rec.Type, &rec.ProviderID, &rec.UpdatedAt, &rec.Deleted, textInto{&rec.MergedInto}, &rec.Rev, &rec.FirstSeen, &rec.LastSeen, &rec.ObservedAt, &rec.ChangedAt, jsonInto{&rec.Fields},
		&raw, &rec.code, &rec.from, &rec.size, &rec.ContentSHA256, &rec.BatchID, &rec.ExprHash, &rec.SpecFingerprint, jsonInto{&notes}, textInto{&rec.Repository})
	if err != nil {
		return rec, err
	}
	rec.ProviderID = localID(rec.Repository, rec.ProviderID)
	said, err := readRemarks(notes)
	absence := said.absence()
	rec.Retracted, rec.MissingSince, rec.Refusals, rec.GoneAt = said.Retracted, said.MissingSince, absence.Refusals, absence.GoneAt
	if said.MissingSince != nil {
		rec.LastSeen = max(rec.ObservedAt, rec.FirstSeen) // it was looked for since, and not seen; it came after it was asked for
	}
	rec.Raw = raw
	return rec, err
}

// textInJSON writes a text as JSON without disguising its tags.
func textInJSON(s string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return bytes.TrimSpace(b.Bytes()), err
}

// CountRecords counts the stored records of a source, or of all.
func (s *Store) CountRecords(ctx context.Context, source string) (n int64, err error) {
	_, err = s.read(ctx).one(countRecords, []any{source, source}, &n)
	return n, err
}

// CountKnown counts the stored records of one repository of a source.
func (s *Store) CountKnown(ctx context.Context, source, repository string) (n int64, err error) {
	_, err = s.read(ctx).one(countKnown, []any{source, repository}, &n)
	return n, err
}

// Repositories are those of a source that anything was ever planned for, in order; none if the source is one provider.
func (s *Store) Repositories(ctx context.Context, source string) (all []string, err error) {
	err = s.read(ctx).rows(repositoriesOf, func(r *sql.Rows) error {
		var name string
		err := r.Scan(textInto{&name})
		if !slices.Contains(all, name) { // of many plans, for few repositories
			all = append(all, name)
		}
		return err
	}, source)
	slices.Sort(all)
	return all, err
}

// Record finds one record of a source that is one provider, by its business key; nil if it was never stored.
func (s *Store) Record(ctx context.Context, source, recordType, id string) (*patra.Record, error) {
	return s.RecordOf(ctx, source, recordType, "", id)
}

// RecordOf finds one record of a repository by its business key; nil if it was never stored.
func (s *Store) RecordOf(ctx context.Context, source, recordType, repository, id string) (*patra.Record, error) {
	found, err := s.read(ctx).records(selectRecord, source, recordType, scopedID(repository, id))
	found = slices.DeleteFunc(found, func(r patra.Record) bool { return r.Repository != repository })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// RecordsWithID finds the records that have an id, in whichever repository, in the order of the repositories.
func (s *Store) RecordsWithID(ctx context.Context, source, recordType, id string) ([]patra.Record, error) {
	found, err := s.read(ctx).records(selectWithID, source, recordType, id, source, recordType, id+" ", id+"!")
	return slices.DeleteFunc(found, func(r patra.Record) bool { return r.ProviderID != id }), err
}

// Lineage is the line of work that a batch belongs to; nil if there is no such batch.
func (s *Store) Lineage(ctx context.Context, batchID int64) (*patra.Lineage, error) {
	var l patra.Lineage
	for _, place := range []stmt{batchLineage, archivedLineage} {
		found, err := s.read(ctx).one(place, []any{batchID}, &l.Instance, &l.Plan, &l.Slice, &l.Task, &l.Run, &l.Batch)
		if err != nil {
			return nil, err
		}
		if found {
			return &l, nil
		}
	}
	return nil, nil
}

// RecordVersion is one version in the biography of a record.
type RecordVersion struct {
	Rev        int64          `json:"rev"`
	Change     patra.Decision `json:"change"`
	SHA256     string         `json:"content_sha256"`
	UpdatedAt  *patra.Instant `json:"updated_at"`
	ObservedAt patra.Instant  `json:"observed_at"`
	BatchID    int64          `json:"batch_id"`
}

// RecordVersions lists the versions of a record, oldest first.
func (s *Store) RecordVersions(ctx context.Context, recordID int64) (all []RecordVersion, err error) {
	err = s.read(ctx).rows(selectChanges, func(r *sql.Rows) error {
		var c RecordVersion
		err := r.Scan(&c.Rev, &c.Change, &c.SHA256, &c.UpdatedAt, &c.ObservedAt, &c.BatchID)
		all = append(all, c)
		return err
	}, recordID)
	return all, err
}
