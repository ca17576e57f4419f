package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// subqueue is what is queued of one priority in one partition.
type subqueue struct {
	partition string
	priority  int
}

// jumpingLanes finds the lanes that have something due by jumping along the index, from each partition to the next and from each
// priority to the next. It never reads the tasks in between, of which there may be a million.
var jumpingLanes = stmt{"find_lanes", `WITH RECURSIVE parts AS (
	  SELECT (SELECT partition_key FROM ing_task WHERE status_code = 'QUEUED' ORDER BY partition_key LIMIT 1) AS k
	  UNION ALL
	  SELECT (SELECT t.partition_key FROM ing_task t WHERE t.status_code = 'QUEUED' AND t.partition_key > parts.k ORDER BY t.partition_key LIMIT 1) FROM parts WHERE parts.k IS NOT NULL),
	lanes AS (
	  SELECT k, (SELECT t.priority FROM ing_task t WHERE t.status_code = 'QUEUED' AND t.partition_key = k ORDER BY t.priority LIMIT 1) AS p FROM parts WHERE k IS NOT NULL
	  UNION ALL
	  SELECT k, (SELECT t.priority FROM ing_task t WHERE t.status_code = 'QUEUED' AND t.partition_key = k AND t.priority > lanes.p ORDER BY t.priority LIMIT 1) FROM lanes WHERE lanes.p IS NOT NULL)
	SELECT k, p FROM lanes WHERE p IS NOT NULL AND EXISTS (SELECT 1 FROM ing_task t WHERE t.status_code = 'QUEUED' AND t.partition_key = k AND t.priority = p AND t.scheduled_at <= {now})`}

// What a server is asked in one statement. Each part is for one index, and says so: else the server looks at all that begin with the
// status before it takes one, which costs more than what it finds.
const (
	// nextLane finds the lane behind another, and whether something of it is due.
	nextLane = `(SELECT %d, partition_key, priority, scheduled_at <= {now} FROM ing_task FORCE INDEX (idx_task_pick)
	WHERE status_code = 'QUEUED' AND (partition_key > ? OR (partition_key = ? AND priority > ?)) ORDER BY partition_key, priority, scheduled_at LIMIT 1)`
	// These ask for tasks, in the columns of lanes. Rows of such a part come in their order.
	expiredToo = `(SELECT %d, partition_key, id, 1 FROM ing_task FORCE INDEX (idx_task_lease)` + theExpiredOnes + `)`
	oldestToo  = `(SELECT %d, partition_key, id, 1 FROM ing_task FORCE INDEX (idx_task_oldest)` + theOldestOnes + `)`
	dueToo     = `(SELECT %d, partition_key, id, 1 FROM ing_task FORCE INDEX (idx_task_pick)` + theDueOnes + `)`
	// gatedToo asks whether anything at all is held back somewhere, and runningToo how much runs where.
	gatedToo   = `(SELECT %d, NULL, 1, 1 FROM ing_control WHERE ` + inForce + ` LIMIT 1)`
	runningToo = `(SELECT %d, partition_key, COUNT(*), 1 FROM ing_task FORCE INDEX (idx_task_pick) WHERE status_code = 'RUNNING' GROUP BY partition_key)`
)

// These stand in place of the number of a lane.
const (
	theExpired = -1
	theOldest  = -2
	theGated   = -3
	theRunning = -4
	theDue     = -5 // of the first lane that is looked into; of the next one it is one less
)

// subqueueCache are those that a server had when it was asked last. They are no more than where to look first.
type subqueueCache struct {
	mu   sync.Mutex
	all  []subqueue
	open []subqueue // those that had something for whoever asked
}

func (k *subqueueCache) get() (all, open []subqueue) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all, k.open
}

func (k *subqueueCache) found(all []subqueue) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = all
}

func (k *subqueueCache) opened(open []subqueue) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = open
}

// predictSubqueues tells from which lanes those will get something who have these turns, if things are as they were, and whether somebody gets
// one of the oldest.
func predictSubqueues(open []subqueue, turns []uint64) (lanes []subqueue, oldest bool) {
	var best []subqueue
	for _, l := range byPriority(slices.Clone(open)) {
		if len(best) == 0 || l.priority == best[0].priority {
			best = append(best, l)
		}
	}
	for _, turn := range turns {
		if turn%oldestEvery == oldestEvery-1 {
			oldest = true
		} else if len(best) > 0 {
			if l := best[subqueueTurn(turn)%uint64(len(best))]; !slices.Contains(lanes, l) {
				lanes = append(lanes, l)
			}
		}
	}
	return lanes, oldest
}

// byPriority sorts lanes as they have their turns.
func byPriority(lanes []subqueue) []subqueue {
	slices.SortStableFunc(lanes, func(a, b subqueue) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.partition, b.partition))
	})
	return lanes
}

