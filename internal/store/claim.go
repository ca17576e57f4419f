package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"patra"
)

// candidates is how many tasks a claim looks at, at most.
const candidates = 64

// spare is how many tasks a claim looks at beyond those that it wants. Of queued ones it takes random ones, so that processes that
// look at the same moment seldom want the same.
const spare = 16

const claimable = `attempt_count < max_attempts AND (? = 0 OR cursor_id = ?) AND (? = 0 OR plan_id = ?)`

// inForce is what holds a place back, or slows it down.
const inForce = `scope_code IN ('SOURCE', 'ENDPOINT', 'OPERATION') AND state_code IN ('PAUSED', 'HALTED', 'OPEN', 'HALF_OPEN', 'LIMITED', 'USED_UP')`

// The tasks that a claim looks for. They are asked for one kind at a time, or of a server together with its lanes.
const (
	theExpiredOnes = ` WHERE status_code = 'RUNNING' AND leased_until < {now} AND ` + claimable + ` ORDER BY leased_until LIMIT ?`
	theOldestOnes  = ` WHERE status_code = 'QUEUED' AND scheduled_at <= {now} AND ` + claimable + ` ORDER BY scheduled_at, id LIMIT ?`
	theDueOnes     = ` WHERE status_code = 'QUEUED' AND partition_key = ? AND priority = ? AND scheduled_at <= {now}{also} ORDER BY scheduled_at, id LIMIT ?`
)

var (
	findExpired   = stmt{"find_expired", `SELECT id, partition_key FROM ing_task` + theExpiredOnes}
	findOldest    = stmt{"find_oldest", `SELECT id, partition_key FROM ing_task` + theOldestOnes}
	findQueued    = stmt{"find_queued", `SELECT id FROM ing_task` + theDueOnes}
	nextPartition = stmt{"next_partition", `SELECT partition_key FROM ing_task WHERE status_code = 'QUEUED' AND partition_key > ? ORDER BY partition_key LIMIT 1`}
	gates         = stmt{"gates", `SELECT {now}, ` + controlColumns + ` FROM ing_control WHERE ` + inForce}
	runningIn     = stmt{"running_in", `SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' AND partition_key = ?`}
	peekControl   = stmt{"peek_control", `SELECT version FROM ing_control WHERE scope_code = ? AND scope_key = ? AND kind_code = ? {peek}`}
	busy          = stmt{"busy_partitions", `SELECT partition_key, COUNT(*) FROM ing_task WHERE status_code = 'RUNNING' GROUP BY partition_key`}
	// This is for the tasks of a group at once, in place of {ids}; {each} says something of each.
	takeTasks = stmt{"take_tasks", `UPDATE ing_task {bykey}
		SET status_code = 'RUNNING', lease_owner = CASE id {each} END, lease_token = CASE id {each} END, lease_count = lease_count + 1, attempt_count = attempt_count + 1,
		    leased_until = {now} + ?, wait_code = NULL, started_at = COALESCE(started_at, {now})
		WHERE id IN ({ids}) AND status_code IN ('QUEUED', 'RUNNING')`}
	claimLanded = stmt{"claim_landed", `SELECT COUNT(*) FROM ing_task WHERE lease_token = ?`}
	loseRuns    = stmt{"lose_runs", `UPDATE ing_task_run SET status_code = 'LOST', finished_at = {now} WHERE task_id = ? AND status_code = 'RUNNING'`}
	skipBatches = stmt{"skip_batches", `UPDATE ing_task_run_batch SET status_code = 'SKIPPED' WHERE task_id = ? AND status_code = 'RUNNING'`}
	openBatches = stmt{"open_batches", `SELECT id FROM ing_task_run_batch WHERE task_id = ? AND status_code = 'RUNNING'`}
	abandon     = stmt{"abandon_requests", `UPDATE ing_request SET finished_at = {now}, outcome_code = 'UNKNOWN' WHERE batch_id = ? AND finished_at IS NULL`}
)

