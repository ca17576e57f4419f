package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"patra"
)

// sliceRow is a slice as the checks of cutting need it. They share no code with what cuts.
type sliceRow struct {
	id, plan, parent  int64
	status            patra.Status
	window, confirmed patra.Window
	ids               *patra.SliceRange // of a part
}

func sliceRows(t testing.TB, db tables) (all []sliceRow) {
	t.Helper()
	scan(t, db, `SELECT id, plan_id, COALESCE(parent_slice_id, 0), status_code, COALESCE(window_from, 0), COALESCE(window_to, 0), COALESCE(confirmed_from, 0), COALESCE(confirmed_to, 0), slice_spec
		FROM ing_plan_slice`, func(r *sql.Rows) error {
		var s sliceRow
		var raw []byte
		if err := r.Scan(&s.id, &s.plan, &s.parent, &s.status, &s.window.From, &s.window.To, &s.confirmed.From, &s.confirmed.To, &raw); err != nil {
			return err
		}
		var spec patra.SliceSpec
		err := json.Unmarshal(raw, &spec)
		if spec.Window != nil {
			s.ids = spec.Range
		}
		all = append(all, s)
		return err
	})
	return all
}

const splitsTile = "children are exactly what their parent left"

// wrongSplits adds up the children of every slice that was cut: time by time, and where a stretch of time is cut by ids,
// number by number.
func wrongSplits(t testing.TB, db tables) (all []string) {
	t.Helper()
	rows := sliceRows(t, db)
	children := map[int64][]sliceRow{}
	for _, s := range rows {
		children[s.parent] = append(children[s.parent], s)
	}
	for _, parent := range rows {
		if why := wrongChildren(parent, children[parent.id]); why != "" {
			all = append(all, fmt.Sprintf("%s: slice %d: %s", splitsTile, parent.id, why))
		}
	}
	return all
}

func wrongChildren(parent sliceRow, children []sliceRow) string {
	if parent.status != patra.Split {
		if len(children) > 0 {
			return "it has children and was not cut"
		}
		return ""
	}
	ids := map[patra.Window][]patra.IDRange{}
	space := map[patra.Window]patra.IDRange{}
	var windows []patra.Window
	for _, c := range children {
		if !slices.Contains(windows, c.window) {
			windows = append(windows, c.window)
		} else if c.ids == nil {
			return fmt.Sprintf("two children answer for %s", c.window)
		}
		if c.ids != nil {
			ids[c.window], space[c.window] = append(ids[c.window], c.ids.IDRange), c.ids.Of
		}
		if c.plan != parent.plan {
			return "a child is of another plan"
		}
	}
	if parent.ids != nil {
		space[parent.window] = parent.ids.IDRange
	}
	left := patra.NewCoverage(parent.window).Minus(patra.NewCoverage(parent.confirmed))
	if got := patra.NewCoverage(windows...); !slices.Equal(got, left) || length(windows) != length(left) {
		return fmt.Sprintf("the children answer for %v, but %v was left", windows, left)
	}
	for w, of := range space {
		var numbers int64
		for _, r := range ids[w] {
			numbers += r.To - r.From
		}
		if !of.Tile(ids[w]) || numbers != of.To-of.From {
			return fmt.Sprintf("the parts of %s are %v of %s", w, ids[w], of)
		}
	}
	return ""
}

func length(ws []patra.Window) (sum patra.Instant) {
	for _, w := range ws {
		sum += w.To - w.From
	}
	return sum
}

const groupsTile = "a window that is cut by ids is covered once, when its closed parts are all ids, and not before"

// wrongGroups looks for windows whose parts are all closed and that are not covered, and the other way round.
func wrongGroups(t testing.TB, db tables) (all []string) {
	t.Helper()
	type group struct {
		plan   int64
		window patra.Window
	}
	closed, of, covered, groupOf := map[group][]patra.IDRange{}, map[group]patra.IDRange{}, map[group]int{}, map[int64]group{}
	for _, s := range sliceRows(t, db) {
		if s.ids == nil {
			continue
		}
		g := group{s.plan, s.window}
		groupOf[s.id], of[g] = g, s.ids.Of
		if s.status == patra.Succeeded {
			closed[g] = append(closed[g], s.ids.IDRange)
		}
	}
	scan(t, db, `SELECT slice_id FROM ing_coverage WHERE kind_code = 'GROUP'`, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		covered[groupOf[id]]++
		return err
	})
	for g, space := range of {
		want := 0
		if space.Tile(closed[g]) {
			want = 1
		}
		if covered[g] != want {
			all = append(all, fmt.Sprintf("%s: %s of plan %d has %d answers, and %v of %s is closed", groupsTile, g.window, g.plan, covered[g], closed[g], space))
		}
	}
	if n := covered[group{}]; n > 0 {
		all = append(all, fmt.Sprintf("%s: %d answers are of no part", groupsTile, n))
	}
	return all
}
