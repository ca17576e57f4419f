package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"

	"patra"
)

// chunk is how many ids one look-up names.
const chunk = 200

// changed_at is what exports go by, so it is the clock of the database when the row is written, and not the caller's: that
// one can be wrong, and a process can sleep between looking at it and writing.
var (
	replaceRecord = stmt{"replace_record", `UPDATE ing_record
		SET rev = ?, provider_updated_at = ?, content_sha256 = ?, deleted = ?, merged_into = ?, fields = ?, raw = ?, raw_from = ?, raw_size = ?, raw_code = ?, observed_at = ?, changed_at = {now}, last_refreshed_at = ?,
		    batch_id = ?, expr_hash = ?, spec_fingerprint = ?, record_remarks = ?
		WHERE id = ?`}
	touchRecord  = stmt{"touch_record", `UPDATE ing_record SET provider_updated_at = ?, observed_at = ?, last_refreshed_at = ?, spec_fingerprint = ?, record_remarks = ? WHERE id = ?`}
	anyBetween   = stmt{"any_between", `SELECT 1 FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id BETWEEN ? AND ? LIMIT 1`}
	storedFields = stmt{"stored_fields", `SELECT fields FROM ing_record WHERE id = ?`}
)

// recordNotes is what is known of a record beside its content. Few records have any.
type recordNotes struct {
	Mark         string            `json:"mark,omitempty"` // see patra.Version
	Retracted    bool              `json:"retracted,omitempty"`
	MissingSince *patra.Instant    `json:"missing_since,omitempty"`
	RefusedAt    *patra.Instant    `json:"refused_at,omitempty"`
	Refusals     int64             `json:"refusals,omitempty"`
	GoneAt       *patra.Instant    `json:"gone_at,omitempty"`
	Facts        *patra.FactHashes `json:"facts,omitempty"` // see patra.ChangeRules
}

func (r recordNotes) column() any {
	if r == (recordNotes{}) {
		return nil
	}
	return asJSON(r)
}

func readRemarks(raw json.RawMessage) (r recordNotes, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}

// storedRecord is the stored state that decides about an arriving version.
type storedRecord struct {
	id, rev int64
	spec    string
	remarks recordNotes
	batchID int64
	span    *patra.ByteRange // where in the page of its batch its raw content is; nil: in its row
	patra.Version
}

// mergeInput is an observation and what is stored of it.
type mergeInput struct {
	incomingRecord
	have   *storedRecord
	as     patra.Decision
	brings bool // a new version, or perhaps one
}

// recordWriter brings the observations of one page into the store: each is decided against what is there, and what became of
// each is counted.
type recordWriter struct {
	*tx
	claim      *patra.Claim
	now        patra.Instant
	recordType string
	repository string
	batchID    int64
	merge      patra.Merge
	rules      patra.ChangeRules

	counts patra.Counts
	made   changes
	raws   rawChunks
	fresh  []incomingRecord    // those that nobody had seen, until they are written
	taken  []patra.Observation // those that are new versions
}

// upsertPage decides about all observations of the page, the newest of each record, and writes what is new.
func (in *recordWriter) upsertPage(res patra.PageResult, unique []incomingRecord) error {
	in.counts.Dup = int64(len(res.Records) - len(unique))
	all := make([]mergeInput, 0, len(unique))
	for part := range slices.Chunk(unique, chunk) {
		stored, err := in.known(idsOf(part))
		if err != nil {
			return err
		}
		for _, o := range part {
			all = append(all, in.arrived(o, stored[o.ID]))
		}
	}
	in.raws = rawsOf(res.Raw, all)
	for part := range slices.Chunk(all, chunk) {
		for _, a := range part {
			if err := in.put(a); err != nil {
				return err
			}
		}
		if err := in.insert(); err != nil {
			return err
		}
		if err := in.addChanges(&in.made); err != nil {
			return err
		}
	}
	return nil
}

func (in *recordWriter) arrived(o incomingRecord, have *storedRecord) mergeInput {
	var old *patra.Version
	if have != nil {
		old = &have.Version
	}
	a := mergeInput{incomingRecord: o, have: have, as: in.merge.Decide(old, o.Version())}
	a.brings = a.as == patra.Insert || a.as == patra.Replace || a.as == patra.Same && have.spec != in.claim.Spec
	return a
}

// keysOf are ids as they stand in the table.
func (in *recordWriter) keysOf(ids []string) []string {
	if in.repository == "" {
		return ids
	}
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = scopedID(in.repository, id)
	}
	return keys
}

// known is what is stored under ids that are in their order.
func (in *recordWriter) known(ids []string) (map[string]*storedRecord, error) {
	keys := in.keysOf(ids)
	if in.s.Embedded() { // a server is not asked twice
		if some, err := in.anyBetween(keys); err != nil || !some {
			return nil, err
		}
	}
	args := []any{in.claim.Task.Source, in.recordType}
	for _, key := range keys {
		args = append(args, key)
	}
	query := stmt{"known_records_" + strconv.Itoa(len(ids)), `SELECT id, rev, provider_id, provider_updated_at, observed_at, content_sha256, deleted, spec_fingerprint, batch_id, raw_from, raw_size, record_remarks FROM ing_record
		WHERE provenance_code = ? AND record_type = ? AND provider_id IN (` + marks(len(ids)) + `) ORDER BY provider_id {lock}`}
	stored := make(map[string]*storedRecord, len(ids))
	err := in.rows(query, func(r *sql.Rows) error {
		k := &storedRecord{}
		var providerID string
		var said json.RawMessage
		var from, size *int64
		err := r.Scan(&k.id, &k.rev, &providerID, &k.UpdatedAt, &k.ObservedAt, &k.Hash, &k.Deleted, &k.spec, &k.batchID, &from, &size, jsonInto{&said})
		if err != nil {
			return err
		}
		if from != nil {
			k.span = &patra.ByteRange{From: *from, Size: *size}
		}
		k.remarks, err = readRemarks(said)
		k.Mark = k.remarks.Mark
		stored[localID(in.repository, providerID)] = k
		return err
	}, args...)
	return stored, err
}

