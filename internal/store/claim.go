package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"patra"
)

// candidates is how many tasks a claim looks at, at most.
const candidates = 64

// spare is how many tasks a claim looks at beyond those that it wants. Of queued ones it takes random ones, so that processes that
// look at the same moment seldom want the same.
const spare = 16

const claimable = `attempt_count < max_attempts AND (? = 0 OR cursor_id = ?) AND (? = 0 OR plan_id = ?)`

// takeable is a task that may be taken now. It is asked under the lock of the task.
const takeable = `attempt_count < max_attempts
		  AND ((status_code = 'QUEUED' AND scheduled_at <= {now}) OR (status_code = 'RUNNING' AND leased_until < {now}))`

var (
	findExpired = stmt{"find_expired", `SELECT id, partition_key FROM ing_task
		WHERE status_code = 'RUNNING' AND leased_until < {now} AND ` + claimable + ` ORDER BY leased_until LIMIT ?`}
	findOldest = stmt{"find_oldest", `SELECT id, partition_key FROM ing_task
		WHERE status_code = 'QUEUED' AND scheduled_at <= {now} AND ` + claimable + ` ORDER BY scheduled_at, id LIMIT ?`}
	findQueued = stmt{"find_queued", `SELECT id FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? AND priority = ? AND scheduled_at <= {now} AND ` + claimable + `
		ORDER BY scheduled_at, id LIMIT ?`}
	nextPartition = stmt{"next_partition", `SELECT partition_key FROM ing_task WHERE status_code = 'QUEUED' AND partition_key > ? ORDER BY partition_key LIMIT 1`}
	gates         = stmt{"gates", `SELECT {now}, ` + controlColumns + ` FROM ing_control
		WHERE scope_code IN ('SOURCE', 'ENDPOINT', 'OPERATION') AND state_code IN ('PAUSED', 'HALTED', 'OPEN', 'HALF_OPEN', 'LIMITED', 'USED_UP')`}
	runningIn   = stmt{"running_in", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' AND partition_key = ?`}
	peekControl = stmt{"peek_control", `SELECT version FROM ing_control WHERE scope_code = ? AND scope_key = ? AND kind_code = ? {peek}`}
	busy        = stmt{"busy_partitions", `SELECT partition_key, COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' GROUP BY partition_key`}
	// These four are for the tasks of a group at once, in place of {ids}; {each} says something of each.
	peekTasks = stmt{"peek_tasks", `SELECT id, status_code FROM ing_task {bykey} WHERE id IN ({ids}) AND ` + takeable + ` {peek}`}
	takeTasks = stmt{"take_tasks", `UPDATE ing_task {bykey}
		SET status_code = 'RUNNING', lease_owner = CASE id {each} END, lease_token = CASE id {each} END, lease_count = lease_count + 1, attempt_count = attempt_count + 1,
		    leased_until = {now} + ?, wait_code = NULL, started_at = COALESCE(started_at, {now})
		WHERE id IN ({ids}) AND status_code IN ('QUEUED', 'RUNNING')`}
	insertRuns = stmt{"insert_runs", `INSERT INTO ing_task_run
		(task_id, attempt_no, plan_id, slice_id, provenance_code, operation_code, expr_hash, spec_fingerprint, lease_owner, window_from, window_to,
		 scan_no, exhausted, stats, status_code, started_at, created_at)
		SELECT t.id, t.lease_count, t.plan_id, t.slice_id, t.provenance_code, t.operation_code, s.expr_hash, t.spec_fingerprint, t.lease_owner,
		       COALESCE(s.window_from, 0), COALESCE(s.window_to, 0), t.scan_no, 0, '{}', 'RUNNING', {now}, {now}
		  FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id WHERE t.id IN ({ids})`}
	// What was seen so far is asked only of a scan that goes on where it was left.
	selectClaims = stmt{"select_claims", `SELECT ` + claimColumns + `, r.id, t.lease_owner, b.id IS NOT NULL, b.after_token, COALESCE(b.has_next, 0), b.provider_total,
		       CASE WHEN b.id IS NULL THEN 0 ELSE
		         (SELECT COUNT(*) FROM ing_task_item i WHERE i.task_id = t.id AND i.scan_no = t.scan_no)
		         + (SELECT COALESCE(SUM(x.record_count - x.n_dup), 0) FROM ing_task_run_batch x
		            WHERE x.task_id = t.id AND x.scan_no = t.scan_no AND x.phase_code = 'SEARCH' AND x.done_ordinal IS NOT NULL) END
		  FROM ` + claimTables + ` JOIN ing_task_run r ON r.task_id = t.id AND r.attempt_no = t.lease_count
		  LEFT JOIN ing_task_run_batch b ON b.task_id = t.id AND b.scan_no = t.scan_no AND b.phase_code = 'SEARCH' AND b.done_ordinal = t.next_ordinal - 1 AND t.next_ordinal > 1
		 WHERE t.id IN ({ids})`}
	claimLanded = stmt{"claim_landed", `SELECT COUNT(*) FROM ing_task WHERE lease_token = ?`}
	loseRuns    = stmt{"lose_runs", `UPDATE ing_task_run SET status_code = 'LOST', finished_at = {now} WHERE task_id = ? AND status_code = 'RUNNING'`}
	skipBatches = stmt{"skip_batches", `UPDATE ing_task_run_batch SET status_code = 'SKIPPED' WHERE task_id = ? AND status_code = 'RUNNING'`}
	openBatches = stmt{"open_batches", `SELECT id FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'RUNNING'`}
	abandon     = stmt{"abandon_requests", `UPDATE ing_request SET finished_at = {now}, outcome_code = 'UNKNOWN' WHERE batch_id = ? AND finished_at IS NULL`}
)

// claimColumns are what a run is given, from the tables that stand below.
const (
	claimColumns = `t.id, t.lease_count, t.plan_id, t.slice_id, COALESCE(t.cursor_id, 0), t.provenance_code, t.endpoint_name, t.operation_code,
		       t.attempt_count, t.max_attempts, t.scan_no, t.next_ordinal, t.next_detail_ordinal, t.spec_fingerprint,
		       s.purpose_code, s.part_no, s.part_count, s.slice_spec, s.expr_snapshot, s.expr_hash, COALESCE(s.window_from, 0), COALESCE(s.window_to, 0),
		       COALESCE(s.fetch_from, 0), COALESCE(s.fetch_to, 0), s.estimate_records, s.estimate_source_code, p.plan_key, p.base_url, p.expr_proto_snapshot,
		       t.priority, t.schedule_instance_id, p.traceparent`
	claimTables = `ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id JOIN ing_plan p ON p.id = t.plan_id`
)

// Claim takes one task: an expired lease first, else a queued one of a partition that is neither shut nor full. It
// returns nil when there is nothing to do. The run row is written in the same transaction, and what a lost predecessor
// left open is closed. Those who ask at the same moment are served together.
func (s *Store) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	return s.desk.ask(ctx, req, s.serve)
}