// nextSubqueue is the lane behind another. There is none behind the last.
type nextSubqueue struct {
	to    subqueue
	found bool
	due   bool
}

// look finds what has run out of its lease, and the lanes that have something due. A server is asked for both in one statement, and for
// what the dealer will most likely want to see next.
func (t *tx) look(q *queue) (expired []candidate, lanes []subqueue, err error) {
	if t.s.Embedded() {
		if expired, err = q.expired(); err != nil {
			return nil, nil, err
		}
		err = t.rows(jumpingLanes, func(r *sql.Rows) error {
			var l subqueue
			err := r.Scan(&l.partition, &l.priority)
			lanes = append(lanes, l)
			return err
		})
		return expired, lanes, err
	}
	known, open := t.s.lanes.get()
	first := true
	chain, lanes, err := follow(known, func(from []subqueue) ([]nextSubqueue, error) {
		var too *prefetchedQueue
		if first {
			too = &prefetchedQueue{}
			too.lanes, too.aged = predictSubqueues(open, q.turns)
			q.foreseen = too
		}
		first = false
		return t.nextSubqueues(from, q, too)
	})
	if err != nil {
		return nil, nil, err
	}
	t.s.lanes.found(chain)
	return q.foreseen.expired, lanes, nil
}

// follow goes from lane to lane to the end. It asks for the hops of all lanes that it expects at once, and of others as it meets them: a
// server that has the lanes that it had is asked once. What it finds does not depend on what it expects.
func follow(expected []subqueue, ask func([]subqueue) ([]nextSubqueue, error)) (chain, due []subqueue, err error) {
	hops := map[subqueue]nextSubqueue{}
	want := append([]subqueue{{}}, expected...) // the empty lane stands before all
	for at := (subqueue{}); ; {
		h, asked := hops[at]
		if !asked {
			answers, err := ask(want)
			if err != nil {
				return nil, nil, err
			}
			for i, l := range want {
				hops[l] = answers[i]
			}
			h = hops[at]
		}
		if !h.found {
			return chain, due, nil
		}
		if chain = append(chain, h.to); h.due {
			due = append(due, h.to)
		}
		at = h.to
		want = []subqueue{at}
	}
}

// prefetchedQueue is what was read together with the lanes.
type prefetchedQueue struct {
	lanes   []subqueue // that were looked into
	due     map[subqueue][]int64
	aged    bool // the oldest were looked for
	oldest  []candidate
	expired []candidate
	gated   bool // something is held back somewhere
	running map[string]int64
}

// nextSubqueues asks for what is behind each of some lanes, in one statement; and for what else is wanted, if too is given.
func (t *tx) nextSubqueues(from []subqueue, q *queue, too *prefetchedQueue) (all []nextSubqueue, err error) {
	var parts []string
	var args []any
	for i, l := range from {
		parts = append(parts, fmt.Sprintf(nextLane, i))
		args = append(args, l.partition, l.partition, l.priority)
	}
	if too != nil {
		parts = append(parts, fmt.Sprintf(expiredToo, theExpired))
		args = append(append(args, q.args()...), candidates)
		parts = append(parts, fmt.Sprintf(gatedToo, theGated))
		if q.req.PerPartition > 0 {
			parts = append(parts, fmt.Sprintf(runningToo, theRunning))
			too.running = map[string]int64{}
		}
		if too.aged {
			parts = append(parts, fmt.Sprintf(oldestToo, theOldest))
			args = append(append(args, q.args()...), q.first())
		}
		too.due = map[subqueue][]int64{}
		for i, l := range too.lanes {
			also, more := q.also()
			parts = append(parts, strings.Replace(fmt.Sprintf(dueToo, theDue-i), "{also}", also, 1))
			args = append(append(append(args, l.partition, l.priority), more...), q.first())
			too.due[l] = nil
		}
	}
	all = make([]nextSubqueue, len(from))
	err = t.rows(stmt{"find_lanes", strings.Join(parts, " UNION ALL ")}, func(r *sql.Rows) error {
		var i int
		var partition string
		var number int64
		var due bool
		if err := r.Scan(&i, textInto{&partition}, &number, &due); err != nil {
			return err
		}
		switch c := (candidate{id: number, partition: partition}); {
		case i >= 0:
			all[i] = nextSubqueue{subqueue{partition, int(number)}, true, due}
		case i == theExpired:
			too.expired = append(too.expired, c)
		case i == theOldest:
			too.oldest = append(too.oldest, c)
		case i == theGated:
			too.gated = true
		case i == theRunning:
			too.running[partition] = number
		default:
			l := too.lanes[theDue-i]
			too.due[l] = append(too.due[l], number)
		}
		return nil
	}, args...)
	return all, err
}
