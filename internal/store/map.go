package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"

	"patra"
)

// mostWindows is how many windows of each kind one map, or one list of gaps, is made of. A cursor with more is looked at in
// parts.
const mostWindows = 50_000

const answerColumns = `id, cursor_id, slice_id, window_from, window_to, kind_code, state_code, total_code, count_before, count_after,
		ids_seen, {stored}, quarantined, known_missing, rescans, closed_at, sealed_at, record_remarks, proof`

// drawnColumns are those that a map is drawn from: of tens of thousands of answers each column counts.
const drawnColumns = `id, slice_id, window_from, window_to, state_code, count_after, ids_seen, closed_at`

var (
	answersOf = stmt{"answers_of", `SELECT ` + drawnColumns + ` FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND window_to <= ? ORDER BY window_to, window_from LIMIT ?`}
	across    = stmt{"answers_across", `SELECT ` + drawnColumns + ` FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND window_from < ? LIMIT ?`}
	endedOf   = stmt{"ended_of", `SELECT s.id, t.id, s.window_from, s.window_to, s.status_code, s.reslice IS NOT NULL, t.last_error FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id
		WHERE s.cursor_id = ? AND s.status_code = ? AND s.window_to > ? AND s.window_from < ? ORDER BY s.window_to LIMIT ?`}
	// It is one statement, because between two of them a slice could become the other kind.
	liveOf = stmt{"live_of", `SELECT * FROM (` + liveOfKind("READY") + `) AS waiting UNION ALL SELECT * FROM (` + liveOfKind("PARTIAL") + `) AS early`}
)

func liveOfKind(status string) string {
	return `SELECT s.id AS slice_id, t.id AS task_id, s.window_from, s.window_to, COALESCE(s.confirmed_from, 0) AS confirmed_from, COALESCE(s.confirmed_to, 0) AS confirmed_to, s.status_code, t.status_code AS task_status,
		CASE WHEN s.estimate_source_code = 'COUNT' THEN s.estimate_records END AS expected FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id
		WHERE s.cursor_id = ? AND s.status_code = '` + status + `' AND s.window_to > ? AND s.window_from < ? ORDER BY s.window_to LIMIT ` + strconv.Itoa(mostWindows)
}

// MapFacts is what is known of a stretch of a cursor's time, in the order in which it may be read without a transaction: what
// ended, what is live, what was read. until is before the end of the stretch if there was more than one look is given.
func (s *Store) MapFacts(ctx context.Context, cursorID int64, span patra.Window) (f patra.MapFacts, until patra.Instant, err error) {
	t, until := s.read(ctx), span.To
	for _, status := range []patra.Status{patra.Failed, patra.Cancelled} {
		ended, err := t.ended(endedOf, cursorID, status, span.From, span.To, mostWindows)
		if err != nil {
			return f, until, err
		}
		if len(ended) == mostWindows {
			until = min(until, ended[len(ended)-1].Window.To)
		}
		f.Ended = append(f.Ended, ended...)
	}
	live := map[patra.Status]int{}
	err = t.rows(liveOf, func(r *sql.Rows) error {
		var l patra.LiveSlice
		var w, confirmed patra.Window
		var status, task patra.Status
		if err := r.Scan(&l.SliceID, &l.TaskID, &w.From, &w.To, &confirmed.From, &confirmed.To, &status, &task, &l.Expected); err != nil {
			return err
		}
		if live[status]++; live[status] == mostWindows {
			until = min(until, w.To)
		}
		l.Windows, l.Running, l.Recut = patra.RemainingWindow(w, confirmed), task == patra.Running, status == patra.Partial
		f.Slices = append(f.Slices, l)
		return nil
	}, cursorID, span.From, span.To, cursorID, span.From, span.To)
	if err != nil {
		return f, until, err
	}
	var all []patra.Window
	for _, l := range f.Slices {
		all = append(all, l.Windows...)
	}
	f.Live = patra.NewCoverage(all...)
	if f.Answers, err = t.mapEntries(answersOf, cursorID, span.From, span.To, mostWindows); err != nil {
		return f, until, err
	}
	last := span.To
	if n := len(f.Answers); n == mostWindows {
		last = f.Answers[n-1].Window.To
		until = min(until, last)
	}
	long, err := t.mapEntries(across, cursorID, last, last, mostWindows) // those that end behind it may reach back before it
	if err != nil {
		return f, until, err
	}
	f.Answers = append(f.Answers, long...)
	waivers, err := t.waivers(cursorID)
	for _, w := range waivers {
		if w.RevokedAt == nil {
			f.Waivers = append(f.Waivers, w)
		}
	}
	return f, max(until, span.From), err
}

// mapEntries reads of answers what a map is drawn from.
func (t *tx) mapEntries(st stmt, cursorID int64, args ...any) ([]patra.CoverageEntry, error) {
	all := make([]patra.CoverageEntry, 0, 512)
	r := newRawRow(8)
	err := t.rows(st, func(rows *sql.Rows) error {
		if err := r.scan(rows); err != nil {
			return err
		}
		if len(all) == cap(all) {
			all = slices.Grow(all, len(all)) // twice as many: they are large, and append would move them more often
		}
		all = append(all, patra.CoverageEntry{CursorID: cursorID, ID: r.number(0), SliceID: r.number(1), Window: patra.Window{From: patra.Instant(r.number(2)), To: patra.Instant(r.number(3))},
			State: patra.Completeness(r.text(4)), CountAfter: r.perhaps(5), IDsSeen: r.number(6), ClosedAt: patra.Instant(r.number(7))})
		return r.err
	}, append([]any{cursorID}, args...)...)
	return all, err
}

func scanAnswer(r *sql.Rows) (a patra.CoverageEntry, err error) {
	var remarks, proof json.RawMessage
	err = r.Scan(&a.ID, &a.CursorID, &a.SliceID, &a.Window.From, &a.Window.To, &a.Kind, &a.State, &a.Trust, &a.CountBefore, &a.CountAfter,
		&a.IDsSeen, &a.Stored, &a.Quarantined, &a.KnownMissing, &a.Rescans, &a.ClosedAt, &a.SealedAt, jsonInto{&remarks}, jsonInto{&proof})
	if err == nil && len(remarks) > 0 {
		err = json.Unmarshal(remarks, &a.Remarks)
	}
	if err == nil && len(proof) > 0 {
		err = json.Unmarshal(proof, &a.Proof)
	}
	return a, err
}

func (t *tx) answersBy(st stmt, args ...any) (all []patra.CoverageEntry, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		a, err := scanAnswer(r)
		all = append(all, a)
		return err
	}, args...)
	return all, err
}
