package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"patra"
)

// Filter narrows a list. Zero values do not filter; Limit 0 is 100. Lists are newest first.
type Filter struct {
	Source string
	Status patra.Status
	Plan   int64
	Slice  int64
	Task   int64
	Run    int64
	Batch  int64
	Cursor int64
	Job    string
	Record string
	Before int64 // only ids below this: the next part of a list
	Limit  int
	Walk   *ScanLimit // nil: whatever it takes
}

// conds are the conditions from a fixed set of columns: a value is always a parameter.
func (f Filter) conds(columns map[string]string) (all []cond) {
	add := func(name string, set bool, value any) {
		column, ok := columns[name]
		if !ok || !set {
			return
		}
		if !strings.Contains(column, "?") { // else it is a condition of its own
			column += " = ?"
		}
		all = append(all, cond{name, column, []any{value}})
	}
	add("source", f.Source != "", f.Source)
	add("status", f.Status != "", f.Status)
	add("plan", f.Plan != 0, f.Plan)
	add("slice", f.Slice != 0, f.Slice)
	add("task", f.Task != 0, f.Task)
	add("run", f.Run != 0, f.Run)
	add("batch", f.Batch != 0, f.Batch)
	add("cursor", f.Cursor != 0, f.Cursor)
	add("job", f.Job != "", f.Job)
	add("record", f.Record != "", f.Record)
	return all
}

// list runs one filtered query and collects what scan makes of the rows.
func list[T any](ctx context.Context, s *Store, name, query string, f Filter, columns map[string]string, scan func(*sql.Rows) (T, error)) ([]T, error) {
	return listPage(ctx, s, listing{name, query, columns["id"]}, f.conds(columns), ListPage{f.Before, f.Limit, f.Walk}, scan)
}

// Plans lists plans.
func (s *Store) Plans(ctx context.Context, f Filter) ([]patra.Plan, error) {
	plans, err := list(ctx, s, "list_plans", `SELECT `+planColumns+`,
		EXISTS (SELECT 1 FROM ing_task t WHERE t.plan_id = ing_plan.id AND t.status_code IN ('QUEUED', 'RUNNING')), EXISTS (SELECT 1 FROM ing_plan_slice s WHERE s.plan_id = ing_plan.id AND s.status_code IN ('READY', 'PARTIAL')),
		EXISTS (SELECT 1 FROM ing_plan_slice s WHERE s.plan_id = ing_plan.id AND s.status_code = 'FAILED'), EXISTS (SELECT 1 FROM ing_plan_slice s WHERE s.plan_id = ing_plan.id AND s.status_code = 'CANCELLED')
		FROM ing_plan {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "status": "status_code", "plan": "id", "cursor": "cursor_id"},
		func(r *sql.Rows) (patra.Plan, error) {
			var work, cuts, failed, cancelled bool
			p, err := scanPlan(r, &work, &cuts, &failed, &cancelled)
			p.Ended = patra.PlanOutcome(p.Status, work || cuts, failed, cancelled, false)
			return p, err
		})
	if err == nil {
		err = s.read(ctx).endInDispute(plans)
	}
	return plans, err
}

// Slices lists slices.
func (s *Store) Slices(ctx context.Context, f Filter) ([]patra.Slice, error) {
	return list(ctx, s, "list_slices", `SELECT `+sliceColumns+` FROM ing_plan_slice {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "status": "status_code", "plan": "plan_id", "slice": "id", "cursor": "cursor_id"},
		scanSlice)
}

