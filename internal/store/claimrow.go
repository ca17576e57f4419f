package store

import (
	"database/sql"
	"encoding/json"
	"strings"

	"patra"
)

// claimColumns are what a run is given, from the tables that stand below.
const (
	claimColumns = `ing_task.id, ing_task.lease_count, ing_task.plan_id, ing_task.slice_id, COALESCE(ing_task.cursor_id, 0), ing_task.provenance_code, ing_task.endpoint_name, ing_task.operation_code,
		       ing_task.attempt_count, ing_task.max_attempts, ing_task.scan_no, ing_task.next_ordinal, ing_task.next_detail_ordinal, ing_task.spec_fingerprint,
		       s.purpose_code, s.part_no, s.part_count, s.slice_spec, s.expr_snapshot, s.expr_hash, COALESCE(s.window_from, 0), COALESCE(s.window_to, 0),
		       COALESCE(s.fetch_from, 0), COALESCE(s.fetch_to, 0), s.estimate_records, s.estimate_source_code, p.plan_key, p.base_url, p.expr_proto_snapshot,
		       ing_task.priority, ing_task.schedule_instance_id, p.traceparent, p.repository`
	claimTables = `ing_task JOIN ing_plan_slice s ON s.id = ing_task.slice_id JOIN ing_plan p ON p.id = ing_task.plan_id`
)

// takeable is a task that may be taken now. It is asked under the lock of the task.
const takeable = `ing_task.attempt_count < ing_task.max_attempts
		  AND ((ing_task.status_code = 'QUEUED' AND ing_task.scheduled_at <= {now}) OR (ing_task.status_code = 'RUNNING' AND ing_task.leased_until < {now}))`

// claimRows are tasks of a group, in place of {ids}, with all that their runs need.
//
// A statement that locks locks the tables that it names, and none that stands in parentheses: MariaDB has no other way to say
// that of what is joined the task is meant. So it sees the task as it is now, and the rest as of the moment when it began. Was the task
// the same at that moment, then they belong together. The task has no other name than its table's: by any other TiDB does not find
// what it is to lock.
const claimRows = `SELECT ing_task.status_code, o.lease_count = ing_task.lease_count AND o.scan_no = ing_task.scan_no AND o.next_ordinal = ing_task.next_ordinal AND o.next_detail_ordinal = ing_task.next_detail_ordinal,
		       b.id IS NOT NULL, b.after_token, COALESCE(b.has_next, 0), b.provider_total, ` + claimColumns + `
		  FROM ing_task {bykey}
		  LEFT JOIN (SELECT id, lease_count, scan_no, next_ordinal, next_detail_ordinal FROM ing_task) AS o ON o.id = ing_task.id
		  LEFT JOIN (SELECT * FROM ing_plan_slice) AS s ON s.id = ing_task.slice_id
		  LEFT JOIN (SELECT * FROM ing_plan) AS p ON p.id = ing_task.plan_id
		  LEFT JOIN (SELECT id, task_id, scan_no, phase_code, done_ordinal, after_token, has_next, provider_total FROM ing_task_run_batch) AS b
		         ON b.task_id = ing_task.id AND b.scan_no = ing_task.scan_no AND b.phase_code = 'SEARCH' AND b.done_ordinal = ing_task.next_ordinal - 1 AND ing_task.next_ordinal > 1
		 WHERE ing_task.id IN ({ids})`

var (
	peekTasks = stmt{"peek_tasks", claimRows + ` AND ` + takeable + ` {peektask}`}
	// rereadTasks is for tasks that are locked already.
	rereadTasks = stmt{"reread_tasks", claimRows}
)

// peek locks what may still be taken of the picks, and reads all that their runs need.
func (t *tx) peek(picks map[int64]*pickedTask) (won []*pickedTask, err error) {
	if len(picks) == 0 {
		return nil, nil
	}
	all := make([]*pickedTask, 0, len(picks))
	for _, p := range picks {
		all = append(all, p)
	}
	var torn []*pickedTask
	won, torn, err = t.claimRows(peekTasks, all, picks)
	if err != nil && t.s.dialect.locked(err) {
		err = errTaken
	}
	if err == nil && len(torn) > 0 {
		_, _, err = t.claimRows(rereadTasks, torn, picks)
	}
	return won, err
}

