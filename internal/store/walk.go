package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// ListPage is which part of a list is wanted: at most Limit rows (0 is 100) with ids below Before (0 is all).
type ListPage struct {
	Before int64
	Limit  int
	Walk   *ScanLimit // nil: whatever it takes
}

// ScanLimit bounds what a list looks at. A filter that has no index of its own is answered from a stretch of ids, newest first;
// Next is where whoever wants more goes on.
type ScanLimit struct {
	Rows int64 // how many ids may be looked at
	Next int64 // given back: go on below this id; 0 if there is nothing more, or if the last row tells it
}

// cond is one condition on a list: its name, its SQL and its values.
type cond struct {
	name, text string
	values     []any
}

// listing is a list that can be had in parts: {where} and {by} stand in its query, and key is its column of ids.
type listing struct{ name, query, key string }

// indexHint is how a list can be answered without looking at rows in vain.
type indexHint struct {
	table string
	few   []string   // conditions of which one alone leaves few rows: those of one task, one run
	index [][]string // conditions that an index answers in the order of ids
}

// ofSlice finds what belongs to a slice through its task, of which there is one: the tables of runs and pages have no index
// by slices.
const ofSlice = `task_id = (SELECT t.id FROM ing_task t WHERE t.slice_id = ?)`

// roads are those of the lists. Whatever is not here is walked.
var roads = map[string]indexHint{
	"list_plans":      {"ing_plan", []string{"plan"}, [][]string{{}, {"cursor"}, {"source"}}},
	"list_slices":     {"ing_plan_slice", []string{"slice"}, [][]string{{}, {"plan"}, {"plan", "status"}, {"source", "status"}}},
	"list_tasks":      {"ing_task", []string{"task", "slice"}, [][]string{{}, {"plan"}, {"plan", "status"}, {"status"}, {"source", "status"}}},
	"list_runs":       {"ing_task_run", []string{"run", "task", "slice"}, [][]string{{}, {"plan"}}},
	"list_batches":    {"ing_task_run_batch", []string{"batch", "run", "task", "slice"}, [][]string{{}, {"plan"}, {"plan", "status"}, {"status"}}},
	"list_signals":    {"ing_signal", nil, [][]string{{}, {"source", "status"}}},
	"list_quarantine": {"ing_quarantine", []string{"id", "record"}, [][]string{{}}},
	"list_healing":    {"ing_healing", []string{"task"}, [][]string{{}}},
	"list_audit":      {"ing_audit", nil, [][]string{{}, {"target"}}},
	"list_events":     {"ing_outbox", []string{"record"}, [][]string{{}}},
}

// leads reports whether conditions are answered by an index.
func (r indexHint) leads(conds []cond) bool {
	if slices.ContainsFunc(conds, func(c cond) bool { return slices.Contains(r.few, c.name) }) {
		return true
	}
	return slices.ContainsFunc(r.index, func(i []string) bool {
		return len(i) == len(conds) && !slices.ContainsFunc(conds, func(c cond) bool { return !slices.Contains(i, c.name) })
	})
}

// listPage reads one part of a list, newest first. With a walk, conditions that no index answers in the order of the list are
// asked of a stretch of ids, and of no more.
func listPage[T any](ctx context.Context, s *Store, l listing, conds []cond, p ListPage, scan func(*sql.Rows) (T, error)) ([]T, error) {
	all, by, t := []T{}, "", s.read(ctx)
	if p.Limit <= 0 {
		p.Limit = 100
	}
	if road := roads[l.name]; p.Walk != nil && !road.leads(conds) {
		top, err := t.top(road.table, l.key, p.Before)
		if err != nil || top == 0 {
			return all, err
		}
		floor := max(top-p.Walk.Rows, 0)
		if floor > 0 {
			p.Walk.Next = floor + 1
		}
		p.Before, by = top+1, "{bykey}"
		conds = append([]cond{{"", l.key + " > ?", []any{floor}}}, conds...)
	}
	if p.Before == 0 {
		p.Before = topmost
	}
	if l.key != "" { // always: so it can be seen that a list without conditions goes by its key
		conds = append(conds, cond{"", l.key + " < ?", []any{p.Before}})
	}
	texts, args := []string{"1 = 1"}, []any(nil)
	for _, c := range conds {
		texts, args = append(texts, c.text), append(args, c.values...)
	}
	query := strings.NewReplacer("{where}", strings.Join(texts, " AND "), "{by}", by).Replace(l.query)
	err := t.rows(stmt{l.name, query}, func(r *sql.Rows) error {
		v, err := scan(r)
		all = append(all, v)
		return err
	}, append(args, p.Limit)...)
	if p.Walk != nil && len(all) >= p.Limit {
		p.Walk.Next = 0
	}
	return all, err
}

// topmost is above every id.
const topmost = 1 << 62

// top is the largest id below one, or of all if that is 0; 0 if there is none. Ids that an archive took are jumped over.
func (t *tx) top(table, key string, below int64) (id int64, err error) {
	if below == 0 {
		below = topmost
	}
	if _, column, ok := strings.Cut(key, "."); ok {
		key = column
	}
	_, err = t.one(stmt{"top_of_" + table, `SELECT COALESCE(MAX(` + key + `), 0) FROM ` + table + ` WHERE ` + key + ` < ?`}, []any{below}, &id)
	return id, err
}
