package store

import (
	"database/sql"
	"errors"
)

const newRun = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '{}', 'RUNNING', {now}, {now})`

var (
	insertRuns = stmt{"insert_runs", `INSERT INTO ing_task_run
		(task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, expr_hash, spec_fingerprint, lease_owner, window_from, window_to,
		 scan_no, exhausted, stats, status_code, started_at, created_at) VALUES {runs}`}
	newRuns = stmt{"new_runs", `SELECT task_id, attempt_no, id FROM ing_task_run WHERE task_id IN ({ids}) AND status_code = 'RUNNING'`}
)

// startRuns writes the runs of tasks that have new owners.
//
// A statement tells the id of one row that it wrote, and servers that write for each other do not count by ones: a server is
// asked for the ids of several. An embedded store is at hand, and writes them one by one.
func (t *tx) startRuns(won []*pickedTask) (err error) {
	if !t.s.Embedded() && len(won) > 1 {
		return t.startTogether(won)
	}
	for _, p := range won {
		if p.taken.RunID, err = t.insert(runRows(1), p.newRun()...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) startTogether(won []*pickedTask) error {
	var rows []any
	byID := map[int64]*pickedTask{}
	for _, p := range won {
		rows = append(rows, p.newRun()...)
		byID[p.id] = p
	}
	if _, err := t.exec(runRows(len(won)), rows...); err != nil {
		return err
	}
	ids, found := newIDs(won), 0
	err := t.rows(ids.in(newRuns), func(r *sql.Rows) error {
		var task, attempt, run int64
		err := r.Scan(&task, &attempt, &run)
		if c := byID[task].taken; err == nil && attempt == c.Fence {
			c.RunID = run
			found++
		}
		return err
	}, ids.args...)
	if err == nil && found != len(won) {
		err = errors.New("a claimed task has no run")
	}
	return err
}

func runRows(n int) stmt {
	return insertRuns.filled("{runs}", repeated(newRun, n))
}

// newRun is the row of the run that takes a task over.
func (p *pickedTask) newRun() []any {
	c := p.taken
	return []any{c.TaskID, c.Fence, c.Task.PlanID, c.Task.SliceID, c.Task.Source, c.Task.Operation, c.Slice.ExprHash, c.Spec, c.Owner,
		c.Slice.Window.From, c.Slice.Window.To, c.Task.ScanNo}
}