// Claim takes one task: an expired lease first, else a queued one of a partition that is neither shut nor full. It
// returns nil when there is nothing to do. The run row is written in the same transaction, and what a lost predecessor
// left open is closed. Those who ask at the same moment are served together.
func (s *Store) Claim(ctx context.Context, req patra.ClaimRequest) (*patra.Claim, error) {
	return s.desk.claim(ctx, req, s.serve)
}

// serve finds a task for everybody in a group, as far as there are any. What others took meanwhile is looked for again.
func (s *Store) serve(group []*claimWaiter) {
	ctx, over := together(group)
	defer over()
	lost := newLoss()
	for round := 0; len(group) > 0 && round < candidates; round++ {
		picks, err := s.pickAndTake(ctx, group, lost)
		group = answered(group, picks, err)
	}
	for _, a := range group {
		a.answer <- claimResult{}
	}
}

// pickAndTake chooses a task for each of a group, and makes them their owners as far as nobody else was quicker.
//
// On a server the choice is made before the transaction, so that it is short. The writer of an embedded store has everything at hand
// that it wrote last, which others would have to read again: where there was work a moment ago it both looks and takes.
func (s *Store) pickAndTake(ctx context.Context, group []*claimWaiter, lost skippedTasks) (picks []*pickedTask, err error) {
	if s.Embedded() && s.desk.rich.Load() {
		err = s.writeAs(ctx, urgent, "claim", func(t *tx) error {
			if picks, err = t.pick(group, lost); err == nil {
				_, err = t.takeAll(picks, lost)
			}
			return err
		})
		if err == nil {
			assignClaims(picks, lost)
		}
	} else if picks, err = s.read(ctx).pick(group, lost); err == nil {
		err = s.claimPicked(ctx, picks, lost)
	}
	s.desk.rich.Store(len(picks) > 0)
	return picks, err
}

// assignClaims notes who owns what, once that is committed.
func assignClaims(picks []*pickedTask, lost skippedTasks) {
	for _, p := range picks {
		p.claim = p.taken
		if p.claim == nil {
			lost.add(p)
		}
	}
}

// answered tells everybody who is served: those who own a task, those for whom there was none, and all if something failed. The
// others have lost theirs to somebody else, and look once more.
func answered(group []*claimWaiter, picks []*pickedTask, err error) (again []*claimWaiter) {
	of := map[*claimWaiter]*pickedTask{}
	for _, p := range picks {
		of[p.asker] = p
	}
	for _, a := range group {
		p := of[a]
		switch {
		case p != nil && p.claim != nil:
			a.answer <- claimResult{claim: p.claim}
		case err != nil:
			a.answer <- claimResult{err: err}
		case p == nil:
			a.answer <- claimResult{}
		default:
			again = append(again, a)
		}
	}
	return again
}

// pick chooses a task for each of a group, without locking anything; what is true under the locks decides who gets one.
func (t *tx) pick(group []*claimWaiter, lost skippedTasks) (picks []*pickedTask, err error) {
	q := &queue{t: t, req: group[0].req, n: len(group) + len(lost.tasks), again: len(lost.tasks) > 0}
	for _, a := range group {
		q.turns = append(q.turns, a.req.Turn)
	}
	// What somebody holds back is taken over all the same: its run finds that out, and puts it back into the queue.
	d := claimPicker{queue: q, lost: lost}
	if d.expired, d.lanes, err = t.look(q); err != nil {
		return nil, err
	}
	if len(d.expired) < len(group) && len(d.lanes) > 0 {
		if d.doors, err = t.doors(q.req.PerPartition, q.foreseen); err != nil {
			return nil, err
		}
		if !t.s.Embedded() {
			t.s.lanes.opened(slices.DeleteFunc(slices.Clone(d.lanes), func(l subqueue) bool { return !d.open(l.partition) }))
		}
	}
	for _, a := range group {
		c, err := d.pickTask(a.req.Turn)
		if err != nil {
			return nil, err
		}
		if c != nil {
			picks = append(picks, &pickedTask{asker: a, candidate: *c})
		}
	}
	return picks, nil
}

// queue is what a dealer sees of the tables, for requests that want the same.
type queue struct {
	t        *tx
	req      patra.ClaimRequest
	n        int      // how many are wanted
	turns    []uint64 // of those who want them
	again    bool     // what was found before is not to be had
	foreseen *prefetchedQueue
}

