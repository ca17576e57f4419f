package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"patra"
)

var (
	failedPages = stmt{"failed_pages", `SELECT b.id, b.task_id, b.provenance_code, t.endpoint_name, b.error, b.started_at FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id
		WHERE b.status_code = 'FAILED' AND b.id < ? ORDER BY b.id DESC LIMIT ?`}
	countFailedOf = stmt{"count_failed_of", `SELECT COUNT(*) FROM (SELECT id FROM ing_task WHERE provenance_code = ? AND status_code = 'FAILED' LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}
	lastFailedOf  = stmt{"last_failed_of", `SELECT id, plan_id, finished_at, last_error FROM ing_task WHERE provenance_code = ? AND status_code = 'FAILED' ORDER BY id DESC LIMIT 50`}
)

// Failures are the pages that failed since a moment, newest first, at most so many. Pages are numbered in the order in which
// they were begun, so the first that is older ends the search.
func (s *Store) Failures(ctx context.Context, since patra.Instant, most int) (all []patra.Failure, err error) {
	for below := int64(topmost); len(all) < most; {
		n, old := 0, false
		err := s.read(ctx).rows(failedPages, func(r *sql.Rows) error {
			var f patra.Failure
			var raw json.RawMessage
			if err := r.Scan(&f.BatchID, &f.TaskID, &f.Source, &f.Endpoint, jsonInto{&raw}, &f.At); err != nil {
				return err
			}
			n, below = n+1, f.BatchID
			if f.At < since {
				old = true
				return nil
			}
			if len(raw) > 0 {
				if err := json.Unmarshal(raw, &f.Fault); err != nil {
					return err
				}
			}
			all = append(all, f)
			return nil
		}, below, ledgerPart)
		if err != nil || n < ledgerPart || old {
			return all, err
		}
	}
	return all[:min(len(all), most)], nil
}

// FailedOf tells how many tasks of a source have failed, and of the last of them how.
func (s *Store) FailedOf(ctx context.Context, source string) (w patra.FailedWork, err error) {
	t := s.read(ctx)
	w.Source = source
	if _, err := t.one(countFailedOf, []any{source}, &w.Count); err != nil || w.Count == 0 {
		return w, err
	}
	w.Capped = w.Count == mostCounted
	err = t.rows(lastFailedOf, func(r *sql.Rows) error {
		var k patra.Task
		var at *patra.Instant
		if err := r.Scan(&k.ID, &k.PlanID, &at, jsonInto{&k.LastError}); err != nil {
			return err
		}
		if w.Last.ID != 0 && (at == nil || w.At != nil && *at <= *w.At) {
			return nil
		}
		w.Last, w.At, w.Fault = k, at, nil
		if len(k.LastError) > 0 {
			w.Fault = &patra.Fault{}
			return json.Unmarshal(k.LastError, w.Fault)
		}
		return nil
	}, source)
	return w, err
}
