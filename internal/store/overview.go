package store

import (
	"context"
	"math"
	"slices"
	"strconv"

	"patra"
)

var (
	nextPlanned = stmt{"next_planned", `SELECT provenance_code FROM ing_plan WHERE provenance_code > ? ORDER BY provenance_code LIMIT 1`}
	lastPageOf  = stmt{"last_page_of", `SELECT MAX(committed_at) FROM ing_task_run_batch WHERE provenance_code = ? AND operation_code = ? AND status_code = 'SUCCEEDED'`}
	countAside  = stmt{"count_aside", `SELECT COUNT(*) FROM (SELECT id FROM ing_quarantine WHERE provenance_code = ? AND status_code = 'OPEN' LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}
	newestID    = stmt{"newest_record", `SELECT COALESCE(MAX(id), 0) FROM ing_record`}
	changedOf   = stmt{"count_changed", `SELECT COUNT(*) FROM (SELECT id FROM ing_record WHERE provenance_code = ? AND changed_at >= ? LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}

	slicesAfter = stmt{"slices_after", `SELECT window_from, window_to FROM ing_plan_slice WHERE cursor_id = ? AND status_code = ? AND window_to > ? ORDER BY window_to LIMIT ` + strconv.Itoa(mostLooked)}
	failedAfter = stmt{"failed_plans_after", `SELECT window_from, window_to FROM ing_plan WHERE cursor_id = ? AND window_to > ? AND status_code = 'FAILED'`}
	toBeCut     = stmt{"to_be_cut", `SELECT window_from, window_to FROM ing_plan WHERE cursor_id = ? AND window_to > ? AND status_code IN ('DRAFT', 'SLICING', 'PARTIAL')`}
	readAround  = stmt{"read_around", `SELECT window_from, window_to FROM ing_coverage WHERE cursor_id = ? AND window_to > ? ORDER BY window_to LIMIT ` + strconv.Itoa(mostLooked)}
	anyWaiting  = stmt{"any_waiting", `SELECT window_to FROM ing_plan_slice WHERE cursor_id = ? AND status_code = 'READY' LIMIT 1`}
	latelyOf    = stmt{"lately_of", `SELECT COALESCE(SUM(record_count), 0), COALESCE(SUM(n_quarantine), 0) FROM (SELECT record_count, n_quarantine FROM ing_task_run_batch
		WHERE provenance_code = ? AND operation_code = ? AND status_code = 'SUCCEEDED' AND committed_at >= ? ORDER BY committed_at DESC LIMIT 500) AS lately`}
)

// mostLooked is how many windows before a watermark are looked at to see what is wrong there.
const mostLooked = 2_000

// Sources are the codes of all sources that anything was ever planned for, found by jumping along the index.
func (s *Store) Sources(ctx context.Context) ([]string, error) {
	return s.read(ctx).sources(math.MaxInt)
}

func (t *tx) sources(most int) (codes []string, err error) {
	for code := ""; len(codes) < most; codes = append(codes, code) {
		found, err := t.one(nextPlanned, []any{code}, textInto{&code})
		if err != nil || !found {
			return codes, err
		}
	}
	return codes, nil
}

// LastPageOf is when a page of a source was last stored; nil if none ever was, or if all are in the archive.
func (s *Store) LastPageOf(ctx context.Context, source string) (last *patra.Instant, err error) {
	t := s.read(ctx)
	for _, op := range patra.Operations {
		var at *patra.Instant
		if _, err := t.one(lastPageOf, []any{source, op}, &at); err != nil {
			return nil, err
		}
		if at != nil && (last == nil || *at > *last) {
			last = at
		}
	}
	return last, nil
}

// OpenQuarantine counts what of a source is in quarantine and nobody has settled, up to a bound.
func (s *Store) OpenQuarantine(ctx context.Context, source string) (n int64, capped bool, err error) {
	_, err = s.read(ctx).one(countAside, []any{source}, &n)
	return n, n == mostCounted, err
}

// NewestRecord is the number of the newest record. Records are never deleted, so as many were stored, or a few less where the
// database skips numbers. To count them would take a minute.
func (s *Store) NewestRecord(ctx context.Context) (n int64, err error) {
	_, err = s.read(ctx).one(newestID, nil, &n)
	return n, err
}

// ChangedSince counts the records of a source that changed since a moment, up to a bound.
func (s *Store) ChangedSince(ctx context.Context, source string, since patra.Instant) (n int64, capped bool, err error) {
	_, err = s.read(ctx).one(changedOf, []any{source, since}, &n)
	return n, n == mostCounted, err
}

// CursorFacts looks at what is wrong at a watermark. It looks at no more than so many windows before it.
func (s *Store) CursorFacts(ctx context.Context, c patra.Cursor) (f patra.CursorFacts, err error) {
	f.Cursor = c
	t := s.read(ctx)
	if f.Gaps, err = t.gapsAhead(c); err != nil {
		return f, err
	}
	var to patra.Instant
	if f.Waiting, err = t.one(anyWaiting, []any{c.ID}, &to); err != nil {
		return f, err
	}
	from := c.SealedThrough // also behind a hole at which the watermark stands
	if c.Operation != patra.Harvest {
		from = allTime // what was asked of it may begin before its origin
	}
	disputes, err := t.disputes(c, from)
	if err != nil {
		return f, err
	}
	for _, d := range disputes { // as the list of gaps counts them
		f.Disputed += int64(len(d.For))
		if from := d.For[0].From; f.First == nil || from < *f.First {
			f.First = &from
		}
	}
	return f, err
}

// GapsAhead counts what is missing at a watermark.
func (s *Store) GapsAhead(ctx context.Context, c patra.Cursor) (int64, error) {
	return s.read(ctx).gapsAhead(c)
}

// gapsAhead counts the stretches after a watermark that nobody has read or signed off, that nobody is at, and behind which
// something was read or planned: what comes after all of it is left to the next harvest. It reads what ended first: a slice that
// is planned again in between is then not missing.
func (t *tx) gapsAhead(c patra.Cursor) (int64, error) {
	reach, known := c.Value, patra.Instant(-allTime) // how far anything was planned, and how far all lists go
	look := func(st stmt, args ...any) ([]patra.Window, error) {
		ws, err := t.windows(st, args...)
		for _, w := range ws {
			reach = max(reach, w.To)
		}
		if len(ws) == mostLooked {
			known = min(known, ws[len(ws)-1].To)
		}
		return ws, err
	}
	var other []patra.Window
	for _, status := range []patra.Status{patra.Failed, patra.Cancelled, patra.Ready, patra.Partial} {
		ws, err := look(slicesAfter, c.ID, status, c.Value)
		if err != nil {
			return 0, err
		}
		if status == patra.Ready || status == patra.Partial {
			other = append(other, ws...)
		}
	}
	read, err := look(readAround, c.ID, c.Value)
	if err != nil {
		return 0, err
	}
	failed, err := t.windows(failedAfter, c.ID, c.Value) // it has no slices
	for _, w := range failed {
		reach = max(reach, w.To)
	}
	if err != nil || reach == c.Value {
		return 0, err
	}
	for _, st := range []stmt{selectWaivers, toBeCut} {
		ws, err := t.windows(st, c.ID, c.Value)
		if err != nil {
			return 0, err
		}
		other = append(other, ws...)
	}
	planned := patra.NewCoverage(patra.Window{From: c.Value, To: min(reach, known)})
	return int64(len(planned.Minus(patra.NewCoverage(append(other, read...)...)))), nil
}

// RecentQuarantineShare is how much of what came from a source since a moment is no record, by its last pages.
func (s *Store) RecentQuarantineShare(ctx context.Context, source string, since patra.Instant) (q patra.QuarantineShare, err error) {
	q.Source = source
	for _, op := range patra.Operations {
		var items, aside int64
		if _, err := s.read(ctx).one(latelyOf, []any{source, op, since}, &items, &aside); err != nil {
			return q, err
		}
		q.Items, q.Quarantined = q.Items+items, q.Quarantined+aside
	}
	return q, nil
}

// SinkTroubles are the sinks as they stand, without how far behind they are: to count that takes as long as there are events.
func (s *Store) SinkTroubles(ctx context.Context) ([]patra.SinkState, error) {
	t := s.read(ctx)
	all, err := t.sinks()
	for i := range all {
		if err == nil {
			_, err = t.one(sinkAside, []any{all[i].Name, mostCounted}, &all[i].Aside)
			all[i].Capped = all[i].Aside == mostCounted
		}
	}
	return slices.Clip(all), err
}
