package store

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
)

// lane is what is queued of one priority in one partition.
type lane struct {
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

// nextLane finds the lane behind another, and whether something of it is due.
const nextLane = `SELECT %d, partition_key, priority, scheduled_at <= {now} FROM (SELECT partition_key, priority, scheduled_at FROM ing_task
	WHERE status_code = 'QUEUED' AND (partition_key > ? OR (partition_key = ? AND priority > ?)) ORDER BY partition_key, priority, scheduled_at LIMIT 1) AS n%d`

// theExpired stands in place of the number of a lane.
const theExpired = -1

// expiredToo asks for what has run out of its lease, in the columns of lanes. Rows of such a part come in their order.
var expiredToo = fmt.Sprintf(`SELECT %d, partition_key, id, 1 FROM (%s) AS expired`, theExpired, findExpired.text)

// knownLanes are those that a server had when it was asked last. They are no more than where to look first.
type knownLanes struct {
	mu  sync.Mutex
	all []lane
}

// hop is the lane behind another. There is none behind the last.
type hop struct {
	to    lane
	found bool
	due   bool
}

// look finds what has run out of its lease, and the lanes that have something due. A server is asked for both in one statement.
func (t *tx) look(q *queue) (expired []candidate, lanes []lane, err error) {
	if t.s.Embedded() {
		if expired, err = q.expired(); err != nil {
			return nil, nil, err
		}
		err = t.rows(jumpingLanes, func(r *sql.Rows) error {
			var l lane
			err := r.Scan(&l.partition, &l.priority)
			lanes = append(lanes, l)
			return err
		})
		return expired, lanes, err
	}
	known := &t.s.lanes
	known.mu.Lock()
	guess := known.all
	known.mu.Unlock()
	first := true
	chain, lanes, err := follow(guess, func(from []lane) (hops []hop, err error) {
		if !first {
			hops, _, err = t.hops(from, nil)
			return hops, err
		}
		first = false
		hops, expired, err = t.hops(from, q)
		return hops, err
	})
	if err == nil {
		known.mu.Lock()
		known.all = chain
		known.mu.Unlock()
	}
	return expired, lanes, err
}

// follow goes from lane to lane to the end. It asks for the hops of all lanes that it expects at once, and of others as it meets them: a
// server that has the lanes that it had is asked once. What it finds does not depend on what it expects.
func follow(expected []lane, ask func([]lane) ([]hop, error)) (chain, due []lane, err error) {
	hops := map[lane]hop{}
	want := append([]lane{{}}, expected...) // the empty lane stands before all
	for at := (lane{}); ; {
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
		want = []lane{at}
	}
}

// hops asks for what is behind each of some lanes, in one statement; and for what has run out of its lease, if q is given.
func (t *tx) hops(from []lane, q *queue) (all []hop, expired []candidate, err error) {
	var parts []string
	var args []any
	for i, l := range from {
		parts = append(parts, fmt.Sprintf(nextLane, i, i))
		args = append(args, l.partition, l.partition, l.priority)
	}
	if q != nil {
		parts = append(parts, expiredToo)
		args = append(append(args, q.args()...), candidates)
	}
	all = make([]hop, len(from))
	err = t.rows(stmt{"find_lanes", strings.Join(parts, " UNION ALL ")}, func(r *sql.Rows) error {
		var i int
		var partition string
		var number int64
		var due bool
		if err := r.Scan(&i, &partition, &number, &due); err != nil {
			return err
		}
		if i == theExpired {
			expired = append(expired, candidate{id: number, partition: partition})
		} else {
			all[i] = hop{lane{partition, int(number)}, true, due}
		}
		return nil
	}, args...)
	return all, expired, err
}