// Tasks lists tasks with the windows they answer for.
func (s *Store) Tasks(ctx context.Context, f Filter) ([]patra.Task, error) {
	return list(ctx, s, "list_tasks", `SELECT t.id, t.plan_id, t.slice_id, COALESCE(t.cursor_id, 0), t.provenance_code, t.endpoint_name, t.operation_code, t.priority, t.scheduled_at, t.status_code, t.wait_code,
		t.lease_owner, t.lease_count, t.leased_until, t.attempt_count, t.max_attempts, t.scan_no, t.next_ordinal, t.last_error, s.window_from, s.window_to,
		(SELECT p.repository FROM ing_plan p WHERE p.id = t.plan_id)
		FROM ing_task t {by} JOIN ing_plan_slice s ON s.id = t.slice_id WHERE {where} ORDER BY t.id DESC LIMIT ?`, f,
		map[string]string{"id": "t.id", "source": "t.provenance_code", "status": "t.status_code", "plan": "t.plan_id", "slice": "t.slice_id", "task": "t.id", "cursor": "t.cursor_id"},
		func(r *sql.Rows) (k patra.Task, err error) {
			err = r.Scan(&k.ID, &k.PlanID, &k.SliceID, &k.CursorID, &k.Source, &k.Endpoint, &k.Operation, &k.Priority, &k.ScheduledAt, &k.Status, textInto{&k.WaitCode},
				textInto{&k.LeaseOwner}, &k.LeaseCount, &k.LeasedUntil, &k.Attempts, &k.MaxAttempts, &k.ScanNo, &k.NextOrdinal, jsonInto{&k.LastError}, &k.Window.From, &k.Window.To, textInto{&k.Repository})
			return k, err
		})
}

// Runs lists runs.
func (s *Store) Runs(ctx context.Context, f Filter) ([]patra.Run, error) {
	return list(ctx, s, "list_runs", `SELECT id, task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, lease_owner, window_from, window_to, scan_no, exhausted, stats, error,
		status_code, started_at, finished_at FROM ing_task_run {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "status": "status_code", "plan": "plan_id", "slice": ofSlice, "task": "task_id", "run": "id"},
		func(r *sql.Rows) (k patra.Run, err error) {
			err = r.Scan(&k.ID, &k.TaskID, &k.AttemptNo, &k.PlanID, &k.SliceID, &k.Source, &k.Operation, &k.LeaseOwner, &k.Window.From, &k.Window.To, &k.ScanNo, &k.Exhausted,
				jsonInto{&k.Stats}, jsonInto{&k.Error}, &k.Status, &k.StartedAt, &k.FinishedAt)
			return k, err
		})
}

// Batches lists ledger rows.
func (s *Store) Batches(ctx context.Context, f Filter) ([]patra.Batch, error) {
	return list(ctx, s, "list_batches", `SELECT id, run_id, task_id, slice_id, plan_id, provenance_code, operation_code, batch_no, scan_no, phase_code, ordinal, lease_count, has_next, end_code,
		provider_total, record_count, n_insert, n_update, n_same, n_stale, n_dup, n_quarantine, n_outside, body_sha256, error, status_code, started_at, committed_at, stats
		FROM ing_task_run_batch {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "status": "status_code", "plan": "plan_id", "slice": ofSlice, "task": "task_id", "run": "run_id", "batch": "id"},
		func(r *sql.Rows) (b patra.Batch, err error) {
			var stats json.RawMessage
			n := &b.Counts
			err = r.Scan(&b.ID, &b.RunID, &b.TaskID, &b.SliceID, &b.PlanID, &b.Source, &b.Operation, &b.BatchNo, &b.ScanNo, &b.Phase, &b.Ordinal, &b.LeaseCount, &b.HasNext, textInto{&b.EndCode},
				&b.ProviderTotal, &b.RecordCount, &n.Insert, &n.Update, &n.Same, &n.Stale, &n.Dup, &n.Quarantine, &n.Outside, textInto{&b.BodySHA256}, jsonInto{&b.Error}, &b.Status,
				&b.StartedAt, &b.CommittedAt, jsonInto{&stats})
			if err != nil {
				return b, err
			}
			var said batchStats
			err = json.Unmarshal(stats, &said)
			b.Repairs = said.Repairs
			return b, err
		})
}

