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

// lanes are those that have something due.
func (t *tx) lanes() (all []lane, err error) {
	if t.s.Embedded() {
		err = t.rows(jumpingLanes, func(r *sql.Rows) error {
			var l lane
			err := r.Scan(&l.partition, &l.priority)
			all = append(all, l)
			return err
		})
		return all, err
	}
	known := &t.s.lanes
	known.mu.Lock()
	guess := known.all
	known.mu.Unlock()
	chain, due, err := follow(guess, t.hops)
	if err == nil {
		known.mu.Lock()
		known.all = chain
		known.mu.Unlock()
	}
	return due, err
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

// hops asks for what is behind each of some lanes, in one statement.
func (t *tx) hops(from []lane) ([]hop, error) {
	var parts []string
	var args []any
	for i, l := range from {
		parts = append(parts, fmt.Sprintf(nextLane, i, i))
		args = append(args, l.partition, l.partition, l.priority)
	}
	all := make([]hop, len(from))
	err := t.rows(stmt{"find_lanes", strings.Join(parts, " UNION ALL ")}, func(r *sql.Rows) error {
		var i int
		h := hop{found: true}
		err := r.Scan(&i, &h.to.partition, &h.to.priority, &h.due)
		all[i] = h
		return err
	}, args...)
	return all, err
}
