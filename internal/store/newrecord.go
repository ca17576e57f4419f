package store

import (
	"database/sql"
	"errors"
	"strings"

	"patra"
)

const (
	recordInto = `INSERT INTO ing_record
		(provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, merged_into, fields, raw, raw_from, raw_size, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at,
		 batch_id, expr_hash, spec_fingerprint, record_remarks, created_at, repository) VALUES `
	recordRow = `(?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {now}, ?, ?, ?, ?, ?, ?, ?)`
)

var insertRecord = stmt{"insert_record", recordInto + recordRow}

// maxTogether is how many bytes one statement brings to a server, unless a single record has more.
const maxTogether = 1 << 20

// errRaced rolls a transaction back because somebody else has just stored a record that it took for new. It is tried again,
// and knows the record then.
var errRaced = errors.New("somebody else stored the same record")

// values are the columns of a new record.
func (in *recordWriter) values(o incomingRecord) []any {
	at := in.raws.place(o.Raw)
	return []any{in.claim.Task.Source, in.recordType, scopedID(in.repository, o.ID), o.UpdatedAt, o.Hash, o.Deleted, optional(o.MergedInto), string(o.Fields), at.raw, at.from, at.size, o.RawCode, in.now, o.ObservedAt, in.now,
		in.batchID, in.claim.Slice.ExprHash, in.claim.Spec, o.said, in.now, optional(in.repository)}
}

// insert writes the records that are new. A server gets as many as it can in one statement, because there most of the price is the
// way; an embedded database a few, because there it is the work.
func (in *recordWriter) insert() (err error) {
	fresh := in.fresh
	in.fresh = in.fresh[:0]
	if in.s.Embedded() {
		err = in.insertEmbedded(fresh)
	} else {
		err = in.insertTogether(fresh)
	}
	if in.s.dialect.duplicate(err) {
		return errRaced
	}
	return err
}

func (in *recordWriter) insertEach(fresh []incomingRecord) error {
	for _, o := range fresh {
		res, err := in.many(insertRecord, in.values(o)...)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		in.note(o.Observation, &storedRecord{id: id}, patra.Insert)
	}
	return nil
}

// insertEmbedded writes those that are like each other by few statements, and the others one by one.
func (in *recordWriter) insertEmbedded(fresh []incomingRecord) error {
	alike, others := in.alike(fresh)
	if err := in.insertAlike(alike); err != nil {
		return err
	}
	return in.insertEach(others)
}

// insertTogether asks afterwards which ids they got: not every server gives those of one statement in a row.
func (in *recordWriter) insertTogether(fresh []incomingRecord) error {
	for rest := fresh; len(rest) > 0; {
		n, args, size := 0, []any(nil), 0
		for ; n < min(len(rest), rowsAtOnce) && (n == 0 || size < maxTogether); n++ {
			row := in.values(rest[n])
			args = append(args, row...)
			for _, v := range row {
				switch v := v.(type) {
				case string:
					size += len(v)
				case []byte:
					size += len(v)
				}
			}
		}
		st := stmt{"insert_records", recordInto + strings.Repeat(recordRow+", ", n-1) + recordRow}
		if _, err := in.many(st, args...); err != nil {
			return err
		}
		rest = rest[n:]
	}
	ids, err := in.rowsOf(fresh)
	for _, o := range fresh {
		in.note(o.Observation, &storedRecord{id: ids[o.ID]}, patra.Insert)
	}
	return err
}

// rowsOf are the ids of the rows of some records.
func (in *recordWriter) rowsOf(some []incomingRecord) (map[string]int64, error) {
	ids := make(map[string]int64, len(some))
	if len(some) == 0 {
		return ids, nil
	}
	args := []any{in.claim.Task.Source, in.recordType}
	for _, o := range some {
		args = append(args, scopedID(in.repository, o.ID))
	}
	err := in.rows(stmt{"ids_of_records", `SELECT id, provider_id FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id IN (` + marks(len(some)) + `)`}, func(r *sql.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		ids[localID(in.repository, name)] = id
		return err
	}, args...)
	if err == nil && len(ids) != len(some) {
		err = errors.New("not all new records are stored")
	}
	return ids, err
}