// claimRows reads what the runs of new owners need. Those are torn whose task was another when the statement began.
func (t *tx) claimRows(st stmt, of []*pickedTask, picks map[int64]*pickedTask) (all, torn []*pickedTask, err error) {
	ids := newIDs(of)
	err = t.rows(ids.in(st), func(r *sql.Rows) error {
		var c patra.Claim
		var status patra.Status
		var same, goesOn bool
		var after []byte
		var at patra.Position
		if err := scanClaim(r, &c, &status, &same, &goesOn, &after, &at.HasNext, &at.Total); err != nil {
			return err
		}
		if goesOn {
			at.After = string(after)
			c.Resume = &at
		}
		p := picks[c.TaskID]
		p.running, p.token, p.taken = status == patra.Running, NewOwner(), p.leased(c)
		if all = append(all, p); !same {
			torn = append(torn, p)
		}
		return nil
	}, ids.args...)
	return all, torn, err
}

// leased is a claim as it is once the task is taken.
func (p *pickedTask) leased(c patra.Claim) *patra.Claim {
	c.Fence++
	c.Task.Attempts++
	c.Owner, c.For = p.asker.req.Owner, p.asker.req.Lease
	return &c
}

// scanClaim reads the columns of a claim, and others before them.
func scanClaim(r *sql.Rows, c *patra.Claim, before ...any) error {
	var spec json.RawMessage
	var expected *int64
	var grounds string
	err := r.Scan(append(before, &c.TaskID, &c.Fence, &c.Task.PlanID, &c.Task.SliceID, &c.Task.CursorID, &c.Task.Source, &c.Task.Endpoint, &c.Task.Operation,
		&c.Task.Attempts, &c.Task.MaxAttempts, &c.Task.ScanNo, &c.Task.NextOrdinal, &c.Task.NextDetail, &c.Spec,
		&c.Slice.Purpose, &c.Slice.PartNo, &c.Slice.PartCount, jsonInto{&spec}, jsonInto{&c.Slice.Expr}, &c.Slice.ExprHash, &c.Slice.Window.From, &c.Slice.Window.To, &c.Slice.Fetch.From, &c.Slice.Fetch.To,
		&expected, textInto{&grounds}, &c.PlanKey, textInto{&c.BaseURL}, jsonInto{&c.Query},
		&c.Task.Priority, &c.InstanceID, textInto{&c.Trace}, textInto{&c.Task.Repository})...)
	if err == nil {
		err = json.Unmarshal(spec, &c.Slice.Spec)
	}
	if expected != nil {
		c.Slice.Estimate = &patra.Estimate{Records: *expected, Grounds: patra.EstimateMethod(grounds)}
	}
	c.Task.ID, c.Slice.ID, c.Slice.PlanID, c.Slice.CursorID = c.TaskID, c.Task.SliceID, c.Task.PlanID, c.Task.CursorID
	return err
}

// idList is a list of tasks in a statement. It is as long as the next power of two, with the last one repeated: an embedded store
// keeps the statements compiled whose texts come again.
type idList struct {
	args []any
	n    int
}

func newIDs(picks []*pickedTask) (l idList) {
	l.n = 1
	for l.n < len(picks) {
		l.n *= 2
	}
	for i := range l.n {
		l.args = append(l.args, picks[min(i, len(picks)-1)].id)
	}
	return l
}

// in is a statement for these tasks.
func (l idList) in(st stmt) stmt {
	st.text = strings.NewReplacer("{ids}", marks(l.n), "{each}", strings.TrimSuffix(strings.Repeat("WHEN ? THEN ? ", l.n), " ")).Replace(st.text)
	return st
}
