package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"patra"
)

// farAway is when a task that is held back would be due: never.
const farAway = 253402300799000000 // the end of the year 9999

var (
	pausedWork = stmt{"paused_work", `SELECT ` + controlColumns + ` FROM ing_control
		WHERE kind_code = 'PAUSE' AND state_code = 'PAUSED' AND scope_code IN ('CURSOR', 'PLAN', 'SLICE', 'TASK')`}
	heldBelow = stmt{"held_below", `SELECT ` + controlColumns + ` FROM ing_control
		WHERE (scope_code = 'ENDPOINT' AND kind_code IN ('HALT', 'BREAKER') AND state_code <> 'RUNNING') OR (kind_code = 'QUOTA' AND state_code = 'USED_UP')
		ORDER BY scope_code, scope_key, kind_code`}
	taskExists  = stmt{"task_exists", `SELECT id FROM ing_task WHERE id = ?`}
	sliceExists = stmt{"slice_exists", `SELECT id FROM ing_plan_slice WHERE id = ?`}
	countTasks  = stmt{"count_tasks", `SELECT status_code, COUNT(*) FROM ing_task WHERE status_code IN ('QUEUED', 'RUNNING') AND {where} GROUP BY status_code`}
	park        = stmt{"park_tasks", `UPDATE ing_task SET scheduled_at = ?, wait_code = 'PAUSED' WHERE status_code = 'QUEUED' AND {where}`}
	unpark      = stmt{"unpark_tasks", `UPDATE ing_task SET scheduled_at = {now}, wait_code = NULL
		WHERE status_code = 'QUEUED' AND wait_code IN ('PAUSED', 'HALTED', 'BREAKER', 'QUOTA') AND {where}`}
)

// with fills a condition into a statement.
func (st stmt) with(where string) stmt {
	return stmt{st.name, strings.Replace(st.text, "{where}", where, 1)}
}

// tasksOf is the condition for the tasks of a target. A cursor is found through its source and operation, which have an
// index. It fails with patra.ErrNotFound for a piece of work that does not exist, and locks those rows that whoever adds
// tasks locks too: of a pause and a planner one waits for the other.
func (t *tx) tasksOf(target patra.Target) (where string, args []any, err error) {
	id := target.ID()
	ofCursor, ofPlan := lockCursor, lockPlan
	if t.sql == nil { // somebody who only looks
		ofCursor, ofPlan = cursorByID, selectPlan
	}
	switch target.Scope {
	case patra.ScopeCursor:
		c, err := t.oneCursor(ofCursor, id)
		if err != nil || c == nil {
			return "", nil, orNotFound(err)
		}
		return `provenance_code = ? AND operation_code = ? AND cursor_id = ?`, []any{c.Source, c.Operation, id}, nil
	case patra.ScopePlan:
		p, err := t.plan(ofPlan, id)
		if err != nil || p == nil {
			return "", nil, orNotFound(err)
		}
		return `plan_id = ?`, []any{id}, nil
	case patra.ScopeSlice:
		return `slice_id = ?`, []any{id}, t.exists(sliceExists, id)
	case patra.ScopeTask:
		return `id = ?`, []any{id}, t.exists(taskExists, id)
	}
	p := target.WorkScope()
	where, args = `provenance_code = ?`, []any{p.Source}
	if p.Endpoint != "" {
		where, args = where+` AND endpoint_name = ?`, append(args, p.Endpoint)
	}
	if p.Operation != "" {
		where, args = where+` AND operation_code = ?`, append(args, p.Operation)
	}
	if p.Repository != "" {
		where, args = where+` AND `+tasksOfRepository, append(args, repositoryArgs(p)...)
	}
	return where, args, nil
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return patra.ErrNotFound
}

func (t *tx) exists(st stmt, id int64) error {
	var row int64
	found, err := t.one(st, []any{id}, &row)
	if err == nil && !found {
		err = patra.ErrNotFound
	}
	return err
}

// Pause holds work back: what is queued waits, what is running stops before its next request, and nothing more is
// planned. It fails with patra.ErrNotFound for a piece of work that does not exist.
func (s *Store) Pause(ctx context.Context, target patra.Target, reason, actor string) (steered patra.ControlResult, err error) {
	err = s.write(ctx, "pause", func(t *tx) error {
		steered = patra.ControlResult{}
		where, args, err := t.tasksOf(target)
		if err != nil {
			return err
		}
		m, err := t.updateControl(target, patra.KindPause, func(c *patra.Control, _ patra.Instant) {
			if c.State == patra.Paused && reason == "" { // said once more, and not for another reason
				return
			}
			c.State, c.Reason, c.Actor = patra.Paused, reason, actor
		})
		if err != nil {
			return err
		}
		if m.changed() {
			steered.Changed = append(steered.Changed, m.is)
		}
		if !target.IsScope() { // of a place, claims see to it that nothing is handed out
			if _, err := t.exec(park.with(where), append([]any{farAway}, args...)...); err != nil {
				return err
			}
		}
		if err := t.countTasks(&steered, where, args); err != nil {
			return err
		}
		return t.auditAction(patra.AuditPause, actor, target.String(), reason, map[string]any{"queued": steered.Queued, "running": steered.Running})
	})
	return steered, err
}

