package invariants

import (
	"database/sql"
	"encoding/json"

	"patra"
)

// piece is a slice as the checks of cutting need it.
type piece struct {
	id, parent        int64
	status            string
	window, confirmed patra.Window
	ids               *ids // of a part
}

// ids is the range of a part, and the space that it is a part of.
type ids struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	Of   struct {
		From int64 `json:"from"`
		To   int64 `json:"to"`
	} `json:"of"`
}

// pieces reads the slices of one plan.
func (l *checkRun) pieces(planID int64) (all []piece, err error) {
	err = l.each(`SELECT id, COALESCE(parent_slice_id, 0), status_code, COALESCE(window_from, 0), COALESCE(window_to, 0), COALESCE(confirmed_from, 0), COALESCE(confirmed_to, 0), slice_spec
		FROM ing_plan_slice WHERE plan_id = ?`, func(r *sql.Rows) error {
		var p piece
		var raw []byte
		if err := r.Scan(&p.id, &p.parent, &p.status, &p.window.From, &p.window.To, &p.confirmed.From, &p.confirmed.To, &raw); err != nil {
			return err
		}
		var spec struct {
			Window *json.RawMessage `json:"window"`
			Range  *ids             `json:"range"`
		}
		err := json.Unmarshal(raw, &spec)
		if spec.Window != nil {
			p.ids = spec.Range
		}
		all = append(all, p)
		return err
	}, planID)
	return all, err
}

// plans hands the slices of every plan that a query names to use, one plan at a time.
func (l *checkRun) plans(query string, use func(planID int64, all []piece) error) error {
	plans, err := l.ids(query)
	if err != nil {
		return err
	}
	for _, id := range plans {
		all, err := l.pieces(id)
		if err == nil {
			err = use(id, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const splitsTile = "children are exactly what their parent left"

// wrongSplits adds up the children of every slice that was cut: time by time, and where a stretch of time is cut by ids,
// number by number.
func wrongSplits(l *checkRun) error {
	if err := l.none("slice", `SELECT s.id FROM ing_plan_slice s LEFT JOIN ing_plan_slice p ON p.id = s.parent_slice_id AND p.plan_id = s.plan_id
		WHERE s.parent_slice_id IS NOT NULL AND p.id IS NULL`); err != nil {
		return err
	}
	return l.plans(`SELECT DISTINCT plan_id FROM ing_plan_slice WHERE status_code = 'SPLIT' OR parent_slice_id IS NOT NULL`, func(_ int64, all []piece) error {
		children := map[int64][]piece{}
		for _, p := range all {
			children[p.parent] = append(children[p.parent], p)
		}
		for _, p := range all {
			if why := wrongChildren(p, children[p.id]); why != "" {
				l.found("slice %d: %s", p.id, why)
			}
		}
		return nil
	})
}

// wrongChildren measures instead of comparing: pieces that lie inside the rest, do not overlap and are as long as it are
// the rest.
func wrongChildren(parent piece, children []piece) string {
	if parent.status != "SPLIT" {
		if len(children) > 0 {
			return "it has children and was not cut"
		}
		return ""
	}
	rest := patra.Coverage{parent.window}.Minus(patra.Coverage{parent.confirmed})
	if parent.confirmed.IsEmpty() {
		rest = patra.Coverage{parent.window}
	}
	numbers, space, whole := map[patra.Window]int64{}, map[patra.Window]int64{}, map[patra.Window]int{}
	var windows []patra.Window
	for i, c := range children {
		if len((patra.Coverage{c.window}).Minus(rest)) > 0 {
			return "a child answers for " + c.window.String() + ", which was not left"
		}
		if space[c.window] == 0 && whole[c.window] == 0 {
			windows = append(windows, c.window)
		}
		if c.ids == nil {
			whole[c.window]++
			continue
		}
		for _, o := range children[:i] {
			if o.window == c.window && o.ids != nil && o.ids.From < c.ids.To && c.ids.From < o.ids.To {
				return "two children answer for the same ids of " + c.window.String()
			}
		}
		numbers[c.window] += c.ids.To - c.ids.From
		space[c.window] = c.ids.Of.To - c.ids.Of.From
	}
	if parent.ids != nil {
		space[parent.window] = parent.ids.To - parent.ids.From
	}
	for _, w := range windows {
		if whole[w]+min(int(numbers[w]), 1) != 1 || numbers[w] != space[w] {
			return "its children do not answer for all of " + w.String() + " once"
		}
	}
	if union := patra.NewCoverage(windows...); length(windows) != length(rest) || length(union) != length(rest) {
		return "its children answer for something else than what it left"
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
func wrongGroups(l *checkRun) error {
	if err := l.none("answer", `SELECT v.id FROM ing_coverage v LEFT JOIN ing_plan_slice s ON s.id = v.slice_id WHERE v.kind_code = 'GROUP' AND (s.id IS NULL OR NOT `+isPart+`)`); err != nil {
		return err
	}
	return l.plans(`SELECT DISTINCT s.plan_id FROM ing_plan_slice s WHERE `+isPart, func(planID int64, all []piece) error {
		answers := map[patra.Window]int{}
		if err := l.each(`SELECT v.window_from, v.window_to FROM ing_coverage v JOIN ing_plan_slice s ON s.id = v.slice_id WHERE s.plan_id = ? AND v.kind_code = 'GROUP'`, func(r *sql.Rows) error {
			var w patra.Window
			err := r.Scan(&w.From, &w.To)
			answers[w]++
			return err
		}, planID); err != nil {
			return err
		}
		groups := map[patra.Window][]ids{}
		space := map[patra.Window]ids{}
		for _, p := range all {
			if p.ids == nil {
				continue
			}
			space[p.window] = *p.ids
			if p.status == "SUCCEEDED" {
				groups[p.window] = append(groups[p.window], *p.ids)
			}
		}
		for w, of := range space {
			want := 0
			if allIDs(of, groups[w]) {
				want = 1
			}
			if answers[w] != want {
				l.found("%s of plan %d has %d answers, and should have %d", w, planID, answers[w], want)
			}
		}
		return nil
	})
}

// allIDs reports whether ranges, which may overlap, leave no number of the space out.
func allIDs(of ids, closed []ids) bool {
	reach := of.Of.From
	for moved := true; moved; {
		moved = false
		for _, c := range closed {
			if c.From <= reach && c.To > reach {
				reach, moved = c.To, true
			}
		}
	}
	return reach >= of.Of.To
}
