package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"patra"
)

// oldestEvery: each eighth claim takes the oldest due task whatever its priority, so that nothing starves.
const oldestEvery = 8

// candidates is how many tasks a claim looks at. Of queued ones it takes a random one, so that workers that look at
// the same moment seldom want the same.
const candidates = 64

const claimable = `attempt_count < max_attempts AND (? = 0 OR cursor_id = ?) AND (? = 0 OR plan_id = ?)`

var (
	findExpired = stmt{"find_expired", `SELECT id, partition_key FROM ing_task
		WHERE status_code = 'RUNNING' AND leased_until < {now} AND ` + claimable + ` ORDER BY leased_until LIMIT ?`}
	findOldest = stmt{"find_oldest", `SELECT id, partition_key FROM ing_task
		WHERE status_code = 'QUEUED' AND scheduled_at <= {now} AND ` + claimable + ` ORDER BY scheduled_at, id LIMIT ?`}
	findQueued = stmt{"find_queued", `SELECT id FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? AND priority = ? AND scheduled_at <= {now} AND ` + claimable + `
		ORDER BY scheduled_at, id LIMIT ?`}
	nextPartition = stmt{"next_partition", `SELECT partition_key FROM ing_task WHERE status_code = 'QUEUED' AND partition_key > ? ORDER BY partition_key LIMIT 1`}
	nextDue       = stmt{"next_due_partition", `SELECT p.partition_key, ` + bestPriority() + ` FROM (` + nextPartition.text + `) AS p`}
	gates         = stmt{"gates", `SELECT {now}, ` + controlColumns + ` FROM ing_control
		WHERE scope_code IN ('SOURCE', 'ENDPOINT', 'OPERATION') AND state_code IN ('PAUSED', 'HALTED', 'OPEN', 'HALF_OPEN', 'LIMITED', 'USED_UP')`}
	runningIn   = stmt{"running_in", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' AND partition_key = ?`}
	peekControl = stmt{"peek_control", `SELECT version FROM ing_control WHERE scope_code = ? AND scope_key = ? AND kind_code = ? {peek}`}
	busy        = stmt{"busy_partitions", `SELECT partition_key, COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' GROUP BY partition_key`}
	peekTask    = stmt{"peek_task", `SELECT id FROM ing_task WHERE id = ? {peek}`}
	takeTask    = stmt{"take_task", `UPDATE ing_task
		SET status_code = 'RUNNING', lease_owner = ?, lease_token = ?, lease_count = lease_count + 1, attempt_count = attempt_count + 1,
		    leased_until = {now} + ?, wait_code = NULL, started_at = COALESCE(started_at, {now})
		WHERE id = ? AND attempt_count < max_attempts
		  AND ((status_code = 'QUEUED' AND scheduled_at <= {now}) OR (status_code = 'RUNNING' AND leased_until < {now}))`}
	selectClaim = stmt{"select_claim", `SELECT t.id, t.lease_count, t.plan_id, t.slice_id, COALESCE(t.cursor_id, 0), t.provenance_code, t.endpoint_name, t.operation_code,
		       t.attempt_count, t.max_attempts, t.scan_no, t.next_ordinal, t.next_detail_ordinal, t.spec_fingerprint,
		       s.purpose_code, s.part_no, s.part_count, s.slice_spec, s.expr_snapshot, s.expr_hash, COALESCE(s.window_from, 0), COALESCE(s.window_to, 0),
		       COALESCE(s.fetch_from, 0), COALESCE(s.fetch_to, 0), s.estimate_records, s.estimate_source_code, p.plan_key, p.base_url, p.expr_proto_snapshot,
		       t.priority, t.schedule_instance_id, p.traceparent
		  FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id JOIN ing_plan p ON p.id = t.plan_id
		 WHERE t.lease_token = ?`}
	loseRuns    = stmt{"lose_runs", `UPDATE ing_task_run SET status_code = 'LOST', finished_at = {now} WHERE task_id = ? AND status_code = 'RUNNING'`}
	skipBatches = stmt{"skip_batches", `UPDATE ing_task_run_batch SET status_code = 'SKIPPED' WHERE task_id = ? AND status_code = 'RUNNING'`}
	openBatches = stmt{"open_batches", `SELECT id FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'RUNNING'`}
	abandon     = stmt{"abandon_requests", `UPDATE ing_request SET finished_at = {now}, outcome_code = 'UNKNOWN' WHERE batch_id = ? AND finished_at IS NULL`}
	insertRun   = stmt{"insert_run", `INSERT INTO ing_task_run
		(task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, expr_hash, spec_fingerprint, lease_owner, window_from, window_to,
		 scan_no, exhausted, stats, status_code, started_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '{}', 'RUNNING', {now}, {now})`}
	lastPage = stmt{"last_page", `SELECT after_token, has_next, provider_total FROM ing_task_run_batch
		WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal = ?`}
	seenSoFar = stmt{"seen_so_far", `SELECT COALESCE(SUM(record_count - n_dup), 0) FROM ing_task_run_batch
		WHERE task_id = ? AND scan_no = ? AND phase_code = 'SEARCH' AND done_ordinal IS NOT NULL`}
)

// worst is a priority that is worse than any.
const worst = 10

// bestPriority is the best one of which a partition has something that is due. It looks for one after the other by the index, and
// no further than need be. A single ORDER BY priority would read past every task that is due tomorrow with a better priority.
func bestPriority() string {
	var b strings.Builder
	b.WriteString("CASE")
	for p := 1; p < worst; p++ {
		fmt.Fprintf(&b, ` WHEN EXISTS (SELECT 1 FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = p.partition_key AND priority = %d
			AND scheduled_at <= {now} AND `+claimable+`) THEN %d`, p, p)
	}
	fmt.Fprintf(&b, " ELSE %d END", worst)
	return b.String()
}

// candidate is a task that may be taken.
type candidate struct {
	id        int64
	partition string
	limit     int64 // how many of its partition may run; 0 is any number
}

// Claim takes one task: an expired lease first, else a queued one of a partition that is neither shut nor full. It
// returns nil when there is nothing to do. The run row is written in the same transaction, and what a lost predecessor
// left open is closed.
func (s *Store) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	t := s.read(ctx)
	// What somebody holds back is taken over all the same: its run finds that out, and puts it back into the queue.
	expired, err := t.candidates(findExpired, doors{}, req.CursorID, req.CursorID, req.PlanID, req.PlanID, candidates)
	if err != nil {
		return nil, err
	}
	if claim, err := s.takeOne(ctx, req, expired); err != nil || claim != nil {
		return claim, err
	}
	due, err := t.due(req)
	if err != nil {
		return nil, err
	}
	return s.takeOne(ctx, req, due)
}