// serve finds a task for everybody in a group, as far as there are any. What others took meanwhile is looked for again.
func (s *Store) serve(group []*asker) {
	ctx, over := together(group)
	defer over()
	lost := newLoss()
	for round := 0; len(group) > 0 && round < candidates; round++ {
		picks, err := s.pickAndTake(ctx, group, lost)
		group = answered(group, picks, err)
	}
	for _, a := range group {
		a.answer <- answer{}
	}
}

// pickAndTake chooses a task for each of a group, and makes them their owners as far as nobody else was quicker.
//
// On a server the choice is made before the transaction, so that it is short. The writer of an embedded store has everything at hand
// that it wrote last, which others would have to read again: where there was work a moment ago it both looks and takes.
func (s *Store) pickAndTake(ctx context.Context, group []*asker, lost loss) (picks []*pick, err error) {
	if s.Embedded() && s.desk.rich.Load() {
		err = s.writeAs(ctx, urgent, "claim", func(t *tx) error {
			if picks, err = t.pick(group, lost); err == nil {
				_, err = t.takeAll(picks, lost)
			}
			return err
		})
		if err == nil {
			settle(picks, lost)
		}
	} else if picks, err = s.read(ctx).pick(group, lost); err == nil {
		err = s.take(ctx, picks, lost)
	}
	s.desk.rich.Store(len(picks) > 0)
	return picks, err
}

// settle notes who owns what, once that is committed.
func settle(picks []*pick, lost loss) {
	for _, p := range picks {
		p.claim = p.taken
		if p.claim == nil {
			lost.add(p)
		}
	}
}

// answered tells everybody who is served: those who own a task, those for whom there was none, and all if something failed. The
// others have lost theirs to somebody else, and look once more.
func answered(group []*asker, picks []*pick, err error) (again []*asker) {
	of := map[*asker]*pick{}
	for _, p := range picks {
		of[p.asker] = p
	}
	for _, a := range group {
		p := of[a]
		switch {
		case p != nil && p.claim != nil:
			a.answer <- answer{claim: p.claim}
		case err != nil:
			a.answer <- answer{err: err}
		case p == nil:
			a.answer <- answer{}
		default:
			again = append(again, a)
		}
	}
	return again
}