// Cursors lists cursors.
func (s *Store) Cursors(ctx context.Context, f Filter) ([]patra.Cursor, error) {
	return list(ctx, s, "list_cursors", `SELECT `+cursorColumns+` FROM ing_cursor WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "cursor": "id"}, scanCursor)
}

// CoverageEntries lists the coverage ledger of one cursor, in time order.
func (s *Store) CoverageEntries(ctx context.Context, cursorID int64) ([]patra.CoverageEntry, error) {
	return s.read(ctx).answers(cursorID, allTime)
}

// CoverageEntry is one row of the coverage ledger, with all that is said of it; nil if it is gone.
func (s *Store) CoverageEntry(ctx context.Context, id int64) (*patra.CoverageEntry, error) {
	all, err := s.read(ctx).answersBy(selectAnswer, id)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// CursorEvent is one move of a watermark.
type CursorEvent struct {
	CursorID  int64         `json:"cursor_id"`
	Seq       int64         `json:"seq"`
	Cause     string        `json:"cause"`
	From      patra.Instant `json:"from"`
	To        patra.Instant `json:"to"`
	SliceID   int64         `json:"slice_id"`
	RunID     int64         `json:"run_id"`
	Actor     string        `json:"actor,omitempty"` // the person, if it was one
	CreatedAt patra.Instant `json:"created_at"`
}

// CursorEvents lists the moves of a cursor that a slice caused, or all of them.
func (s *Store) CursorEvents(ctx context.Context, f Filter) ([]CursorEvent, error) {
	return list(ctx, s, "list_cursor_events", `SELECT `+cursorEventColumns+` FROM ing_cursor_event
		WHERE {where} ORDER BY id DESC LIMIT ?`, f, map[string]string{"id": "id", "source": "provenance_code", "cursor": "cursor_id", "slice": "slice_id", "plan": "plan_id", "run": "run_id"}, scanCursorEvent)
}

// Timeline lists the moves of one watermark, newest first, those below a number if it is not 0.
func (s *Store) Timeline(ctx context.Context, cursorID, below int64, limit int) ([]CursorEvent, error) {
	if below == 0 {
		below = topmost
	}
	all := []CursorEvent{}
	err := s.read(ctx).rows(timeline, func(r *sql.Rows) error {
		e, err := scanCursorEvent(r)
		all = append(all, e)
		return err
	}, cursorID, below, limit)
	return all, err
}

// CursorEventsOfPlan lists moves of a watermark that a plan caused, those by its last slices first.
func (s *Store) CursorEventsOfPlan(ctx context.Context, planID int64, limit int) ([]CursorEvent, error) {
	all := []CursorEvent{}
	err := s.read(ctx).rows(planMoves, func(r *sql.Rows) error {
		e, err := scanCursorEvent(r)
		all = append(all, e)
		return err
	}, planID, limit)
	return all, err
}

func scanCursorEvent(r *sql.Rows) (e CursorEvent, err error) {
	err = r.Scan(&e.CursorID, &e.Seq, &e.Cause, &e.From, &e.To, &e.SliceID, &e.RunID, textInto{&e.Actor}, &e.CreatedAt)
	return e, err
}

const cursorEventColumns = `cursor_id, seq, cause_code, prev_instant, new_instant, COALESCE(slice_id, 0), COALESCE(run_id, 0), actor, created_at`

var (
	timeline    = stmt{"cursor_timeline", `SELECT ` + cursorEventColumns + ` FROM ing_cursor_event WHERE cursor_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`}
	planMoves   = stmt{"plan_moves", `SELECT ` + cursorEventColumns + ` FROM ing_cursor_event WHERE plan_id = ? ORDER BY slice_id DESC LIMIT ?`}
	sliceStates = stmt{"slice_states", `SELECT status_code, COUNT(*) FROM ing_plan_slice WHERE cursor_id = ? GROUP BY status_code`}
	planStates  = stmt{"plan_states", `SELECT status_code, COUNT(*) FROM ing_plan_slice WHERE plan_id = ? GROUP BY status_code`}
)

// SliceStates counts the slices of a cursor by state. READY ones are live.
func (s *Store) SliceStates(ctx context.Context, cursorID int64) (map[patra.Status]int, error) {
	return s.states(ctx, sliceStates, cursorID)
}

// PlanStates counts the slices of a plan by state.
func (s *Store) PlanStates(ctx context.Context, planID int64) (map[patra.Status]int, error) {
	return s.states(ctx, planStates, planID)
}

func (s *Store) states(ctx context.Context, st stmt, id int64) (map[patra.Status]int, error) {
	states := map[patra.Status]int{}
	err := s.read(ctx).rows(st, func(r *sql.Rows) error {
		var status patra.Status
		var n int
		err := r.Scan(&status, &n)
		states[status] = n
		return err
	}, id)
	return states, err
}
