package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"patra"
)

var (
	missingItems = stmt{"missing_items", `SELECT COUNT(*) FROM ing_task t JOIN ing_task_item i ON i.task_id = t.id AND i.scan_no = t.scan_no WHERE t.plan_id = ? AND i.status_code = 'MISSING'`}
	itemOf       = stmt{"item_of_slice", `SELECT i.status_code FROM ing_task t JOIN ing_task_item i ON i.task_id = t.id AND i.scan_no = t.scan_no WHERE t.slice_id = ? AND i.provider_id = ?`}
	namedBy      = stmt{"item_named_by", `SELECT t.slice_id, COALESCE(t.cursor_id, 0), s.window_from, s.window_to, i.status_code FROM ing_task_item i
		JOIN ing_task t ON t.id = i.task_id AND t.scan_no = i.scan_no JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE i.provider_id = ? AND t.provenance_code = ?`}
	notGiven = stmt{"items_not_given", `SELECT i.provider_id FROM ing_task t JOIN ing_task_item i ON i.task_id = t.id AND i.scan_no = t.scan_no WHERE t.slice_id = ? AND i.status_code IN ('MISSING', 'BAD') ORDER BY i.seq LIMIT ?`}
	lastItem = stmt{"last_item", `SELECT COALESCE(MAX(seq), 0) FROM ing_task_item WHERE task_id = ? AND scan_no = ?`}
	pending  = stmt{"pending_items", `SELECT seq, provider_id FROM ing_task_item WHERE task_id = ? AND scan_no = ? AND status_code = 'PENDING' AND seq > ? ORDER BY seq LIMIT ?`}
	itemSum  = stmt{"item_summary", `SELECT COUNT(*), COALESCE(SUM(CASE WHEN status_code = 'PENDING' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN status_code IN ('MISSING', 'BAD') THEN 1 ELSE 0 END), 0)
		FROM ing_task_item WHERE task_id = ? AND scan_no = ?`}
	insertItems = newRowset("insert_item", `INSERT INTO ing_task_item (task_id, scan_no, seq, provider_id, search_ordinal, status_code, created_at) VALUES `, 7, 0, 1, 4, 5, 6)
)

// Items gives the next ids of a scan whose records are still to be fetched, after the given one.
func (s *Store) Items(ctx context.Context, c *patra.Claim, scanNo, after int64, limit int) (items []patra.DetailID, err error) {
	err = s.read(ctx).rows(pending, func(r *sql.Rows) error {
		var i patra.DetailID
		err := r.Scan(&i.Seq, &i.ID)
		items = append(items, i)
		return err
	}, c.TaskID, scanNo, after, limit)
	return items, err
}

// addItems notes the ids of a search page. An id that the scan already gave is not noted again.
func (t *tx) addItems(c *patra.Claim, now patra.Instant, page patra.OpenPage, ids []string) error {
	var seq int64
	if _, err := t.one(lastItem, []any{c.TaskID, page.ScanNo}, &seq); err != nil {
		return err
	}
	seen := make(map[string]bool, len(ids))
	if seq > 0 { // the first ids of a scan are not known yet
		for part := range slices.Chunk(ids, chunk) {
			known, err := t.knownItems(c.TaskID, page.ScanNo, part)
			if err != nil {
				return err
			}
			maps.Copy(seen, known)
		}
	}
	rows := make([]any, 0, len(ids)*insertItems.width)
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		seq++
		rows = append(rows, c.TaskID, page.ScanNo, seq, id, page.Ordinal, string(patra.ItemPending), int64(now))
	}
	return t.addRows(insertItems, rows)
}

// knownItems are those of some ids that a scan gave before.
func (t *tx) knownItems(taskID, scanNo int64, ids []string) (map[string]bool, error) {
	args := make([]any, 0, len(ids)+2)
	args = append(args, taskID, scanNo)
	for _, id := range ids {
		args = append(args, id)
	}
	known := map[string]bool{}
	err := t.rows(stmt{"known_items", `SELECT provider_id FROM ing_task_item WHERE task_id = ? AND scan_no = ? AND provider_id IN (` + marks(len(ids)) + `)`}, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		known[id] = true
		return err
	}, args...)
	return known, err
}

// settleItems writes what became of the ids of a detail page.
func (t *tx) settleItems(c *patra.Claim, page patra.OpenPage, outcomes map[patra.Status][]string) error {
	for to, ids := range outcomes {
		if err := patra.ItemMoves.Check(patra.ItemPending, to); err != nil {
			return err
		}
		for part := range slices.Chunk(ids, chunk) {
			args := append(make([]any, 0, len(part)+4), to, page.Ordinal, c.TaskID, page.ScanNo)
			for _, id := range part {
				args = append(args, id)
			}
			// By the ids, and not by the status: of that there are as many as the scan has left, and each page would read them all.
			n, err := t.exec(stmt{"settle_items", `UPDATE {orfail} ing_task_item SET status_code = ?, detail_ordinal = ? WHERE task_id = ? AND scan_no = ? AND COALESCE(status_code, '') = 'PENDING' AND provider_id IN (` + marks(len(part)) + `)`}, args...)
			if err != nil {
				return err
			}
			if n != int64(len(part)) {
				return patra.ErrIllegalMove
			}
		}
	}
	return nil
}

// ItemOf is what became of an id that the search of a slice named; nothing, if it did not, or if its pages are in the archive.
func (s *Store) ItemOf(ctx context.Context, sliceID int64, id string) (status patra.Status, err error) {
	_, err = s.read(ctx).one(itemOf, []any{sliceID, id}, &status)
	return status, err
}

// NamedID is a slice whose search named an id, and what became of the id.
type NamedID struct {
	SliceID  int64
	CursorID int64
	Window   patra.Window
	Status   patra.Status
}

// NamedBy are the slices of a source whose searches named an id, newest first. Pages that are in the archive are not looked at.
func (s *Store) NamedBy(ctx context.Context, source, id string, limit int) (all []NamedID, err error) {
	err = s.read(ctx).rows(namedBy, func(r *sql.Rows) error {
		var n NamedID
		err := r.Scan(&n.SliceID, &n.CursorID, &n.Window.From, &n.Window.To, &n.Status)
		all = append(all, n)
		return err
	}, id, source)
	slices.SortFunc(all, func(a, b NamedID) int { return cmp.Compare(b.SliceID, a.SliceID) }) // few name one id
	return all[:min(limit, len(all))], err
}

// IDsWithoutRecord are ids that the search of a slice named and that the provider has no record for, or cannot be asked for.
func (s *Store) IDsWithoutRecord(ctx context.Context, sliceID int64, limit int) (ids []string, err error) {
	err = s.read(ctx).rows(notGiven, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, sliceID, limit)
	return ids, err
}

// MissingIDs is how many ids of a plan the provider does not have.
func (s *Store) MissingIDs(ctx context.Context, planID int64) (n int64, err error) {
	_, err = s.read(ctx).one(missingItems, []any{planID}, &n)
	return n, err
}