// takeOne tries the candidates one after the other until it owns one.
func (s *Store) takeOne(ctx context.Context, req patra.ClaimRequest, all []candidate) (*patra.Claim, error) {
	for _, c := range all {
		claim, err := s.take(ctx, req, c)
		if err != nil || claim != nil {
			return claim, err
		}
	}
	return nil, nil
}

// due reads queued candidates without locking anything; the guarded update decides who gets one.
func (t *tx) due(req patra.ClaimRequest) ([]candidate, error) {
	d, err := t.doors(req.PerPartition)
	if err != nil {
		return nil, err
	}
	if req.Turn%oldestEvery == oldestEvery-1 {
		// The oldest may all lie behind a shut door, and then others are still to be had.
		oldest, err := t.candidates(findOldest, d, req.CursorID, req.CursorID, req.PlanID, req.PlanID, candidates)
		if err != nil || len(oldest) > 0 {
			return oldest, err
		}
	}
	return t.queued(req, d)
}

func (t *tx) candidates(st stmt, d doors, args ...any) (all []candidate, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var c candidate
		err := r.Scan(&c.id, &c.partition)
		if c.limit = d.limit(c.partition); !d.shut(c.partition) {
			all = append(all, c)
		}
		return err
	}, args...)
	return all, err
}

// queued gives the candidates of one partition: of those that have work of the best priority, the one whose turn it is. What
// others have taken since we looked is nobody's candidate, and then the next partition has its turn.
func (t *tx) queued(req patra.ClaimRequest, d doors) ([]candidate, error) {
	best, turns, err := t.bestPartitions(req, d)
	if err != nil {
		return nil, err
	}
	for i := range uint64(len(turns)) {
		partition := turns[(req.Turn+i)%uint64(len(turns))]
		ids, err := t.ids(findQueued, partition, best, req.CursorID, req.CursorID, req.PlanID, req.PlanID, candidates)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			continue
		}
		all := make([]candidate, len(ids))
		for i, id := range ids {
			all[i] = candidate{id, partition, d.limit(partition)}
		}
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all, nil
	}
	return nil, nil
}

// bestPartitions are the partitions that have work of the best priority that there is, in their order.
func (t *tx) bestPartitions(req patra.ClaimRequest, d doors) (best int, all []string, err error) {
	best = worst
	for partition := ""; ; {
		var args []any
		for p := 1; p < worst; p++ {
			args = append(args, req.CursorID, req.CursorID, req.PlanID, req.PlanID)
		}
		priority := worst
		found, err := t.one(nextDue, append(args, partition), &partition, &priority)
		switch {
		case err != nil || !found:
			return best, all, err
		case priority == worst || priority > best || d.shut(partition):
		case priority < best:
			best, all = priority, []string{partition}
		default:
			all = append(all, partition)
		}
	}
}

