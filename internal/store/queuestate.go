package store

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"

	"patra"
)

// mostCounted bounds what is counted of one thing: beyond it a person reads "more than", and nobody waits for the rest.
const mostCounted = 10_000

// headOfQueue is how many tasks are asked why they wait.
const headOfQueue = 500

var (
	queueCounts = stmt{"queue_counts", countQueue()}
	headWaits   = stmt{"head_waits", `SELECT COALESCE(wait_code, ''), COUNT(*) FROM (SELECT wait_code FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? LIMIT ` + strconv.Itoa(headOfQueue) + `) AS head GROUP BY wait_code`}
)

// countQueue asks each of the nine priorities of one partition by the index: how many are due and how many are not, and which
// are the first of both.
func countQueue() string {
	var probes []string
	for p := 1; p <= 9; p++ {
		of := ` FROM ing_task WHERE status_code = 'QUEUED' AND partition_key = ? AND priority = ` + strconv.Itoa(p) + ` AND scheduled_at `
		count := func(when string) string {
			return `(SELECT COUNT(*) FROM (SELECT id` + of + when + ` LIMIT ` + strconv.Itoa(mostCounted) + `) AS n)`
		}
		first := func(when string) string {
			return `(SELECT scheduled_at` + of + when + ` ORDER BY scheduled_at LIMIT 1)`
		}
		probes = append(probes, `SELECT `+count(`<= {now}`)+` AS due, `+count(`> {now}`)+` AS later, `+first(`<= {now}`)+` AS oldest, `+first(`> {now}`)+` AS next_at`)
	}
	return strings.Join(probes, " UNION ALL ")
}

// QueueStates tells how the queues stand, partition by partition. It looks at the ends of the index, whatever is between.
func (s *Store) QueueStates(ctx context.Context) ([]patra.QueueState, error) {
	return s.read(ctx).queueStates(math.MaxInt)
}

// queueStates looks at so many partitions at most.
func (t *tx) queueStates(most int) ([]patra.QueueState, error) {
	all := []patra.QueueState{}
	running := map[string]int64{}
	var gates patra.AdmissionControls
	now, err := t.clock()
	if err != nil {
		return all, err
	}
	if gates, err = t.s.Controls(t.ctx); err != nil {
		return all, err
	}
	if err := t.rows(busy, func(r *sql.Rows) error {
		var partition string
		var n int64
		err := r.Scan(&partition, &n)
		running[partition] = n
		return err
	}); err != nil {
		return all, err
	}
	keys, err := t.queuedPartitions(most)
	if err != nil {
		return all, err
	}
	for key := range running {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys[:min(len(keys), most)] {
		at := patra.Target{Scope: patra.ScopeOperation, Key: key}.WorkScope()
		q := patra.QueueState{Key: key, Source: at.Source, Endpoint: at.Endpoint, Operation: at.Operation, Running: running[key], Waits: map[string]int64{}, Limit: gates.Limit(at, 0, now)}
		if gates.Blocked(at, now) {
			q.Held = gates.Hold(at, now).Code
		}
		if err := t.countQueue(&q); err != nil {
			return all, err
		}
		all = append(all, q)
	}
	return all, nil
}

// queuedPartitions are those that have something queued, found by jumping along the index; so many at most.
func (t *tx) queuedPartitions(most int) (keys []string, err error) {
	for key := ""; len(keys) < most; keys = append(keys, key) {
		found, err := t.one(nextPartition, []any{key}, textInto{&key})
		if err != nil || !found {
			return keys, err
		}
	}
	return keys, nil
}

func (t *tx) countQueue(q *patra.QueueState) error {
	args := make([]any, 9*4)
	for i := range args {
		args[i] = q.Key
	}
	err := t.rows(queueCounts, func(r *sql.Rows) error {
		var due, later int64
		var oldest, next *patra.Instant
		if err := r.Scan(&due, &later, &oldest, &next); err != nil {
			return err
		}
		q.Due, q.Later = q.Due+due, q.Later+later
		q.Capped = q.Capped || due == mostCounted || later == mostCounted
		q.Oldest, q.NextAt = earlier(q.Oldest, oldest), earlier(q.NextAt, next)
		return nil
	}, args...)
	if err != nil || q.Queued() == 0 {
		return err
	}
	return t.rows(headWaits, func(r *sql.Rows) error {
		var code string
		var n int64
		err := r.Scan(textInto{&code}, &n)
		if code != "" {
			q.Waits[code] = n
		}
		return err
	}, q.Key)
}

func earlier(a, b *patra.Instant) *patra.Instant {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
