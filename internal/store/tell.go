package store

import (
	"encoding/json"
	"strconv"

	"patra"
)

var (
	insertTold  = stmt{"insert_told", `INSERT INTO ing_outbox (event_type, rev, event_key, subject, payload, created_at) VALUES (?, 0, ?, ?, ?, {now})`}
	holdPlan    = stmt{"hold_plan", `SELECT status_code FROM ing_plan WHERE id = ? {lock}`}
	planOfTask  = stmt{"plan_of_task", `SELECT plan_id FROM ing_task WHERE id = ?`}
	taskNews    = stmt{"task_news", `SELECT provenance_code, endpoint_name, operation_code, plan_id, slice_id, status_code, lease_count, scan_no, last_error FROM ing_task WHERE id = ?`}
	taskBySlice = stmt{"task_by_slice", `SELECT id FROM ing_task WHERE slice_id = ?`}
	workLeft    = stmt{"work_left", `SELECT id FROM ing_task WHERE plan_id = ? AND status_code IN ('QUEUED', 'RUNNING') LIMIT 1`}
	cutsLeft    = stmt{"cuts_left", `SELECT id FROM ing_plan_slice WHERE plan_id = ? AND status_code IN ('READY', 'PARTIAL') LIMIT 1`}
	planSum     = stmt{"plan_sum", `SELECT COUNT(*), COALESCE(SUM(scan_no), 0), COUNT(CASE WHEN status_code = 'SUCCEEDED' THEN 1 END), COUNT(CASE WHEN status_code = 'FAILED' THEN 1 END), COUNT(CASE WHEN status_code = 'CANCELLED' THEN 1 END)
		FROM ing_task WHERE plan_id = ?`}
	planNews = stmt{"plan_news", `SELECT provenance_code, endpoint_name, operation_code, status_code, reason_code, window_from, window_to, slice_count, version FROM ing_plan WHERE id = ?`}
)

// workEvent is what an event says about work.
type workEvent struct {
	Source    string          `json:"source"` // first: lists of events are narrowed by how the payload begins
	Endpoint  string          `json:"endpoint"`
	Operation string          `json:"operation"`
	Plan      int64           `json:"plan,omitempty"`
	Slice     int64           `json:"slice,omitempty"`
	Task      int64           `json:"task,omitempty"`
	Cursor    int64           `json:"cursor,omitempty"`
	Status    patra.Status    `json:"status,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	From      *patra.Instant  `json:"from,omitempty"`
	To        *patra.Instant  `json:"to,omitempty"`
	Slices    int64           `json:"slices,omitempty"`
	Tasks     *taskCounts     `json:"tasks,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// taskCounts is how the tasks of a finished plan ended. A task whose slice was cut again is none of these.
type taskCounts struct {
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"`
}

// writeEvent writes an event that is not about a record, in the transaction that made it true. about is what makes it this event
// and no other: writing it a second time changes nothing.
func (t *tx) writeEvent(kind patra.EventType, subject string, about []any, news any) error {
	_, err := t.exec(insertTold, kind, patra.Hash(append([]any{kind, subject}, about...)), subject, asJSON(news))
	if t.s.dialect.duplicate(err) {
		return nil
	}
	return err
}

// lockPlan locks the plan of work that may be its last, before anything else of it: two who close the last two slices at
// once would each see the other's still open, and nobody would say that the plan is finished.
func (t *tx) lockPlan(id int64) error {
	var status patra.Status
	_, err := t.one(holdPlan, []any{id}, &status)
	return err
}

// holdPlanOf locks the plan of a task.
func (t *tx) holdPlanOf(taskID int64) (plan int64, err error) {
	if _, err := t.one(planOfTask, []any{taskID}, &plan); err != nil {
		return 0, err
	}
	return plan, t.lockPlan(plan)
}

// writeTaskEvent says how a task ended, if it has. Ends are told apart by the fence and the scan: one that was retried has
// another of them.
func (t *tx) writeTaskEvent(id int64) error {
	var n workEvent
	var fence, scan int64
	if _, err := t.one(taskNews, []any{id}, &n.Source, &n.Endpoint, &n.Operation, &n.Plan, &n.Slice, &n.Status, &fence, &scan, jsonInto{&n.Error}); err != nil {
		return err
	}
	kind := patra.TaskEvent(n.Status)
	if kind == "" {
		return nil
	}
	n.Task = id
	return t.writeEvent(kind, "task/"+strconv.FormatInt(id, 10), []any{fence, scan}, n)
}

// writePlanEvent says what became of a plan.
func (t *tx) writePlanEvent(id int64) error {
	n, version, err := t.planNews(id)
	kind := patra.PlanEvent(n.Status)
	if err != nil || kind == "" {
		return err
	}
	if err := t.writeEvent(kind, planSubject(id), []any{version}, n); err != nil {
		return err
	}
	return t.writePlanFinished(id)
}

func planSubject(id int64) string { return "plan/" + strconv.FormatInt(id, 10) }

func (t *tx) planNews(id int64) (n workEvent, version int64, err error) {
	var from, to patra.Instant
	_, err = t.one(planNews, []any{id}, &n.Source, &n.Endpoint, &n.Operation, &n.Status, textInto{&n.Reason}, &from, &to, &n.Slices, &version)
	n.Plan, n.From, n.To = id, &from, &to
	return n, version, err
}

// writePlanFinished says that all slices of a plan are closed, if they are and no more follow. The plan is locked. Most calls
// end with the first question.
func (t *tx) writePlanFinished(planID int64) error {
	for _, st := range []stmt{workLeft, cutsLeft} {
		if left, err := t.ids(st, planID); err != nil || len(left) > 0 {
			return err
		}
	}
	n, _, err := t.planNews(planID)
	if err != nil || n.Status != patra.Ready {
		return err
	}
	if err := t.settleMoved(planID); err != nil {
		return err
	}
	var tasks, scans int64
	n.Tasks = &taskCounts{}
	if _, err := t.one(planSum, []any{planID}, &tasks, &scans, &n.Tasks.Succeeded, &n.Tasks.Failed, &n.Tasks.Cancelled); err != nil {
		return err
	}
	// Whoever retries a slice makes a scan more, and whoever cuts one a task more: then it is finished another time.
	return t.writeEvent(patra.EventPlanFinished, planSubject(planID), []any{tasks, scans}, n)
}