// Resume ends a pause of exactly this target. Halts, breakers and used-up quotas in it are ended too, and what failed
// because of a halt is queued again. A quota that is still used up is found out by the next request.
func (s *Store) Resume(ctx context.Context, target patra.Target, reason, actor string) (steered patra.ControlResult, err error) {
	var halted []patra.Control
	err = s.write(ctx, "resume", func(t *tx) error {
		steered, halted = patra.ControlResult{}, nil
		where, args, err := t.tasksOf(target)
		if err != nil {
			return err
		}
		ends, err := t.endable(target)
		if err != nil {
			return err
		}
		for _, e := range ends {
			m, err := t.updateControl(e.Target, e.Kind, func(c *patra.Control, _ patra.Instant) { end(c, reason, actor) })
			if err != nil {
				return err
			}
			if !m.changed() || !m.was.InForce() {
				continue
			}
			steered.Changed = append(steered.Changed, m.was)
			if m.was.Kind == patra.KindHalt {
				halted = append(halted, m.was)
			}
		}
		if _, err := t.exec(unpark.with(where), args...); err != nil {
			return err
		}
		if err := t.parkAll(); err != nil { // what somebody else holds back stays where it is
			return err
		}
		if err := t.countTasks(&steered, where, args); err != nil {
			return err
		}
		return t.auditAction(patra.AuditResume, actor, target.String(), reason, map[string]any{"ended": len(steered.Changed)})
	})
	for _, h := range halted {
		if err == nil {
			err = s.reviveHalted(ctx, h, &steered)
		}
	}
	return steered, err
}

// endable are the controls that a resume of the target ends.
func (t *tx) endable(target patra.Target) ([]patra.Control, error) {
	all := []patra.Control{{Target: target, Kind: patra.KindPause}}
	if !target.IsScope() {
		return all, nil
	}
	ofOne := target.WorkScope().Repository != ""
	below, err := t.controls(heldBelow)
	for _, c := range below {
		if c.Target == target || strings.HasPrefix(c.Key, target.Key+"/") || ofOne && target.Holds(c.Target) {
			all = append(all, c)
		}
	}
	return all, err
}

func end(c *patra.Control, reason, actor string) {
	if c.State == c.Kind.InactiveState() && c.Failures == 0 {
		return
	}
	c.State, c.Until, c.Failures, c.Reason, c.Actor = c.Kind.InactiveState(), 0, 0, reason, actor
	c.Detail.Fault, c.Detail.Trips, c.Detail.Quota, c.Detail.Failed = nil, 0, nil, nil
}

func (t *tx) countTasks(steered *patra.ControlResult, where string, args []any) error {
	return t.rows(countTasks.with(where), func(r *sql.Rows) error {
		var status patra.Status
		var n int64
		err := r.Scan(&status, &n)
		if status == patra.Running {
			steered.Running = n
		} else {
			steered.Queued = n
		}
		return err
	}, args...)
}

// parkAll holds back the tasks of everything that is paused piece by piece.
func (t *tx) parkAll() error {
	paused, err := t.controls(pausedWork)
	if err != nil {
		return err
	}
	for _, c := range paused {
		where, args, err := t.tasksOf(c.Target)
		if errors.Is(err, patra.ErrNotFound) { // it was archived while it was paused
			continue
		}
		if err == nil {
			_, err = t.exec(park.with(where), append([]any{farAway}, args...)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Paused reports whether somebody holds a cursor's work back, as a whole.
func (s *Store) Paused(ctx context.Context, cursorID int64) (bool, error) {
	paused, err := s.read(ctx).pausedAmong(patra.WorkTarget(patra.ScopeCursor, cursorID))
	return len(paused) > 0, err
}

func (t *tx) pausedAmong(targets ...patra.Target) ([]patra.Control, error) {
	where, args := anyOf(targets)
	return t.controls(stmt{"paused_among", `SELECT ` + controlColumns + ` FROM ing_control WHERE kind_code = 'PAUSE' AND state_code = 'PAUSED' AND (` + where + `)`}, args...)
}

// parkIfPaused holds back tasks that came into the queue while they, or what they belong to, are paused.
func (t *tx) parkIfPaused(at patra.WorkScope) error {
	var narrow []patra.Target
	for _, target := range at.Targets() {
		if !target.IsScope() {
			narrow = append(narrow, target)
		}
	}
	if len(narrow) == 0 {
		return nil
	}
	paused, err := t.pausedAmong(narrow...)
	if err != nil {
		return err
	}
	for _, c := range paused {
		where, args := `plan_id = ?`, []any{at.PlanID}
		switch c.Scope {
		case patra.ScopeCursor:
			where, args = `provenance_code = ? AND operation_code = ? AND cursor_id = ?`, []any{at.Source, at.Operation, at.CursorID}
		case patra.ScopeSlice, patra.ScopeTask:
			where, args = `id = ?`, []any{at.TaskID}
		}
		if _, err := t.exec(park.with(where), append([]any{farAway}, args...)...); err != nil {
			return err
		}
	}
	return nil
}