// anyBetween tells whether any record is stored from one id to another. Many providers number their records, and where they add
// new ones there is none yet: that is seen by one look, and not by one for each.
func (in *recordWriter) anyBetween(keys []string) (bool, error) {
	var one int
	from, to := keys[0], keys[len(keys)-1]
	if in.repository != "" { // what stands behind them may order them in another way
		from, to = slices.Min(keys), slices.Max(keys)
	}
	return in.one(anyBetween, []any{in.claim.Task.Source, in.recordType, from, to}, &one)
}

func (in *recordWriter) put(a mergeInput) error {
	switch a.as {
	case patra.Insert:
		in.counts.Insert++
		in.fresh = append(in.fresh, a.incomingRecord)
		return nil
	case patra.Replace:
		in.counts.Update++
		return in.replace(a.incomingRecord, a.have, changeOf(a.Observation, a.have))
	case patra.Same:
		return in.same(a.incomingRecord, a.have)
	}
	in.counts.Stale++
	if a.Deleted { // an old notice of a deletion does not say that the provider has the record
		return nil
	}
	return in.seenAgain(a.Observation, a.have, a.have.remarks.withAbsence(patra.Absence{}).column())
}

// changeOf says what a new version is.
func changeOf(o patra.Observation, have *storedRecord) patra.Decision {
	switch {
	case o.MergedInto != "":
		return patra.ChangeMerged
	case o.Deleted:
		return patra.ChangeDeleted
	case o.Retracted && !have.remarks.Retracted:
		return patra.ChangeRetracted
	}
	return patra.Replace
}

// versionNotes is what is remembered of a version beside its content. One that says that the record is gone has no content, and
// what was known of it stays.
func versionNotes(o patra.Observation, have *storedRecord) recordNotes {
	r := recordNotes{Mark: o.Mark, Retracted: o.Retracted, Facts: o.Facts}
	if o.Deleted && have != nil {
		r.Facts = o.Facts.Overlay(have.remarks.Facts)
	}
	return r
}

// replace makes an observation the stored version.
func (in *recordWriter) replace(o incomingRecord, have *storedRecord, as patra.Decision) (err error) {
	if in.merge.KeepsMissingFields(o.Version()) {
		if o.Fields, err = in.filled(o.Observation, have); err != nil {
			return err
		}
	}
	in.raws.free(have)
	at := in.raws.place(o.Raw)
	_, err = in.many(replaceRecord, have.rev+1, o.UpdatedAt, o.Hash, o.Deleted, optional(o.MergedInto), string(o.Fields), at.raw, at.from, at.size, o.RawCode, o.ObservedAt, in.now,
		in.batchID, in.claim.Slice.ExprHash, in.claim.Spec, o.saidWith(have), have.id)
	if err != nil {
		return err
	}
	in.note(o.Observation, have, as)
	_, err = in.endAbsence(o.Observation, have, have.rev+1)
	return err
}

// same notes that the provider says what we have. If another mapping read it this time, the record may say something new
// all the same.
func (in *recordWriter) same(o incomingRecord, have *storedRecord) error {
	newer := in.merge.Newer(o.Version(), have.Version)
	spec := have.spec
	if spec != in.claim.Spec && newer {
		fields, err := in.stored(have)
		if err != nil {
			return err
		}
		if in.merge.KeepsMissingFields(o.Version()) {
			if o.Fields, err = patra.Fill(fields, o.Fields); err != nil {
				return err
			}
		}
		if !sameJSON(fields, o.Fields) {
			in.counts.Update++
			return in.replace(o, have, patra.ChangeRemapped)
		}
		spec = in.claim.Spec
	}
	in.counts.Same++
	updated, observed := have.UpdatedAt, have.ObservedAt
	if newer {
		updated, observed = o.UpdatedAt, o.ObservedAt
	}
	if _, err := in.many(touchRecord, updated, observed, in.now, spec, o.saidWith(have), have.id); err != nil {
		return err
	}
	return in.seenAgain(o.Observation, have, o.saidWith(have))
}

// sameJSON compares fields that were written by different engines.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := patra.Canonical(a)
	y, errY := patra.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func (in *recordWriter) filled(o patra.Observation, have *storedRecord) (json.RawMessage, error) {
	older, err := in.stored(have)
	if err != nil {
		return nil, err
	}
	return patra.Fill(older, o.Fields)
}

func (in *recordWriter) stored(have *storedRecord) (fields json.RawMessage, err error) {
	_, err = in.one(storedFields, []any{have.id}, jsonInto{&fields})
	return fields, err
}

// note keeps a new version for its biography, for those who listen, and for what it says about other records.
func (in *recordWriter) note(o patra.Observation, have *storedRecord, as patra.Decision) {
	codes := in.rules.Derive(have.rev > 0, have.remarks.Facts, o.Facts)
	in.made.add(in.now, have.id, have.rev+1, as, in.batchID, o, codes)
	in.taken = append(in.taken, o)
}