func (q *queue) args(first ...any) []any {
	return append(first, q.req.CursorID, q.req.CursorID, q.req.PlanID, q.req.PlanID)
}

func (q *queue) expired() ([]candidate, error) {
	return q.t.candidates(findExpired, append(q.args(), candidates))
}

func (q *queue) oldest(most int) ([]candidate, error) {
	if f := q.foreseen; f != nil && f.aged && most == q.first() {
		return f.oldest, nil
	}
	return q.t.candidates(findOldest, append(q.args(), most))
}

func (q *queue) due(l subqueue) ([]int64, error) {
	if q.foreseen != nil {
		if ids, looked := q.foreseen.due[l]; looked {
			return ids, nil
		}
	}
	also, args := q.also()
	return q.t.ids(findQueued.filled("{also}", also), append(append([]any{l.partition, l.priority}, args...), q.first())...)
}

// also is what is asked of tasks of a lane beside that they are due. Mostly nothing: that they may be tried once more is true of nearly
// all, the index does not know it, and whoever takes them asks again. Only who met one that is not to be had asks each.
func (q *queue) also() (string, []any) {
	if !q.again && q.req.CursorID == 0 && q.req.PlanID == 0 {
		return "", nil
	}
	return " AND " + claimable, q.args()
}

// first is how many are looked at first.
func (q *queue) first() int { return min(q.n+spare, candidates) }

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

// claimPicked makes each asker the owner of what was picked, all in one transaction, or none of them if it fails. If somebody else has one
// of the rows, those who want the others try without it.
func (s *Store) claimPicked(ctx context.Context, picks []*pickedTask, lost skippedTasks) error {
	if len(picks) == 0 {
		return nil
	}
	var won []*pickedTask
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
		if err := s.claimPicked(ctx, picks[:half], lost); err != nil {
			return err
		}
		return s.claimPicked(ctx, picks[half:], lost)
	case err != nil:
		return err
	}
	assignClaims(picks, lost)
	return nil
}

// takeAll takes what may be taken of the picks, and tells which it took.
func (t *tx) takeAll(picks []*pickedTask, lost skippedTasks) (won []*pickedTask, err error) {
	places := map[string]int64{}
	byID := map[int64]*pickedTask{}
	for _, p := range picks {
		p.taken = nil
		if p.limit > 0 {
			if lost.partitions[p.partition] {
				continue
			}
			if _, asked := places[p.partition]; !asked {
				if places[p.partition], err = t.freeSlots(p.partition, p.limit); err != nil {
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
	for _, of := range []func(*pickedTask) string{func(p *pickedTask) string { return p.asker.req.Owner }, func(p *pickedTask) string { return p.token }} {
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
			if err := t.closeLostRun(p.id); err != nil {
				return nil, err
			}
		}
	}
	if err := t.startRuns(won); err != nil {
		return nil, err
	}
	return won, nobody(won)
}

// nobody is the reason why nothing is taken after all, if all for whom it would be have gone away.
func nobody(won []*pickedTask) (gone error) {
	for _, p := range won {
		if gone = p.asker.ctx.Err(); gone == nil {
			return nil
		}
	}
	return gone
}

// closeLostRun closes what the previous owner of a task left open.
func (t *tx) closeLostRun(taskID int64) error {
	if err := t.closeOpenPages(taskID); err != nil {
		return err
	}
	_, err := t.exec(loseRuns, taskID)
	return err
}

// closeOpenPages ends ledger rows whose request was announced and never finished.
func (t *tx) closeOpenPages(taskID int64) error {
	open, err := t.ids(openBatches, taskID)
	if err != nil {
		return err
	}
	return t.closePages(taskID, open)
}

// closePages is for those that are open, if any are.
func (t *tx) closePages(taskID int64, open []int64) error {
	if len(open) == 0 {
		return nil
	}
	for _, id := range open {
		if _, err := t.exec(abandon, id); err != nil {
			return err
		}
	}
	_, err := t.exec(skipBatches, taskID)
	return err
}
