package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"patra"
)

// An absence stands in two places. The remarks of the record have what is read with it; ing_absence has a row for each
// absence, by which absent records are found and by which it is known afterwards that there was one.
var (
	lockAbsent = stmt{"lock_absent", `SELECT r.id, r.rev, r.deleted, r.observed_at, (SELECT COALESCE(MAX(a.ended_at), 0) FROM ing_absence a WHERE a.record_id = r.id), r.record_remarks
		FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.provider_id = ? {lock}`}
	noteAbsence   = stmt{"note_absence", `UPDATE ing_record SET record_remarks = ?, last_refreshed_at = ?, changed_at = CASE WHEN ? = 1 THEN {now} ELSE changed_at END WHERE id = ?`}
	insertAbsence = stmt{"insert_absence", `INSERT INTO ing_absence (record_id, live_id, provenance_code, record_type, rev, status_code, missing_since, refused_at, refusals, gone_at, batch_id, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	updateAbsence = stmt{"update_absence", `UPDATE ing_absence SET status_code = ?, missing_since = ?, refused_at = ?, refusals = ?, gone_at = ?, batch_id = ? WHERE live_id = ? AND status_code = ?`}
	endAbsence    = stmt{"end_absence", `UPDATE ing_absence SET live_id = NULL, status_code = ?, ended_at = ?, end_batch_id = ? WHERE live_id = ?`}
	absencesOf    = stmt{"absences_of", `SELECT status_code, rev, missing_since, refused_at, refusals, gone_at, batch_id, ended_at, COALESCE(end_batch_id, 0) FROM ing_absence WHERE record_id = ? ORDER BY id`}
	seenLast      = stmt{"seen_last", `SELECT r.provider_id FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.deleted = 0 AND COALESCE(r.repository, '') = ?
		AND NOT EXISTS (SELECT 1 FROM ing_absence a WHERE a.live_id = r.id) ORDER BY r.last_refreshed_at DESC, r.id DESC LIMIT ?`}
)

// absence is what the remarks of a record say about its absence. A store of an older version counted no refusals.
func (r recordNotes) absence() patra.Absence {
	if r.MissingSince == nil {
		return patra.Absence{}
	}
	a := patra.Absence{MissingSince: *r.MissingSince, RefusedAt: *r.MissingSince, Refusals: max(r.Refusals, 1), GoneAt: r.GoneAt}
	if r.RefusedAt != nil {
		a.RefusedAt = *r.RefusedAt
	}
	return a
}

// withAbsence are the remarks with an absence, or without any.
func (r recordNotes) withAbsence(a patra.Absence) recordNotes {
	r.MissingSince, r.RefusedAt, r.Refusals, r.GoneAt = nil, nil, a.Refusals, a.GoneAt
	if a.Refusals > 0 {
		r.MissingSince, r.RefusedAt = &a.MissingSince, &a.RefusedAt
	}
	return r
}

// pageContext is the page whose commit writes something: the claim, the batch and the time.
type pageContext struct {
	claim      *patra.Claim
	recordType string
	batchID    int64
	now        patra.Instant
}

// addRefusals counts the refusals of a page. That the provider does not give a record is no deletion: the record stays as
// it is and has no new version. Ids without a record, and records that the provider deleted, are left alone.
func (t *tx) addRefusals(p pageContext, rule patra.GoneRule, refused []patra.Refusal) error {
	sorted := slices.SortedFunc(slices.Values(refused), func(a, b patra.Refusal) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range sorted {
		if err := t.addRefusal(p, rule, r); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) addRefusal(p pageContext, rule patra.GoneRule, r patra.Refusal) error {
	var recordID, rev int64
	var deleted bool
	var seen, ended patra.Instant
	var raw json.RawMessage
	found, err := t.one(lockAbsent, []any{p.claim.Task.Source, p.recordType, scopedID(p.claim.Task.Repository, r.ID)}, &recordID, &rev, &deleted, &seen, &ended, jsonInto{&raw})
	if err != nil || !found || deleted {
		return err
	}
	notes, err := readRemarks(raw)
	if err != nil {
		return err
	}
	before := notes.absence()
	after := rule.Refuse(before, max(seen, ended), r.At)
	if after == before { // it was seen since
		return nil
	}
	moves := before.Status() != after.Status() // then exports say something else of the record from now on
	if _, err := t.exec(noteAbsence, notes.withAbsence(after).column(), p.now, moves, recordID); err != nil {
		return err
	}
	if err := t.storeAbsence(p, recordID, rev, before, after); err != nil || !moves {
		return err
	}
	return t.writeAbsenceEvents(p, r.ID, rev, before, after)
}

// storeAbsence writes the row of an absence that lasts, or begins one. An older version of the program that works beside
// this one knows the remarks only: what it left is put right here.
func (t *tx) storeAbsence(p pageContext, recordID, rev int64, before, after patra.Absence) error {
	if before.Refusals > 0 && before.Status() != after.Status() {
		if err := patra.AbsenceMoves.Check(before.Status(), after.Status()); err != nil {
			return err
		}
	}
	if before.Refusals > 0 {
		n, err := t.exec(updateAbsence, after.Status(), after.MissingSince, after.RefusedAt, after.Refusals, after.GoneAt, p.batchID, recordID, before.Status())
		if err != nil || n == 1 {
			return err
		}
	}
	if _, err := t.exec(endAbsence, patra.AbsenceRevived, after.RefusedAt, p.batchID, recordID); err != nil {
		return err
	}
	_, err := t.exec(insertAbsence, recordID, recordID, p.claim.Task.Source, p.recordType, rev, after.Status(), after.MissingSince, after.RefusedAt, after.Refusals, after.GoneAt, p.batchID, p.now)
	return err
}

// writeAbsenceEvents says that a record is missing, or gone, or both at once.
func (t *tx) writeAbsenceEvents(p pageContext, id string, rev int64, before, after patra.Absence) error {
	if before.Refusals == 0 {
		first := after
		first.GoneAt = nil
		if err := t.writeAbsenceEvent(p, patra.EventMissing, id, rev, first, nil); err != nil {
			return err
		}
	}
	if after.GoneAt == nil {
		return nil
	}
	return t.writeAbsenceEvent(p, patra.EventGone, id, rev, after, nil)
}

func (t *tx) writeAbsenceEvent(p pageContext, kind patra.EventType, id string, rev int64, a patra.Absence, ended *patra.Instant) error {
	c := p.claim
	news := patra.AbsenceEvent{Source: c.Task.Source, RecordType: p.recordType, ID: id, Rev: rev, Absence: a, EndedAt: ended,
		Lineage: patra.EventLineage{Plan: c.Task.PlanID, Slice: c.Slice.ID, Task: c.TaskID, Run: c.RunID, Batch: p.batchID}}
	return t.writeEvent(kind, news.Subject(), []any{p.batchID, a.RefusedAt, ended}, news)
}

// absenceEndsWith reports whether an observation ends the absence of the record that is stored.
func (k *storedRecord) absenceEndsWith(o patra.Observation) bool {
	return k != nil && k.remarks.MissingSince != nil && k.remarks.absence().EndsWith(o.ObservedAt)
}

// endAbsence ends the absence of a record that was seen again, or of which the provider says that it is deleted. It tells
// whether there was one that ends.
func (in *recordWriter) endAbsence(o patra.Observation, have *storedRecord, rev int64) (bool, error) {
	if !have.absenceEndsWith(o) {
		return false, nil
	}
	as := patra.AbsenceRevived
	if o.Deleted {
		as = patra.AbsenceDeleted
	}
	was := have.remarks.absence()
	if err := patra.AbsenceMoves.Check(was.Status(), as); err != nil {
		return false, err
	}
	if _, err := in.exec(endAbsence, as, o.ObservedAt, in.batchID, have.id); err != nil {
		return false, err
	}
	if as == patra.AbsenceDeleted { // its version says so
		return true, nil
	}
	p := pageContext{in.claim, in.recordType, in.batchID, in.now}
	return true, in.writeAbsenceEvent(p, patra.EventRevived, o.ID, rev, was, &o.ObservedAt)
}

// seenAgain ends the absence of a record of which no new version came; notes are its remarks from then on. Its time of
// change moves, because what exports say of it is different now.
func (in *recordWriter) seenAgain(o patra.Observation, have *storedRecord, notes any) error {
	ended, err := in.endAbsence(o, have, have.rev)
	if err != nil || !ended {
		return err
	}
	_, err = in.exec(noteAbsence, notes, in.now, true, have.id)
	return err
}

// Absences are those of a record, the oldest first.
func (s *Store) Absences(ctx context.Context, recordID int64) (all []patra.AbsenceEpisode, err error) {
	err = s.read(ctx).rows(absencesOf, func(r *sql.Rows) error {
		var a patra.AbsenceEpisode
		err := r.Scan(&a.Status, &a.Rev, &a.MissingSince, &a.RefusedAt, &a.Refusals, &a.GoneAt, &a.BatchID, &a.EndedAt, &a.EndedBy)
		all = append(all, a)
		return err
	}, recordID)
	return all, err
}

// IsAbsent reports whether a record is missing or gone.
func (s *Store) IsAbsent(ctx context.Context, source, recordType, id string) (bool, error) {
	r, err := s.Record(ctx, source, recordType, id)
	return r != nil && r.MissingSince != nil, err
}

// SeenLast are the ids of the records of a repository that were looked at last and given, the latest first.
func (s *Store) SeenLast(ctx context.Context, source, recordType, repository string, limit int) (ids []string, err error) {
	err = s.read(ctx).rows(seenLast, func(r *sql.Rows) error {
		var id string
		err := r.Scan(textInto{&id})
		ids = append(ids, localID(repository, id))
		return err
	}, source, recordType, repository, limit)
	return ids, err
}