// pick chooses a task for each of a group, without locking anything; what is true under the locks decides who gets one.
func (t *tx) pick(group []*asker, lost loss) (picks []*pick, err error) {
	q := &queue{t: t, req: group[0].req, n: len(group) + len(lost.tasks)}
	// What somebody holds back is taken over all the same: its run finds that out, and puts it back into the queue.
	d := dealer{queue: q, lost: lost}
	if d.expired, d.lanes, err = t.look(q); err != nil {
		return nil, err
	}
	if len(d.expired) < len(group) && len(d.lanes) > 0 {
		if d.doors, err = t.doors(q.req.PerPartition); err != nil {
			return nil, err
		}
	}
	for _, a := range group {
		c, err := d.deal(a.req.Turn)
		if err != nil {
			return nil, err
		}
		if c != nil {
			picks = append(picks, &pick{asker: a, candidate: *c})
		}
	}
	return picks, nil
}

// queue is what a dealer sees of the tables, for requests that want the same.
type queue struct {
	t   *tx
	req patra.ClaimRequest
	n   int // how many are wanted
}

func (q *queue) args(first ...any) []any {
	return append(first, q.req.CursorID, q.req.CursorID, q.req.PlanID, q.req.PlanID)
}

func (q *queue) expired() ([]candidate, error) {
	return q.t.candidates(findExpired, append(q.args(), candidates))
}

func (q *queue) oldest(most int) ([]candidate, error) {
	return q.t.candidates(findOldest, append(q.args(), most))
}

func (q *queue) due(l lane) ([]int64, error) {
	return q.t.ids(findQueued, append(q.args(l.partition, l.priority), min(q.n+spare, candidates))...)
}

func (q *queue) wanted() int { return q.n }

func (t *tx) candidates(st stmt, args []any) (all []candidate, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var c candidate
		err := r.Scan(&c.id, &c.partition)
		all = append(all, c)
		return err
	}, args...)
	return all, err
}

// errTaken: somebody else has one of the rows that a transaction wants. A paused process may hold a row for long: nobody waits
// for it, there is other work.
var errTaken = errors.New("somebody else has the row")

// take makes each asker the owner of what was picked, all in one transaction, or none of them if it fails. If somebody else has one
// of the rows, those who want the others try without it.
func (s *Store) take(ctx context.Context, picks []*pick, lost loss) error {
	if len(picks) == 0 {
		return nil
	}
	var won []*pick
	err := s.writeAs(ctx, urgent, "claim", func(t *tx) (err error) {
		won, err = t.takeAll(picks, lost)
		return err
	}, func(t *tx) (bool, error) {
		if len(won) == 0 {
			return false, nil
		}
		var n int
		_, err := t.one(claimLanded, []any{won[0].token}, &n)
		return n == 1, err
	})
	switch {
	case errors.Is(err, errTaken) && len(picks) == 1:
		lost.add(picks[0])
		return nil
	case errors.Is(err, errTaken):
		half := len(picks) / 2
		if err := s.take(ctx, picks[:half], lost); err != nil {
			return err
		}
		return s.take(ctx, picks[half:], lost)
	case err != nil:
		return err
	}
	settle(picks, lost)
	return nil
}

// takeAll takes what may be taken of the picks, and tells which it took.
func (t *tx) takeAll(picks []*pick, lost loss) (won []*pick, err error) {
	places := map[string]int64{}
	byID := map[int64]*pick{}
	for _, p := range picks {
		p.taken = nil
		if p.limit > 0 {
			if lost.partitions[p.partition] {
				continue
			}
			if _, asked := places[p.partition]; !asked {
				if places[p.partition], err = t.room(p.partition, p.limit); err != nil {
					// Whoever has the limit has it for all tasks of the partition.
					lost.partitions[p.partition] = errors.Is(err, errTaken)
					return nil, err
				}
			}
			if places[p.partition]--; places[p.partition] < 0 {
				lost.partitions[p.partition] = true
				continue
			}
		}
		byID[p.id] = p
	}
	if won, err = t.peek(byID); err != nil || len(won) == 0 {
		return nil, err
	}
	ids, each := newIDs(won), []any{}
	for _, of := range []func(*pick) string{func(p *pick) string { return p.asker.req.Owner }, func(p *pick) string { return p.token }} {
		for i := range ids.n {
			p := won[min(i, len(won)-1)]
			each = append(each, p.id, of(p))
		}
	}
	n, err := t.exec(ids.in(takeTasks), append(append(each, won[0].asker.req.Lease.Microseconds()), ids.args...)...)
	if err == nil && n != int64(len(won)) {
		err = fmt.Errorf("took %d tasks of %d that are locked", n, len(won))
	}
	if err != nil {
		return nil, err
	}
	// A task that nobody has left nothing open: whoever put it back has closed everything.
	for _, p := range won {
		if p.running {
			if err := t.buryPredecessor(p.id); err != nil {
				return nil, err
			}
		}
	}
	if _, err := t.exec(ids.in(insertRuns), ids.args...); err != nil {
		return nil, err
	}
	if err := t.readClaims(ids, byID); err != nil {
		return nil, err
	}
	return won, nobody(won)
}

