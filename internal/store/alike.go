package store

import (
	"errors"

	"patra"
)

// What all new records of a page have in common is said once to the embedded engine, however many rows a statement has: a value
// with a number can stand in every row. The columns are in the order of the table, so that the engine need not sort them. Nothing is
// computed in a row, not even the time: a computation may fail, and an engine that must be able to take back one statement copies
// every page that it changes into a file first.
const (
	alikeInto = `INSERT {orfail} INTO ing_record
		(id, provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, merged_into, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at,
		 batch_id, expr_hash, spec_fingerprint, created_at, record_remarks, raw_from, raw_size, repository) VALUES `
	alikeRow = `(NULL, ?1, ?2, ?, 1, ?, ?, 0, NULL, ?, ?, ?8, ?9, ?10, ?11, ?9, ?12, ?13, ?14, ?9, ?, ?, ?, ?18)`
)

var (
	// A mark without a number is the one behind the highest so far: in the first row 3 to 7 and 15 to 17, behind which is 18, then one after the other.
	insertAlike = alikeStmts()

	changesOfAlike = stmt{"insert_alike_revs", `INSERT {orfail} INTO ing_record_rev (record_id, rev, change_code, content_sha256, provider_updated_at, observed_at, batch_id, created_at)
		SELECT id, rev, ?, content_sha256, provider_updated_at, observed_at, batch_id, created_at FROM ing_record WHERE id BETWEEN ? AND ? ORDER BY id`}
	eventsOfAlike = stmt{"insert_alike_events", `INSERT {orfail} INTO ing_outbox (event_type, record_id, rev, created_at)
		SELECT ?, id, rev, created_at FROM ing_record WHERE id BETWEEN ? AND ? ORDER BY id`}
)

func alikeStmts() (all []stmt) {
	for _, n := range sizesEmbedded {
		all = append(all, stmt{"insert_alike", alikeInto + repeated(alikeRow, n)})
	}
	return all
}

// alike parts new records into those of which there is nothing to say but what they contain, and the others.
func (in *recordWriter) alike(fresh []incomingRecord) (alike, others []incomingRecord) {
	for _, o := range fresh {
		same := len(alike) == 0 || o.ObservedAt == alike[0].ObservedAt && o.RawCode == alike[0].RawCode
		if same && o.plain {
			alike = append(alike, o)
		} else {
			others = append(others, o)
		}
	}
	return alike, others
}

// insertAlike writes them, and what is told of them: that is in their rows already.
func (in *recordWriter) insertAlike(alike []incomingRecord) error {
	if len(alike) == 0 {
		return nil
	}
	changed, err := in.clock()
	if err != nil {
		return err
	}
	var last int64
	for rest := alike; len(rest) > 0; {
		n, at := fitting(len(rest))
		res, err := in.many(insertAlike[at], in.alikeValues(rest[:n], changed)...)
		if err != nil {
			return err
		}
		if last, err = res.LastInsertId(); err != nil {
			return err
		}
		rest = rest[n:]
	}
	for _, o := range alike {
		in.taken = append(in.taken, o.Observation)
	}
	if err := in.tellOf(changesOfAlike, patra.Insert, last, len(alike)); err != nil {
		return err
	}
	return in.tellOf(eventsOfAlike, patra.EventUpserted, last, len(alike))
}

// tellOf writes a row for each of the last n records. Nobody else writes meanwhile, and an id is above all that ever were: so if there
// are n, they are those.
func (in *recordWriter) tellOf(st stmt, as any, last int64, n int) error {
	told, err := in.exec(st, as, last-int64(n)+1, last)
	if err == nil && told != int64(n) {
		err = errors.New("the ids of new records are not in a row")
	}
	return err
}

// alikeValues are the values of a statement of insertAlike.
func (in *recordWriter) alikeValues(some []incomingRecord, changed patra.Instant) []any {
	args := make([]any, 0, 18+8*(len(some)-1))
	for i, o := range some {
		at := in.raws.place(o.Raw)
		if i == 0 {
			args = append(args, in.claim.Task.Source, in.recordType, scopedID(in.repository, o.ID), o.UpdatedAt, o.Hash, string(o.Fields), at.raw,
				o.RawCode, int64(in.now), int64(o.ObservedAt), int64(changed), in.batchID, in.claim.Slice.ExprHash, in.claim.Spec, o.said, at.from, at.size, optional(in.repository))
			continue
		}
		args = append(args, scopedID(in.repository, o.ID), o.UpdatedAt, o.Hash, string(o.Fields), at.raw, o.said, at.from, at.size)
	}
	return args
}
