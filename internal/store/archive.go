package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"patra"
)

var (
	// A task that was read to its end, or whose slice was cut into others, never moves again.
	selectArchivable = stmt{"select_archivable", `SELECT t.id, t.plan_id, t.slice_id FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id
		WHERE t.id > ? AND t.finished_at < ? AND (t.status_code = 'SUCCEEDED' OR (t.status_code = 'PARTIAL' AND s.status_code = 'SPLIT'))
		  AND NOT EXISTS (SELECT 1 FROM ing_archive a WHERE a.task_id = t.id) ORDER BY t.id LIMIT ?`}
	lockFinished  = stmt{"lock_finished", `UPDATE ing_task SET lease_count = lease_count WHERE id = ? AND status_code IN ('SUCCEEDED', 'PARTIAL')`}
	insertArchive = stmt{"insert_archive", `INSERT INTO ing_archive
		(task_id, plan_id, slice_id, location, pages, requests, items, written, rows_sha256, archived_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	insertArchivePages = stmt{"insert_archive_pages", `INSERT INTO ing_archive_batch (batch_id, task_id, run_id, created_at)
		SELECT id, task_id, run_id, ? FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'SUCCEEDED'`}
	countWritten = stmt{"count_written", `SELECT COALESCE(SUM(n_insert + n_update), 0) FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'SUCCEEDED'`}

	// The requests and the kept answers of archived pages are still counted and looked for.
	insertArchiveSent = stmt{"insert_archive_sent", `INSERT INTO ing_archive_sent (task_id, gate_key, hour_at, requests, cost, created_at)
		SELECT ?, gate_key, acquired_at - acquired_at % 3600000000, COUNT(sent_at), COALESCE(SUM(CASE WHEN finished_at IS NOT NULL THEN cost ELSE 0 END), 0), ? FROM ing_request
		WHERE batch_id IN (SELECT id FROM ing_task_run_batch WHERE task_id = ?) GROUP BY gate_key, acquired_at - acquired_at % 3600000000`}
	insertArchiveBodies = stmt{"insert_archive_bodies", `INSERT INTO ing_archive_body (batch_id, task_id, run_id, batch_no, provenance_code, body_sha256, committed_at, created_at)
		SELECT b.id, b.task_id, b.run_id, b.batch_no, b.provenance_code, b.body_sha256, b.committed_at, ? FROM ing_task_run_batch b
		WHERE b.task_id = ? AND b.committed_at IS NOT NULL AND EXISTS (SELECT 1 FROM ing_evidence e WHERE e.body_sha256 = b.body_sha256)`}

	deleteArchive      = stmt{"delete_archive", `DELETE FROM ing_archive WHERE task_id = ?`}
	deleteArchivePages = stmt{"delete_archive_pages", `DELETE FROM ing_archive_batch WHERE task_id = ?`}
	deleteArchiveSent  = stmt{"delete_archive_sent", `DELETE FROM ing_archive_sent WHERE task_id = ?`}
	deleteArchiveBody  = stmt{"delete_archive_body", `DELETE FROM ing_archive_body WHERE task_id = ?`}
)

const selectArchive = `SELECT a.task_id, a.plan_id, a.slice_id, a.location, a.pages, a.requests, a.items, a.written, a.rows_sha256, a.archived_at FROM ing_archive a WHERE `

// archiveTables are the tables that are emptied into an archive, with how the rows of a task are found there and what
// their order is. Children come before what they belong to.
var archiveTables = []struct{ name, where, order string }{
	{"ing_request", "batch_id IN (SELECT id FROM ing_task_run_batch WHERE task_id = ?)", "id"},
	{"ing_task_run_batch", "task_id = ?", "id"},
	{"ing_task_item", "task_id = ?", "scan_no, seq"},
}

// blobs are the columns that hold bytes and no text.
var blobs = []string{"before_token", "after_token", "row_keys"}

// Archivable lists tasks after one that ended before a moment and never move again, oldest first.
func (s *Store) Archivable(ctx context.Context, after int64, before patra.Instant, limit int) (all []patra.ArchivedTask, err error) {
	err = s.read(ctx).rows(selectArchivable, func(r *sql.Rows) error {
		var a patra.ArchivedTask
		err := r.Scan(&a.TaskID, &a.PlanID, &a.SliceID)
		all = append(all, a)
		return err
	}, after, before, limit)
	return all, err
}

// TaskRows hands over everything of a task that goes into an archive, in an order that stays the same.
func (s *Store) TaskRows(ctx context.Context, taskID int64, use func(patra.ArchiveRow) error) error {
	return s.read(ctx).taskRows(taskID, use)
}

func (t *tx) taskRows(taskID int64, use func(patra.ArchiveRow) error) error {
	for _, table := range archiveTables {
		st := stmt{"archive_" + table.name, `SELECT * FROM ` + table.name + ` WHERE ` + table.where + ` ORDER BY ` + table.order}
		err := t.rows(st, func(r *sql.Rows) error {
			row, err := readRow(r)
			if err != nil {
				return err
			}
			return use(patra.ArchiveRow{Table: table.name, Values: row})
		}, taskID)
		if err != nil {
			return err
		}
	}
	return nil
}

// readRow reads a row whatever its columns are. Bytes are written as letters, for a line of JSON holds nothing else.
func readRow(r *sql.Rows) (map[string]any, error) {
	names, err := r.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(names))
	places := make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	if err := r.Scan(places...); err != nil {
		return nil, err
	}
	row := map[string]any{}
	for i, name := range names {
		v := values[i]
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		if text, ok := v.(string); ok && slices.Contains(blobs, name) {
			v = base64.StdEncoding.EncodeToString([]byte(text))
		}
		if v != nil {
			row[name] = v
		}
	}
	return row, nil
}

// Archive takes the rows of a task out of the tables, once they are durable elsewhere. sum tells the hash of the rows as
// they are now: if it is another one, nothing is done.
func (s *Store) Archive(ctx context.Context, now patra.Instant, a patra.ArchivedTask, sum func(each func(use func(patra.ArchiveRow) error) error) (string, error)) error {
	return s.write(ctx, "archive", func(t *tx) error {
		if n, err := t.exec(lockFinished, a.TaskID); err != nil || n != 1 {
			return cmp.Or(err, patra.ErrIllegalMove)
		}
		// A task without rows looks the same before and after.
		if found, err := t.archived(`a.task_id = ?`, a.TaskID); err != nil || len(found) > 0 {
			return cmp.Or(err, patra.ErrChanged)
		}
		is, err := sum(func(use func(patra.ArchiveRow) error) error { return t.taskRows(a.TaskID, use) })
		if err != nil {
			return err
		}
		if is != a.RowsSHA256 {
			return patra.ErrChanged
		}
		if _, err := t.one(countWritten, []any{a.TaskID}, &a.Written); err != nil {
			return err
		}
		if _, err := t.exec(insertArchivePages, now, a.TaskID); err != nil {
			return err
		}
		if _, err := t.exec(insertArchiveSent, a.TaskID, now, a.TaskID); err != nil {
			return err
		}
		if _, err := t.exec(insertArchiveBodies, now, a.TaskID); err != nil {
			return err
		}
		if _, err := t.exec(insertArchive, a.TaskID, a.PlanID, a.SliceID, a.Location, a.Pages, a.Requests, a.Items, a.Written, a.RowsSHA256, now, now); err != nil {
			return err
		}
		for _, table := range archiveTables {
			if _, err := t.exec(stmt{"empty_" + table.name, `DELETE FROM ` + table.name + ` WHERE ` + table.where}, a.TaskID); err != nil {
				return err
			}
		}
		return nil
	}, func(t *tx) (bool, error) {
		found, err := t.archived(`a.task_id = ?`, a.TaskID)
		return len(found) == 1 && found[0].Location == a.Location, err
	})
}

func (t *tx) archived(where string, args ...any) (all []patra.ArchivedTask, err error) {
	err = t.rows(stmt{"select_archive", selectArchive + where + ` ORDER BY a.task_id`}, func(r *sql.Rows) error {
		var a patra.ArchivedTask
		err := r.Scan(&a.TaskID, &a.PlanID, &a.SliceID, textInto{&a.Location}, &a.Pages, &a.Requests, &a.Items, &a.Written, &a.RowsSHA256, &a.ArchivedAt)
		all = append(all, a)
		return err
	}, args...)
	return all, err
}

// Archived finds archived tasks by what they belong to: a plan, a slice, a task, a run or a batch.
func (s *Store) Archived(ctx context.Context, kind string, id int64) ([]patra.ArchivedTask, error) {
	where, ok := map[string]string{
		"plan": `a.plan_id = ?`, "slice": `a.slice_id = ?`, "task": `a.task_id = ?`,
		"run":   `a.task_id IN (SELECT task_id FROM ing_task_run WHERE id = ?)`,
		"batch": `a.task_id IN (SELECT task_id FROM ing_archive_batch WHERE batch_id = ?)`,
	}[kind]
	if !ok {
		return nil, fmt.Errorf("%q is nothing that is archived", kind)
	}
	return s.read(ctx).archived(where, id)
}

// Existed tells whether there is, or was, such a plan, slice, task, run, batch or cursor: in the tables or in an archive.
func (s *Store) Existed(ctx context.Context, kind string, id int64) (bool, error) {
	table, ok := map[string]string{"plan": "ing_plan", "slice": "ing_plan_slice", "task": "ing_task", "run": "ing_task_run", "batch": "ing_task_run_batch", "cursor": "ing_cursor"}[kind]
	if !ok {
		return false, fmt.Errorf("%q is nothing that is archived", kind)
	}
	var n int
	found, err := s.read(ctx).one(stmt{"ever_" + kind, `SELECT 1 FROM ` + table + ` WHERE id = ?`}, []any{id}, &n)
	if err == nil && !found && kind == "batch" {
		found, err = s.read(ctx).one(stmt{"ever_archived", `SELECT 1 FROM ing_archive_batch WHERE batch_id = ?`}, []any{id}, &n)
	}
	return found, err
}

// Restore puts the rows of an archived task back where they were.
func (s *Store) Restore(ctx context.Context, a patra.ArchivedTask, rows []patra.ArchiveRow) error {
	return s.write(ctx, "restore", func(t *tx) error {
		n, err := t.exec(deleteArchive, a.TaskID)
		if err != nil || n != 1 {
			return cmp.Or(err, patra.ErrNotFound)
		}
		for _, st := range []stmt{deleteArchivePages, deleteArchiveSent, deleteArchiveBody} {
			if _, err := t.exec(st, a.TaskID); err != nil {
				return err
			}
		}
		for _, row := range rows {
			if err := t.putBack(row); err != nil {
				return err
			}
		}
		return nil
	}, func(t *tx) (bool, error) {
		found, err := t.archived(`a.task_id = ?`, a.TaskID)
		return len(found) == 0, err
	})
}

func (t *tx) putBack(row patra.ArchiveRow) error {
	known := slices.ContainsFunc(archiveTables, func(table struct{ name, where, order string }) bool { return table.name == row.Table })
	if !known && row.Table != eventTable {
		return fmt.Errorf("%q is no table that is archived", row.Table)
	}
	var names []string
	for name := range row.Values {
		if !columnName(name) {
			return fmt.Errorf("%q is no column", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = row.Values[name]
		if number, ok := args[i].(interface{ Int64() (int64, error) }); ok {
			n, err := number.Int64()
			if err != nil {
				return err
			}
			args[i] = n
		}
		if text, ok := args[i].(string); ok && slices.Contains(blobs, name) {
			bytes, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return err
			}
			args[i] = bytes
		}
	}
	_, err := t.many(stmt{"restore_" + row.Table + " " + strings.Join(names, ","), `INSERT INTO ` + row.Table + ` (` + strings.Join(names, ", ") + `) VALUES (` + marks(len(names)) + `)`}, args...)
	return err
}

// columnName keeps anything but a plain name out of a statement: an archive comes from outside.
func columnName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}
