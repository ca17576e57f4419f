package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"

	"patra"
)

// chunk is how many ids one look-up names.
const chunk = 200

var (
	insertRecord = stmt{"insert_record", `INSERT INTO ing_record
		(provenance_code, record_type, provider_id, rev, provider_updated_at, content_sha256, deleted, fields, raw, raw_code, first_seen_at, observed_at, changed_at, last_refreshed_at,
		 batch_id, expr_hash, spec_fingerprint, created_at) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	replaceRecord = stmt{"replace_record", `UPDATE ing_record
		SET rev = ?, provider_updated_at = ?, content_sha256 = ?, deleted = ?, fields = ?, raw = ?, raw_code = ?, observed_at = ?, changed_at = ?, last_refreshed_at = ?, batch_id = ?, expr_hash = ?, spec_fingerprint = ?
		WHERE id = ?`}
	touchRecord = stmt{"touch_record", `UPDATE ing_record SET provider_updated_at = ?, observed_at = ?, last_refreshed_at = ? WHERE id = ?`}
)

// known is the stored state that decides about an arriving version.
type known struct {
	id, rev int64
	patra.Version
}

// putRecords brings the observations of one page into the store: each is decided against what is there, and what
// became of each is counted.
func (t *tx) putRecords(c *patra.Claim, now patra.Instant, recordType string, batchID int64, arriving []patra.Observation) (counts patra.Counts, err error) {
	unique := newestOfEach(arriving)
	counts.Dup = int64(len(arriving) - len(unique))
	var made changes
	for part := range slices.Chunk(unique, chunk) {
		stored, err := t.knownRecords(c.Task.Source, recordType, part)
		if err != nil {
			return counts, err
		}
		for _, o := range part {
			if err := t.putRecord(c, now, recordType, batchID, o, stored[o.ID], &counts, &made); err != nil {
				return counts, err
			}
		}
		if err := t.addChanges(&made); err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// newestOfEach keeps one observation for each id, in id order: two workers that lock the same rows lock them in
// the same order.
func newestOfEach(arriving []patra.Observation) []patra.Observation {
	best := make(map[string]patra.Observation, len(arriving))
	for _, o := range arriving {
		if have, ok := best[o.ID]; !ok || o.Version().Newer(have.Version()) {
			best[o.ID] = o
		}
	}
	unique := make([]patra.Observation, 0, len(best))
	for _, o := range best {
		unique = append(unique, o)
	}
	slices.SortFunc(unique, func(a, b patra.Observation) int { return cmp.Compare(a.ID, b.ID) })
	return unique
}

func (t *tx) knownRecords(source, recordType string, part []patra.Observation) (map[string]*known, error) {
	args := []any{source, recordType}
	for _, o := range part {
		args = append(args, o.ID)
	}
	query := stmt{"known_records_" + strconv.Itoa(len(part)), `SELECT id, rev, provider_id, provider_updated_at, observed_at, content_sha256 FROM ing_record
		WHERE provenance_code = ? AND record_type = ? AND provider_id IN (` + marks(len(part)) + `) ORDER BY provider_id {lock}`}
	stored := make(map[string]*known, len(part))
	err := t.rows(query, func(r *sql.Rows) error {
		k := &known{}
		var providerID string
		err := r.Scan(&k.id, &k.rev, &providerID, &k.UpdatedAt, &k.ObservedAt, &k.Hash)
		stored[providerID] = k
		return err
	}, args...)
	return stored, err
}

func (t *tx) putRecord(c *patra.Claim, now patra.Instant, recordType string, batchID int64, o patra.Observation, have *known, counts *patra.Counts, made *changes) error {
	var old *patra.Version
	if have != nil {
		old = &have.Version
	}
	switch decision := patra.Decide(old, o.Version()); decision {
	case patra.Insert:
		counts.Insert++
		return t.addRecord(c, now, recordType, batchID, o, made)
	case patra.Replace:
		counts.Update++
		_, err := t.many(replaceRecord, have.rev+1, o.UpdatedAt, o.Hash, o.Deleted, string(o.Fields), o.Raw, o.RawCode, o.ObservedAt, now, now, batchID, c.Slice.ExprHash, c.Spec, have.id)
		if err != nil {
			return err
		}
		t.addChange(c, now, recordType, have, decision, batchID, o, made)
		return nil
	case patra.Same:
		counts.Same++
		if !o.Version().Newer(have.Version) {
			return nil
		}
		_, err := t.many(touchRecord, o.UpdatedAt, o.ObservedAt, now, have.id)
		return err
	}
	counts.Stale++
	return nil
}

func (t *tx) addRecord(c *patra.Claim, now patra.Instant, recordType string, batchID int64, o patra.Observation, made *changes) error {
	res, err := t.many(insertRecord, c.Task.Source, recordType, o.ID, o.UpdatedAt, o.Hash, o.Deleted, string(o.Fields), o.Raw, o.RawCode, now, o.ObservedAt, now, now,
		batchID, c.Slice.ExprHash, c.Spec, now)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	t.addChange(c, now, recordType, &known{id: id}, patra.Insert, batchID, o, made)
	return nil
}

// addChange notes a new version.
func (t *tx) addChange(c *patra.Claim, now patra.Instant, recordType string, have *known, as patra.Decision, batchID int64, o patra.Observation, made *changes) {
	event := patra.RecordEvent{Source: c.Task.Source, Type: recordType, ID: o.ID, Rev: have.rev + 1, UpdatedAt: o.UpdatedAt, Deleted: o.Deleted, Hash: o.Hash, Fields: o.Fields,
		Lineage: patra.EventLineage{Plan: c.Task.PlanID, Slice: c.Slice.ID, Task: c.TaskID, Run: c.RunID, Batch: batchID}}
	if as != patra.Insert {
		event.Previous = &have.Hash
	}
	made.add(now, have.id, as, batchID, o, event)
}
