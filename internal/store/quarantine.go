package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"patra"
)

const setAsideColumns = `q.id, q.provenance_code, q.record_type, q.provider_id, q.error_code, q.field_path, LENGTH(q.fragment), q.status_code, q.created_at, q.batch_id, q.record_remarks, q.repository,
	COALESCE((SELECT COUNT(*) FROM ing_quarantine_seen s WHERE s.quarantine_id = q.id), 0), COALESCE((SELECT MAX(s.created_at) FROM ing_quarantine_seen s WHERE s.quarantine_id = q.id), q.created_at)`

func scanSetAside(r *sql.Rows) (q patra.QuarantineItem, err error) {
	var notes json.RawMessage
	err = r.Scan(&q.ID, &q.Source, &q.Type, textInto{&q.RecordID}, &q.Code, textInto{&q.Path}, &q.Size, &q.Status, &q.FirstSeen, &q.BatchID, jsonInto{&notes}, textInto{&q.Repository}, &q.Met, &q.LastSeen)
	if err == nil && len(notes) > 0 {
		var said struct {
			Reason string `json:"reason"`
		}
		err = json.Unmarshal(notes, &said)
		q.Reason = said.Reason
	}
	return q, err
}

// QuarantineFilter narrows a list of what is in quarantine. Zero values do not filter.
type QuarantineFilter struct {
	Source, RecordID, Code string
	Repository             string
	Status                 patra.Status
	ID                     int64
	Limit                  int
	Before                 int64
	Walk                   *ScanLimit
}

func (f QuarantineFilter) conds() (all []cond) {
	add := func(name, column string, set bool, value any) {
		if set {
			all = append(all, cond{name, column + " = ?", []any{value}})
		}
	}
	add("id", "q.id", f.ID != 0, f.ID)
	add("source", "q.provenance_code", f.Source != "", f.Source)
	add("record", "q.provider_id", f.RecordID != "", f.RecordID)
	add("repository", "q.repository", f.Repository != "", f.Repository)
	add("code", "q.error_code", f.Code != "", f.Code)
	add("status", "q.status_code", f.Status != "", f.Status)
	return all
}

func (f QuarantineFilter) where() (string, []any) {
	where, args := "1 = 1", []any(nil)
	for _, c := range f.conds() {
		where, args = where+" AND "+c.text, append(args, c.values...)
	}
	return where, args
}

// Quarantine lists what could not become a record, newest first, without the fragments.
func (s *Store) Quarantine(ctx context.Context, f QuarantineFilter) ([]patra.QuarantineItem, error) {
	return listPage(ctx, s, listing{"list_quarantine", `SELECT ` + setAsideColumns + ` FROM ing_quarantine q {by} WHERE {where} ORDER BY q.id DESC LIMIT ?`, "q.id"}, f.conds(), ListPage{f.Before, f.Limit, f.Walk}, scanSetAside)
}

// QuarantineGroup is how much of one kind is in quarantine.
type QuarantineGroup struct {
	Source    string        `json:"source"`
	Code      string        `json:"code"`
	Path      string        `json:"path,omitempty"`
	Status    patra.Status  `json:"status"`
	Count     int64         `json:"count"`
	FirstSeen patra.Instant `json:"first_seen"`
	LastSeen  patra.Instant `json:"last_seen"`
	Example   int64         `json:"example"`
}

// QuarantineGroups counts what is in quarantine by source, reason and state, most first.
func (s *Store) QuarantineGroups(ctx context.Context, f QuarantineFilter) ([]QuarantineGroup, error) {
	where, args := f.where()
	all := []QuarantineGroup{}
	err := s.read(ctx).rows(stmt{"group_quarantine", `SELECT q.provenance_code, q.error_code, q.field_path, q.status_code, COUNT(*), MIN(q.created_at),
		MAX(COALESCE((SELECT MAX(s.created_at) FROM ing_quarantine_seen s WHERE s.quarantine_id = q.id), q.created_at)), MAX(q.id) FROM ing_quarantine q
		WHERE ` + where + ` GROUP BY q.provenance_code, q.error_code, q.field_path, q.status_code ORDER BY COUNT(*) DESC, MAX(q.id) DESC`}, func(r *sql.Rows) error {
		var g QuarantineGroup
		err := r.Scan(&g.Source, &g.Code, textInto{&g.Path}, &g.Status, &g.Count, &g.FirstSeen, &g.LastSeen, &g.Example)
		all = append(all, g)
		return err
	}, args...)
	return all, err
}

