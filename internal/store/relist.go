package store

import (
	"context"
	"database/sql"
	"slices"

	"patra"
)

// relistSlack is by how much the clock of the database may differ from those of the executors.
const relistSlack = patra.Minute

var (
	slicesWithin = stmt{"slices_within", `SELECT s.id, MIN(r.started_at), MAX(COALESCE(r.finished_at, r.started_at)), MAX(CASE WHEN r.finished_at IS NULL THEN 1 ELSE 0 END)
		FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id JOIN ing_task_run r ON r.task_id = t.id
		WHERE s.cursor_id = ? AND s.fetch_from >= ? AND s.fetch_to <= ? GROUP BY s.id ORDER BY s.id`}
	batchesOf = stmt{"batches_of_slice", `SELECT b.id FROM ing_task t JOIN ing_task_run_batch b ON b.task_id = t.id WHERE t.slice_id = ?
		UNION ALL SELECT a.batch_id FROM ing_task t JOIN ing_archive_batch a ON a.task_id = t.id WHERE t.slice_id = ?`}
)

// WindowRecord is a stored record whose last change came with a slice of a window.
type WindowRecord struct {
	ID       string
	Deleted  bool
	LastSeen patra.Instant
}

// RecordsOfWindow hands the records whose last change came with slices of a cursor that asked for nothing outside of a window to
// use. A record that another cursor or an update by id has changed since is not among them.
func (s *Store) RecordsOfWindow(ctx context.Context, cursorID int64, source string, fetch patra.Window, use func(WindowRecord)) error {
	type ran struct {
		slice    int64
		from, to patra.Instant
	}
	var all []ran
	err := s.read(ctx).rows(slicesWithin, func(r *sql.Rows) error {
		var x ran
		var open bool
		if err := r.Scan(&x.slice, &x.from, &x.to, &open); err != nil {
			return err
		}
		if x.from, x.to = x.from-relistSlack, x.to+relistSlack; open {
			x.to = patra.Instant(topmost)
		}
		all = append(all, x)
		return nil
	}, cursorID, fetch.From, fetch.To)
	if err != nil {
		return err
	}
	for _, x := range all {
		batches, err := s.read(ctx).ids(batchesOf, x.slice, x.slice)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(batches, chunk) {
			if err := s.recordsOfBatches(ctx, source, x.from, x.to, part, use); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordsOfBatches looks by the time of the change, which has an index; the batch decides.
func (s *Store) recordsOfBatches(ctx context.Context, source string, from, to patra.Instant, batches []int64, use func(WindowRecord)) error {
	args := []any{source, from, to}
	for _, id := range batches {
		args = append(args, id)
	}
	return s.read(ctx).rows(stmt{"records_of_batches", `SELECT provider_id, repository, deleted, last_refreshed_at FROM ing_record
		WHERE provenance_code = ? AND changed_at >= ? AND changed_at <= ? AND batch_id IN (` + marks(len(batches)) + `)`}, func(r *sql.Rows) error {
		var w WindowRecord
		var repository string
		if err := r.Scan(&w.ID, textInto{&repository}, &w.Deleted, &w.LastSeen); err != nil {
			return err
		}
		w.ID = localID(repository, w.ID)
		use(w)
		return nil
	}, args...)
}

// StoredIDs are those of some ids of a repository under which a record is stored.
func (s *Store) StoredIDs(ctx context.Context, source, recordType, repository string, ids []string) (map[string]bool, error) {
	found := map[string]bool{}
	for part := range slices.Chunk(ids, chunk) {
		args := []any{source, recordType}
		for _, id := range part {
			args = append(args, scopedID(repository, id))
		}
		err := s.read(ctx).rows(stmt{"stored_ids", `SELECT provider_id FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id IN (` + marks(len(part)) + `)`}, func(r *sql.Rows) error {
			var id string
			err := r.Scan(&id)
			found[localID(repository, id)] = true
			return err
		}, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