// take tries to become the owner of one task.
func (s *Store) take(ctx context.Context, req patra.ClaimRequest, of candidate) (*patra.Claim, error) {
	token := NewOwner()
	id := of.id
	var claim *patra.Claim
	err := s.write(ctx, "claim", func(t *tx) error {
		claim = nil
		if room, err := t.room(of.partition, of.limit); err != nil || !room {
			return err
		}
		// A paused process may hold the row for long: never wait for it, there is other work.
		var row int64
		if _, err := t.one(peekTask, []any{id}, &row); err != nil {
			if s.dialect.locked(err) {
				return nil
			}
			return err
		}
		n, err := t.exec(takeTask, req.Owner, token, req.Lease.Microseconds(), id)
		if err != nil || n == 0 {
			return err
		}
		c, err := t.claimBy(selectClaim, token)
		if err != nil {
			return err
		}
		c.Owner, c.For = req.Owner, req.Lease
		if err := t.buryPredecessor(c.TaskID); err != nil {
			return err
		}
		c.RunID, err = t.insert(insertRun, c.TaskID, c.Fence, c.Task.PlanID, c.Task.SliceID, c.Task.Source, c.Task.Operation, c.Slice.ExprHash, c.Spec,
			c.Owner, c.Slice.Window.From, c.Slice.Window.To, c.Task.ScanNo)
		if err != nil {
			return err
		}
		claim = c
		return t.resume(c)
	})
	return claim, err
}

func (t *tx) claimBy(st stmt, key any) (*patra.Claim, error) {
	c := &patra.Claim{}
	var spec json.RawMessage
	var expected *int64
	var grounds string
	ok, err := t.one(st, []any{key}, &c.TaskID, &c.Fence, &c.Task.PlanID, &c.Task.SliceID, &c.Task.CursorID, &c.Task.Source, &c.Task.Endpoint, &c.Task.Operation,
		&c.Task.Attempts, &c.Task.MaxAttempts, &c.Task.ScanNo, &c.Task.NextOrdinal, &c.Task.NextDetail, &c.Spec,
		&c.Slice.Purpose, &c.Slice.PartNo, &c.Slice.PartCount, jsonInto{&spec}, jsonInto{&c.Slice.Expr}, &c.Slice.ExprHash, &c.Slice.Window.From, &c.Slice.Window.To, &c.Slice.Fetch.From, &c.Slice.Fetch.To,
		&expected, textInto{&grounds}, &c.PlanKey, textInto{&c.BaseURL}, jsonInto{&c.Query},
		&c.Task.Priority, &c.InstanceID, textInto{&c.Trace})
	if err == nil && !ok {
		err = errors.New("a claimed task has no slice or no plan")
	}
	if err == nil {
		err = json.Unmarshal(spec, &c.Slice.Spec)
	}
	if expected != nil {
		c.Slice.Estimate = &patra.Estimate{Records: *expected, Grounds: patra.Grounds(grounds)}
	}
	c.Task.ID, c.Slice.ID, c.Slice.PlanID, c.Slice.CursorID = c.TaskID, c.Task.SliceID, c.Task.PlanID, c.Task.CursorID
	return c, err
}

// buryPredecessor closes what the previous owner of a task left open.
func (t *tx) buryPredecessor(taskID int64) error {
	if err := t.closeOpenPages(taskID); err != nil {
		return err
	}
	_, err := t.exec(loseRuns, taskID)
	return err
}

// closeOpenPages ends ledger rows whose request was announced and never finished.
func (t *tx) closeOpenPages(taskID int64) error {
	left, err := t.ids(openBatches, taskID)
	if err != nil || len(left) == 0 {
		return err
	}
	for _, id := range left {
		if _, err := t.exec(abandon, id); err != nil {
			return err
		}
	}
	_, err = t.exec(skipBatches, taskID)
	return err
}

// resume reads where the last committed page of the task's scan left off.
func (t *tx) resume(c *patra.Claim) error {
	if c.Task.NextOrdinal <= 1 {
		return nil
	}
	var p patra.Position
	var after []byte
	found, err := t.one(lastPage, []any{c.TaskID, c.Task.ScanNo, c.Task.NextOrdinal - 1}, &after, &p.HasNext, &p.Total)
	if err != nil || !found {
		return err
	}
	p.After = string(after)
	c.Resume = &p
	var items, open, gone int64
	if _, err := t.one(itemSum, []any{c.TaskID, c.Task.ScanNo}, &items, &open, &gone); err != nil {
		return err
	}
	_, err = t.one(seenSoFar, []any{c.TaskID, c.Task.ScanNo}, &c.Seen)
	c.Seen += items // of a search that gives only ids
	return err
}