var (
	selectFragment = stmt{"select_fragment", `SELECT fragment FROM ing_quarantine WHERE id = ?`}
	lockItem       = stmt{"lock_item", `SELECT ` + setAsideColumns + ` FROM ing_quarantine q WHERE q.id = ? {lock}`}
	nameItem       = stmt{"name_item", `UPDATE ing_quarantine SET provider_id = ? WHERE id = ?`}
)

// QuarantineItem reads one item in quarantine, whole; patra.ErrNotFound if there is none.
func (s *Store) QuarantineItem(ctx context.Context, id int64) (patra.QuarantineItem, error) {
	found, err := s.Quarantine(ctx, QuarantineFilter{ID: id})
	if err != nil {
		return patra.QuarantineItem{}, err
	}
	if len(found) == 0 {
		return patra.QuarantineItem{}, patra.ErrNotFound
	}
	q := found[0]
	if _, err := s.read(ctx).one(selectFragment, []any{id}, &q.Fragment); err != nil {
		return q, err
	}
	q.Lineage, err = s.Lineage(ctx, q.BatchID)
	return q, err
}

// Discard gives up an item, with the reason.
func (s *Store) Discard(ctx context.Context, id int64, reason, actor string) error {
	return s.moveQuarantine(ctx, "discard", id, patra.Discarded, func(t *tx, _ patra.QuarantineItem) error {
		if err := t.closeItem(id, patra.Discarded, asJSON(map[string]string{"reason": reason})); err != nil {
			return err
		}
		return t.auditAction(patra.AuditDiscard, actor, itemTarget(id), reason, nil)
	})
}

// RetryQuarantined says that an item is being looked at again. recordID is what is known of its id by now. With wish, a
// signal is raised, so that the record is fetched by this id.
func (s *Store) RetryQuarantined(ctx context.Context, now patra.Instant, id int64, recordID string, wish bool, actor string) error {
	return s.moveQuarantine(ctx, "retry", id, patra.Retrying, func(t *tx, q patra.QuarantineItem) error {
		if recordID != "" && recordID != q.RecordID {
			if _, err := t.exec(nameItem, recordID, id); err != nil {
				return err
			}
		}
		if wish {
			if _, err := t.addSignal(now, q.Source, q.Type, q.Repository, patra.Signal{ID: recordID, Reason: patra.SignalQuarantine}); err != nil {
				return err
			}
		}
		if err := t.closeItem(id, patra.Retrying, nil); err != nil {
			return err
		}
		return t.auditAction(patra.AuditRetry, actor, itemTarget(id), "", map[string]any{"record": recordID})
	})
}

// itemTarget is how the audit log names something that was set aside.
func itemTarget(id int64) string { return "quarantine:" + strconv.FormatInt(id, 10) }

func (s *Store) moveQuarantine(ctx context.Context, what string, id int64, to patra.Status, move func(*tx, patra.QuarantineItem) error) error {
	return s.write(ctx, what+" quarantined item", func(t *tx) error {
		var q *patra.QuarantineItem
		err := t.rows(lockItem, func(r *sql.Rows) error {
			found, err := scanSetAside(r)
			q = &found
			return err
		}, id)
		if err != nil {
			return err
		}
		if q == nil {
			return patra.ErrNotFound
		}
		if q.Status == patra.Retrying && to == patra.Retrying { // asking twice is asking once
			return nil
		}
		if err := patra.QuarantineMoves.Check(q.Status, to); err != nil {
			return fmt.Errorf("item %d: %w", id, err)
		}
		return move(t, *q)
	})
}
