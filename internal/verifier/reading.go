package verifier

import (
	"context"
	"database/sql"
	"slices"
	"sort"
)

// reading is a window that counts as complete, and from when to when it was read.
type reading struct{ from, to, began, ended int64 }

// The requests of the scan that a coverage stands on. Where they are in an archive by now, the lives of the task's runs are
// longer, which asks for less and never for too much.
const readingColumns = `v.window_from, v.window_to, COALESCE(MIN(q.sent_at), (SELECT MIN(o.started_at) FROM ing_task_run o WHERE o.task_id = t.id)), COALESCE(MAX(q.finished_at), MAX(r.finished_at))`

// A proof that rests on several scans is about what was there from the first of them on.
const readingPages = ` LEFT JOIN ing_task_run_batch b ON b.task_id = r.task_id AND b.scan_no <= r.scan_no AND b.status_code = 'SUCCEEDED'
	AND b.scan_no >= COALESCE(JSON_EXTRACT(v.proof, '$.scans[0].scan'), JSON_EXTRACT(r.stats, '$.answer.proof.scans[0].scan'), r.scan_no) LEFT JOIN ing_request q ON q.batch_id = b.id
	WHERE v.state_code = 'SEALED' AND c.provenance_code = ? AND (? = '' OR c.endpoint_name = ?) `

const (
	wholeReadings = `SELECT ` + readingColumns + ` FROM ing_coverage v JOIN ing_cursor c ON c.id = v.cursor_id JOIN ing_task t ON t.slice_id = v.slice_id
		JOIN ing_task_run r ON r.task_id = t.id AND (r.exhausted = 1 OR (v.kind_code = 'CONFIRMED' AND r.status_code = 'PARTIAL'))` + readingPages + `AND v.kind_code <> 'GROUP' GROUP BY v.id, v.window_from, v.window_to, t.id`
	groupReadings = `SELECT ` + readingColumns + `, v.id FROM ing_coverage v JOIN ing_cursor c ON c.id = v.cursor_id JOIN ing_plan_slice s ON s.id = v.slice_id
		JOIN ing_plan_slice p ON p.plan_id = s.plan_id AND p.window_from = s.window_from AND p.window_to = s.window_to AND p.status_code = 'SUCCEEDED'
		JOIN ing_task t ON t.slice_id = p.id JOIN ing_task_run r ON r.task_id = t.id AND r.exhausted = 1` + readingPages + `AND v.kind_code = 'GROUP' GROUP BY v.id, v.window_from, v.window_to, t.id`
)

// readings gives the complete windows of a truth, in the order of their beginnings.
func (s *Scene) readings(ctx context.Context, of string) (all []reading, err error) {
	source, endpoint := split(of)
	err = s.each(ctx, wholeReadings, func(r *sql.Rows) error {
		var w reading
		err := r.Scan(&w.from, &w.to, &w.began, &w.ended)
		all = append(all, w)
		return err
	}, source, endpoint, endpoint)
	if err != nil {
		return nil, err
	}
	groups := map[int64]reading{} // of parts: from the first request of the first to the last of the last
	err = s.each(ctx, groupReadings, func(r *sql.Rows) error {
		var w reading
		var id int64
		if err := r.Scan(&w.from, &w.to, &w.began, &w.ended, &id); err != nil {
			return err
		}
		if g, ok := groups[id]; ok {
			w.began, w.ended = min(w.began, g.began), max(w.ended, g.ended)
		}
		groups[id] = w
		return nil
	}, source, endpoint, endpoint)
	for _, w := range groups {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b reading) int { return int(min(max(a.from-b.from, -1), 1)) })
	return all, err
}

// marked notes which versions were there throughout a complete reading, and which were waived.
func (t *truth) marked(all []reading, waivers []reading) {
	furthest := make([]int64, len(all)) // how far the windows up to one reach
	for i, w := range all {
		furthest[i] = w.to
		if i > 0 {
			furthest[i] = max(furthest[i], furthest[i-1])
		}
	}
	for i := range t.versions {
		v := &t.versions[i]
		for k := sort.Search(len(all), func(k int) bool { return all[k].from > v.at }) - 1; k >= 0 && furthest[k] > v.at; k-- {
			if v.at < all[k].to && v.throughout(all[k].began, all[k].ended) {
				v.must = true
				break
			}
		}
		v.waived = slices.ContainsFunc(waivers, func(w reading) bool { return w.from <= v.at && v.at < w.to })
	}
}

// waivers are the stretches that a person has signed off.
func (s *Scene) waivers(ctx context.Context, of string) (all []reading, err error) {
	source, endpoint := split(of)
	err = s.each(ctx, `SELECT w.window_from, w.window_to FROM ing_gap_waiver w JOIN ing_cursor c ON c.id = w.cursor_id
		WHERE w.revoked_at IS NULL AND c.provenance_code = ? AND (? = '' OR c.endpoint_name = ?)`, func(r *sql.Rows) error {
		var w reading
		err := r.Scan(&w.from, &w.to)
		all = append(all, w)
		return err
	}, source, endpoint, endpoint)
	return all, err
}
