package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"patra"
)

// How much of the past is looked at.
const (
	historyAnswers  = 60
	historyRequests = 200
	lateRecords     = 100_000
)

var (
	selectDensity = stmt{"select_density", `SELECT COALESCE(SUM(ids_seen), 0), COALESCE(SUM(window_to - window_from), 0) FROM (
		SELECT c.ids_seen, c.window_from, c.window_to FROM ing_coverage c JOIN ing_cursor k ON k.id = c.cursor_id
		 WHERE k.provenance_code = ? AND k.endpoint_name = ? AND k.expr_proto_hash = ? AND c.kind_code IN ('SCAN', 'GROUP')
		 ORDER BY ABS(c.window_from - ?) LIMIT ?) AS near`}
	selectPageBytes = stmt{"select_page_bytes", `SELECT COALESCE(SUM(bytes), 0), COUNT(*) FROM (
		SELECT bytes FROM ing_request WHERE (gate_key = ? OR gate_key = ? OR (gate_key >= ? AND gate_key < ?) OR (gate_key >= ? AND gate_key < ?)) AND kind_code NOT IN ('PROBE', 'AUTH', 'CHECK') AND bytes > 0 ORDER BY acquired_at DESC LIMIT ?) AS latest`}
	countStock   = stmt{"count_stock", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? AND (wait_code IS NULL OR wait_code <> 'PAUSED')`}
	countWaiting = stmt{"count_waiting", `SELECT p.operation_code, COUNT(*), COALESCE(SUM(s.estimate_records), 0) FROM ing_plan_slice s JOIN ing_plan p ON p.id = s.plan_id
		WHERE s.provenance_code = ? AND s.status_code = 'READY' AND (? = '' OR p.endpoint_name = ?) GROUP BY p.operation_code`}
	lastInputs = stmt{"last_inputs", `SELECT window_inputs FROM ing_plan WHERE cursor_id = ? ORDER BY id DESC LIMIT 1`}
	countLate  = stmt{"count_late", `SELECT COALESCE(SUM(b.record_count), 0), COALESCE(SUM(CASE WHEN s.purpose_code = 'LOOKBACK' THEN b.n_insert ELSE 0 END), 0)
		FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id JOIN ing_task_run_batch b ON b.task_id = t.id
		WHERE s.cursor_id = ? AND s.status_code = 'SUCCEEDED' AND s.closed_at >= ? AND b.done_ordinal IS NOT NULL`}
	selectLate = stmt{"select_late", `SELECT r.observed_at - r.provider_updated_at
		FROM ing_plan_slice s JOIN ing_task t ON t.slice_id = s.id JOIN ing_task_run_batch b ON b.task_id = t.id JOIN ing_record_rev r ON r.batch_id = b.id
		WHERE s.cursor_id = ? AND s.status_code = 'SUCCEEDED' AND s.closed_at >= ? AND s.purpose_code = 'LOOKBACK' AND b.n_insert > 0 AND r.rev = 1 AND r.provider_updated_at IS NOT NULL LIMIT ?`}
)

// gateKeys are the keys under which requests to a source are counted: the one that the source has now, which may be that
// of an address, or its code, and behind a # the names of secrets that have a rate of their own, and behind a / those of
// endpoints. $ and 0 are the next characters.
func gateKeys(key, source string) []any {
	return []any{key, source, source + "#", source + "$", source + "/", source + "0"}
}

// History is how much the windows nearest to one had, whichever operation read them, and how large an answer is.
func (s *Store) History(ctx context.Context, gateKey, source, endpoint, exprProtoHash string, near patra.Window) (patra.Density, error) {
	var d patra.Density
	t := s.read(ctx)
	if _, err := t.one(selectDensity, []any{source, endpoint, exprProtoHash, near.From, historyAnswers}, &d.Records, &d.Span); err != nil {
		return d, err
	}
	var bytes, n int64
	_, err := t.one(selectPageBytes, append(gateKeys(gateKey, source), historyRequests), &bytes, &n)
	if n > 0 {
		d.PageBytes = bytes / n
	}
	return d, err
}

// QueuedTasks is how many tasks of a partition wait, those that are held back not counted.
func (s *Store) QueuedTasks(ctx context.Context, partition string) (n int64, err error) {
	_, err = s.read(ctx).one(countStock, []any{partition}, &n)
	return n, err
}

// ReservedQuota is what of a source's quota is spoken for by slices that wait, by operation, at one endpoint or, where that is
// empty, at all of them.
func (s *Store) ReservedQuota(ctx context.Context, source, endpoint string) (map[patra.Operation]patra.ReservedQuota, error) {
	all := map[patra.Operation]patra.ReservedQuota{}
	err := s.read(ctx).rows(countWaiting, func(r *sql.Rows) error {
		var op patra.Operation
		var c patra.ReservedQuota
		err := r.Scan(&op, &c.Slices, &c.Records)
		all[op] = c
		return err
	}, source, endpoint, endpoint)
	return all, err
}

// LastLag is the safety lag of the newest plan of a cursor; nil if there is none.
func (s *Store) LastLag(ctx context.Context, cursorID int64) (*time.Duration, error) {
	var raw json.RawMessage
	found, err := s.read(ctx).one(lastInputs, []any{cursorID}, jsonInto{&raw})
	if err != nil || !found {
		return nil, err
	}
	var in struct {
		Lag float64 `json:"safety_lag_seconds"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	lag := time.Duration(in.Lag * float64(time.Second))
	return &lag, nil
}

// Lateness is what look-backs of a cursor found since a moment: records that nobody had seen, in windows that had been
// read to their end.
func (s *Store) Lateness(ctx context.Context, cursorID int64, since patra.Instant) (patra.Lateness, error) {
	l := patra.Lateness{Days: map[int64]int64{}}
	t := s.read(ctx)
	if _, err := t.one(countLate, []any{cursorID, since}, &l.Total, &l.Late); err != nil || l.Late == 0 {
		return l, err
	}
	err := t.rows(selectLate, func(r *sql.Rows) error {
		var after patra.Instant
		err := r.Scan(&after)
		l.Days[max(int64(after/patra.Day), 0)]++
		return err
	}, cursorID, since, lateRecords)
	return l, err
}

var (
	selectExtent     = stmt{"select_extent", `SELECT COALESCE(MIN(window_from), 0), COALESCE(MAX(window_to), 0) FROM ing_plan WHERE cursor_id = ? AND window_to > window_from`}
	selectUnfinished = stmt{"select_unfinished", `SELECT id FROM ing_plan WHERE status_code = 'PARTIAL' OR (status_code IN ('DRAFT', 'SLICING') AND created_at < ?) ORDER BY id LIMIT 1000`}
)

// PlannedWindow is all that the plans of a cursor ever asked for.
func (s *Store) PlannedWindow(ctx context.Context, cursorID int64) (w patra.Window, err error) {
	_, err = s.read(ctx).one(selectExtent, []any{cursorID}, &w.From, &w.To)
	return w, err
}

// CoverableWindow is the time that a cursor answers for: a harvest from its origin up to now less the safety lag, everybody else what
// was ever asked of them. planned is where the last plan ended.
func (s *Store) CoverableWindow(ctx context.Context, c patra.Cursor, now patra.Instant) (span patra.Window, planned patra.Instant, err error) {
	asked, err := s.PlannedWindow(ctx, c.ID)
	if err != nil {
		return span, 0, err
	}
	span = patra.Window{From: c.Origin, To: asked.To}
	if c.Operation != patra.Harvest {
		span.From = min(span.From, asked.From)
		return span, asked.To, nil
	}
	plans, err := s.Plans(ctx, Filter{Cursor: c.ID, Limit: 1})
	if err != nil || len(plans) == 0 {
		return span, asked.To, err
	}
	var d patra.WindowDecision
	if err := json.Unmarshal(plans[0].Inputs, &d); err != nil {
		return span, asked.To, err
	}
	span.To = max(span.To, d.Horizon(now))
	return span, asked.To, nil
}

// Unfinished are the plans that did not fit into the queue, and those that were begun so long ago that whoever cut them
// must have died, oldest first.
func (s *Store) Unfinished(ctx context.Context, begunBefore patra.Instant) ([]int64, error) {
	return s.read(ctx).ids(selectUnfinished, begunBefore)
}
