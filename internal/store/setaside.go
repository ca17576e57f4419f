package store

import (
	"database/sql"
	"slices"

	"patra"
)

var (
	insertQuarantine = stmt{"insert_quarantine", `INSERT INTO ing_quarantine
		(batch_id, item_no, kind_code, provenance_code, record_type, provider_id, error_code, field_path, fragment, status_code, created_at, repository)
		VALUES (?, ?, 'RECORD', ?, ?, ?, ?, ?, ?, 'OPEN', ?, ?)`}
	dropQuarantine = stmt{"drop_quarantine", `DELETE FROM ing_quarantine WHERE id = ?`}
	openItem       = stmt{"open_item", `SELECT quarantine_id FROM ing_quarantine_seen WHERE open_key = ?`}
	insertSeen     = stmt{"insert_quarantine_seen", `INSERT INTO ing_quarantine_seen (batch_id, item_no, quarantine_id, open_key, created_at) VALUES (?, ?, ?, ?, ?)`}
	metAgain       = stmt{"met_again", `UPDATE ing_quarantine SET status_code = 'OPEN' WHERE id = ? AND status_code = 'RETRYING'`}
	anythingOpen   = stmt{"anything_open", `SELECT 1 FROM ing_quarantine WHERE provenance_code = ? AND status_code IN ('OPEN', 'RETRYING') LIMIT 1`}
)

// setAside keeps an item that could not become a record. One that is open already is not kept twice; that the page met it
// is noted all the same, so that the page accounts for it.
func (t *tx) setAside(c *patra.Claim, now patra.Instant, recordType string, batchID int64, q patra.RejectedItem) error {
	key := q.Key(c.Task.Source, recordType, c.Task.Repository)
	id, found, err := t.openItem(key)
	if err != nil {
		return err
	}
	if found {
		return t.countRepeat(now, batchID, q, id)
	}
	res, err := t.many(insertQuarantine, batchID, q.ItemNo, c.Task.Source, recordType, optional(q.ID), q.Code, optional(q.Path), q.Fragment, now, optional(c.Task.Repository))
	if err != nil {
		return err
	}
	if id, err = res.LastInsertId(); err != nil {
		return err
	}
	_, err = t.many(insertSeen, batchID, q.ItemNo, id, key, now)
	if !t.s.dialect.duplicate(err) {
		return err
	}
	other, found, readErr := t.openItem(key)
	if readErr != nil || !found { // the page has two items of this number
		return err
	}
	// Another worker met it at the same time and was faster.
	if _, err := t.exec(dropQuarantine, id); err != nil {
		return err
	}
	return t.countRepeat(now, batchID, q, other)
}

func (t *tx) openItem(key string) (id int64, found bool, err error) {
	found, err = t.one(openItem, []any{key}, &id)
	return id, found, err
}

func (t *tx) countRepeat(now patra.Instant, batchID int64, q patra.RejectedItem, id int64) error {
	if _, err := t.many(insertSeen, batchID, q.ItemNo, id, nil, now); err != nil {
		return err
	}
	_, err := t.exec(metAgain, id)
	return err
}

// resolve closes what is in quarantine under the ids of records that have come.
func (t *tx) resolve(of patra.Task, recordType string, arrived []patra.Observation) error {
	var one int
	if open, err := t.one(anythingOpen, []any{of.Source}, &one); err != nil || !open || len(arrived) == 0 {
		return err
	}
	ids := make([]string, len(arrived))
	for i, o := range arrived {
		ids[i] = o.ID
	}
	return t.moveItems(of, recordType, ids, patra.Resolved, patra.Open, patra.Retrying)
}

// moveItems moves what is in quarantine under some ids of a task to another state.
func (t *tx) moveItems(of patra.Task, recordType string, ids []string, to patra.Status, from ...patra.Status) error {
	for _, state := range from {
		if err := patra.QuarantineMoves.Check(state, to); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(ids, chunk) {
		args := []any{of.Source, recordType, of.Repository}
		for _, id := range part {
			args = append(args, id)
		}
		for _, state := range from {
			args = append(args, state)
		}
		var rows []int64
		query := stmt{"open_items", `SELECT id FROM ing_quarantine WHERE provenance_code = ? AND record_type = ? AND COALESCE(repository, '') = ? AND provider_id IN (` + marks(len(part)) + `) AND status_code IN (` + marks(len(from)) + `) ORDER BY id {lock}`}
		err := t.rows(query, func(r *sql.Rows) error {
			var id int64
			err := r.Scan(&id)
			rows = append(rows, id)
			return err
		}, args...)
		if err != nil {
			return err
		}
		for _, id := range rows {
			if err := t.closeItem(id, to, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	moveItem   = stmt{"move_item", `UPDATE ing_quarantine SET status_code = ?, record_remarks = COALESCE(?, record_remarks) WHERE id = ?`}
	forgetItem = stmt{"forget_item", `UPDATE ing_quarantine_seen SET open_key = NULL WHERE quarantine_id = ? AND open_key IS NOT NULL`}
)

// closeItem moves one item, and lets the next of its kind be a new one if it is not open any more.
func (t *tx) closeItem(id int64, to patra.Status, remarks any) error {
	if _, err := t.exec(moveItem, to, remarks, id); err != nil {
		return err
	}
	if to == patra.Open || to == patra.Retrying {
		return nil
	}
	_, err := t.exec(forgetItem, id)
	return err
}