// nobody is the reason why nothing is taken after all, if all for whom it would be have gone away.
func nobody(won []*pick) (gone error) {
	for _, p := range won {
		if gone = p.asker.ctx.Err(); gone == nil {
			return nil
		}
	}
	return gone
}

// peek locks what may still be taken of the picks.
func (t *tx) peek(picks map[int64]*pick) (won []*pick, err error) {
	if len(picks) == 0 {
		return nil, nil
	}
	all := make([]*pick, 0, len(picks))
	for _, p := range picks {
		all = append(all, p)
	}
	ids := newIDs(all)
	err = t.rows(ids.in(peekTasks), func(r *sql.Rows) error {
		var id int64
		var status patra.Status
		err := r.Scan(&id, &status)
		if p := picks[id]; p != nil {
			p.running, p.token = status == patra.Running, NewOwner()
			won = append(won, p)
		}
		return err
	}, ids.args...)
	if err != nil && t.s.dialect.locked(err) {
		err = errTaken
	}
	return won, err
}

// readClaims reads all that the runs of new owners need.
func (t *tx) readClaims(ids idList, picks map[int64]*pick) error {
	read := 0
	err := t.rows(ids.in(selectClaims), func(r *sql.Rows) error {
		var c patra.Claim
		var goesOn bool
		var after []byte
		var at patra.Position
		err := scanClaim(r, &c, &c.RunID, &c.Owner, &goesOn, &after, &at.HasNext, &at.Total, &c.Seen)
		if err != nil {
			return err
		}
		p := picks[c.TaskID]
		if c.For = p.asker.req.Lease; goesOn {
			at.After = string(after)
			c.Resume = &at
		}
		p.taken = &c
		read++
		return nil
	}, ids.args...)
	if err == nil && read != ids.distinct {
		err = errors.New("a claimed task has no slice, no plan or no run")
	}
	return err
}

// scanClaim reads the columns of a claim, and others behind them.
func scanClaim(r *sql.Rows, c *patra.Claim, more ...any) error {
	var spec json.RawMessage
	var expected *int64
	var grounds string
	err := r.Scan(append([]any{&c.TaskID, &c.Fence, &c.Task.PlanID, &c.Task.SliceID, &c.Task.CursorID, &c.Task.Source, &c.Task.Endpoint, &c.Task.Operation,
		&c.Task.Attempts, &c.Task.MaxAttempts, &c.Task.ScanNo, &c.Task.NextOrdinal, &c.Task.NextDetail, &c.Spec,
		&c.Slice.Purpose, &c.Slice.PartNo, &c.Slice.PartCount, jsonInto{&spec}, jsonInto{&c.Slice.Expr}, &c.Slice.ExprHash, &c.Slice.Window.From, &c.Slice.Window.To, &c.Slice.Fetch.From, &c.Slice.Fetch.To,
		&expected, textInto{&grounds}, &c.PlanKey, textInto{&c.BaseURL}, jsonInto{&c.Query},
		&c.Task.Priority, &c.InstanceID, textInto{&c.Trace}}, more...)...)
	if err == nil {
		err = json.Unmarshal(spec, &c.Slice.Spec)
	}
	if expected != nil {
		c.Slice.Estimate = &patra.Estimate{Records: *expected, Grounds: patra.Grounds(grounds)}
	}
	c.Task.ID, c.Slice.ID, c.Slice.PlanID, c.Slice.CursorID = c.TaskID, c.Task.SliceID, c.Task.PlanID, c.Task.CursorID
	return err
}

// idList is a list of tasks in a statement. It is as long as the next power of two, with the last one repeated: an embedded store
// keeps the statements compiled whose texts come again.
type idList struct {
	args        []any
	n, distinct int
}

func newIDs(picks []*pick) (l idList) {
	l.distinct, l.n = len(picks), 1
	for l.n < len(picks) {
		l.n *= 2
	}
	for i := range l.n {
		l.args = append(l.args, picks[min(i, len(picks)-1)].id)
	}
	return l
}

// in is a statement for these tasks.
func (l idList) in(st stmt) stmt {
	st.text = strings.NewReplacer("{ids}", marks(l.n), "{each}", strings.TrimSuffix(strings.Repeat("WHEN ? THEN ? ", l.n), " ")).Replace(st.text)
	return st
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
