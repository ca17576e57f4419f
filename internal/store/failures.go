package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"

	"patra"
)

var (
	failedPages = stmt{"failed_pages", `SELECT b.id, b.task_id, b.provenance_code, t.endpoint_name, b.error, b.started_at FROM ing_task_run_batch b JOIN ing_task t ON t.id = b.task_id
		WHERE b.status_code = 'FAILED' AND b.id < ? ORDER BY b.id DESC LIMIT ?`}
	countFailedOf = stmt{"count_failed_of", `SELECT COUNT(*) FROM (SELECT id FROM ing_task WHERE provenance_code = ? AND status_code = 'FAILED' LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}
	countHalted   = stmt{"count_halted", `SELECT COUNT(*) FROM (` + haltedTasks + `) AS n`}
	lastFailedOf  = stmt{"last_failed_of", `SELECT id, plan_id, endpoint_name, finished_at, last_error FROM ing_task WHERE provenance_code = ? AND status_code = 'FAILED' ORDER BY id DESC LIMIT 50`}
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
	return s.failedOf(ctx, source, nil)
}

// FailedBeside is the same without those that have failed with what an endpoint is halted for: the halt tells of them, and they
// come back when it ends. One cause is one alert.
func (s *Store) FailedBeside(ctx context.Context, source string) (w patra.FailedWork, err error) {
	halts, err := s.haltsOf(ctx, source)
	if err != nil {
		return w, err
	}
	return s.failedOf(ctx, source, halts)
}

func (s *Store) failedOf(ctx context.Context, source string, halts []patra.Control) (w patra.FailedWork, err error) {
	t := s.read(ctx)
	w.Source = source
	if _, err := t.one(countFailedOf, []any{source}, &w.Count); err != nil || w.Count == 0 {
		return w, err
	}
	w.Capped = w.Count == mostCounted
	for _, h := range halts {
		var n int64
		if _, err := t.one(countHalted, haltedBy(h), &n); err != nil {
			return w, err
		}
		counted, err := t.countedBy(h)
		if err != nil {
			return w, err
		}
		w.Count = max(w.Count-n-int64(len(counted)), 0)
	}
	if w.Count == 0 {
		return w, nil
	}
	err = t.rows(lastFailedOf, func(r *sql.Rows) error {
		var k patra.Task
		var at *patra.Instant
		if err := r.Scan(&k.ID, &k.PlanID, &k.Endpoint, &at, jsonInto{&k.LastError}); err != nil {
			return err
		}
		if w.Last.ID != 0 && (at == nil || w.At != nil && *at <= *w.At) {
			return nil
		}
		var fault *patra.Fault
		if len(k.LastError) > 0 {
			fault = &patra.Fault{}
			if err := json.Unmarshal(k.LastError, fault); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(halts, func(h patra.Control) bool { return tells(h, k.Endpoint, at, fault) }) {
			return nil
		}
		w.Last, w.At, w.Fault = k, at, fault
		return nil
	}, source)
	return w, err
}

// haltsOf are the endpoints of a source that are halted.
func (s *Store) haltsOf(ctx context.Context, source string) ([]patra.Control, error) {
	all, err := s.Controls(ctx)
	return slices.DeleteFunc(all, func(c patra.Control) bool {
		return c.Kind != patra.KindHalt || c.State != patra.Halted || c.WorkScope().Source != source
	}), err
}

// tells reports whether a halt tells of a task that failed.
func tells(halt patra.Control, endpoint string, at *patra.Instant, f *patra.Fault) bool {
	if f != nil && len(halt.Detail.Failed) > 0 && endpoint == halt.WorkScope().Endpoint && f.SameWay(halt.Detail.Fault) {
		return true
	}
	return f != nil && f.Level == patra.LevelFatal && endpoint == halt.WorkScope().Endpoint && at != nil && *at >= halt.Detail.Since-aboutHalt
}
