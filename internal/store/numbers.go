package store

import (
	"context"
	"database/sql"
	"strconv"

	"patra"
)

var (
	firstCursors = stmt{"first_cursors", `SELECT ` + cursorColumns + ` FROM ing_cursor ORDER BY id LIMIT ` + strconv.Itoa(mostLooked)}
	reachOfPlans = stmt{"reach_of_plans", reachQuery()}
	someGates    = stmt{"some_gates", selectAllGates.text + ` LIMIT ?`}
	someQuotas   = stmt{"some_quotas", selectQuotas.text + ` LIMIT ?`}
	someSinks    = stmt{"some_sinks", allSinks.text + ` LIMIT ?`}
	newestSeq    = stmt{"newest_seq", `SELECT COALESCE(MAX(seq), 0) FROM ing_outbox`}
	withoutSeq   = stmt{"count_unnumbered", `SELECT COUNT(*) FROM (SELECT id FROM ing_outbox WHERE seq IS NULL LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}
	waitingAt    = stmt{"waiting_at", `SELECT COUNT(*) FROM (SELECT seq FROM ing_outbox_delivery WHERE sink_name = ? AND status_code = 'WAITING' LIMIT ` + strconv.Itoa(mostCounted) + `) AS n`}
	keptPart     = stmt{"kept_part", `SELECT COUNT(*), COALESCE(SUM(stored_size), 0), COALESCE(MAX(body_sha256), '') FROM (SELECT body_sha256, stored_size FROM ing_evidence
		WHERE body_sha256 > ? ORDER BY body_sha256 LIMIT ` + strconv.Itoa(patra.KeptAtOnce) + `) AS part`}
)

// reachQuery asks for the ends of the indexes of one cursor: how far anything of it was read, waits, or ended otherwise.
func reachQuery() string {
	ends := `SELECT MAX(window_to) AS w FROM ing_coverage WHERE cursor_id = ?`
	for _, status := range []patra.Status{patra.Ready, patra.Partial, patra.Failed, patra.Cancelled} {
		ends += ` UNION ALL SELECT MAX(window_to) FROM ing_plan_slice WHERE cursor_id = ? AND status_code = '` + string(status) + `'`
	}
	ends += ` UNION ALL SELECT MAX(window_to) FROM ing_plan WHERE cursor_id = ? AND status_code = 'FAILED'` // which has no slices
	return `SELECT MAX(w) FROM (` + ends + `) AS ends`
}

// MetricsSnapshot reads how everything stands. Each statement looks at so many rows at most, and there are only so many statements,
// however much is stored.
func (s *Store) MetricsSnapshot(ctx context.Context) (n patra.MetricsSnapshot, err error) {
	n.LeftOut = map[string]int64{}
	t := s.read(ctx)
	steps := []func() error{
		func() error { n.At, err = t.clock(); return err },
		func() error { return t.gateNumbers(&n) },
		func() error { return t.queueNumbers(&n) },
		func() error { return t.cursorNumbers(&n) },
		func() error { return t.sourceNumbers(&n) },
		func() error { return t.sinkNumbers(&n) },
		func() error { _, err := t.one(newestID, nil, &n.Records); return err },
		func() error {
			_, err := t.one(countExpired, []any{leaseGrace.Microseconds()}, &n.Expired)
			return err
		},
		func() error { n.LastClaim, err = s.LastClaim(ctx); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// bounded cuts a list that was read with one more than wanted. What is left out is at least one; nobody counts the rest.
func bounded[T any](n *patra.MetricsSnapshot, what string, all []T, most int) []T {
	if len(all) > most {
		n.LeftOut[what] = int64(len(all) - most)
		return all[:most]
	}
	return all
}

func (t *tx) gateNumbers(n *patra.MetricsSnapshot) error {
	gates, _, err := t.gates(someGates, patra.MostKeys+1)
	if err != nil {
		return err
	}
	n.Gates = bounded(n, patra.LeftGates, gates, patra.MostKeys)
	quotas, err := t.quotas(someQuotas, 2*patra.MostKeys+1)
	n.Quotas = bounded(n, patra.LeftQuotas, quotas, 2*patra.MostKeys)
	return err
}

func (t *tx) queueNumbers(n *patra.MetricsSnapshot) (err error) {
	if n.Queue, err = t.queueStates(patra.MostPlaces + 1); err != nil {
		return err
	}
	n.Queue = bounded(n, patra.LeftQueues, n.Queue, patra.MostPlaces)
	controls, err := t.s.Controls(t.ctx)
	for _, c := range controls {
		if c.Target.IsScope() && len(n.Controls) < 2*patra.MostPlaces { // what holds back single pieces of work is theirs
			n.Controls = append(n.Controls, c)
		}
	}
	return err
}

// cursorNumbers looks at the oldest watermarks, those of harvests first: which they are does not depend on how they stand, so
// that none comes and goes.
func (t *tx) cursorNumbers(n *patra.MetricsSnapshot) error {
	var harvests, others []patra.Cursor
	err := t.rows(firstCursors, func(r *sql.Rows) error {
		c, err := scanCursor(r)
		if c.Operation == patra.Harvest {
			harvests = append(harvests, c)
		} else {
			others = append(others, c)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range bounded(n, patra.LeftCursors, append(harvests, others...), patra.MostCursors) {
		facts, err := t.s.CursorFacts(t.ctx, c)
		if err != nil {
			return err
		}
		numbers := patra.CursorMetrics{CursorFacts: facts, Reach: c.Value}
		var reach *patra.Instant
		if _, err := t.one(reachOfPlans, []any{c.ID, c.ID, c.ID, c.ID, c.ID, c.ID}, &reach); err != nil {
			return err
		}
		if reach != nil {
			numbers.Reach = max(c.Value, *reach)
		}
		n.Cursors = append(n.Cursors, numbers)
	}
	return nil
}

func (t *tx) sourceNumbers(n *patra.MetricsSnapshot) error {
	codes, err := t.sources(patra.MostPlaces + 1)
	if err != nil {
		return err
	}
	for _, code := range bounded(n, patra.LeftSources, codes, patra.MostPlaces) {
		one := patra.SourceMetrics{Source: code}
		if one.LastPage, err = t.s.LastPageOf(t.ctx, code); err != nil {
			return err
		}
		if _, err := t.one(countFailedOf, []any{code}, &one.Failed); err != nil {
			return err
		}
		if _, err := t.one(countAside, []any{code}, &one.Aside); err != nil {
			return err
		}
		n.Sources = append(n.Sources, one)
	}
	return nil
}

func (t *tx) sinkNumbers(n *patra.MetricsSnapshot) error {
	all, err := t.sinksBy(someSinks, patra.MostSinks+1)
	if err != nil || len(all) == 0 {
		return err
	}
	var newest, rest int64
	if _, err := t.one(newestSeq, nil, &newest); err != nil {
		return err
	}
	if _, err := t.one(withoutSeq, nil, &rest); err != nil {
		return err
	}
	for _, sink := range bounded(n, patra.LeftSinks, all, patra.MostSinks) {
		one := patra.SinkMetrics{Name: sink.Name}
		var waiting int64
		if _, err := t.one(waitingAt, []any{sink.Name}, &waiting); err != nil {
			return err
		}
		if _, err := t.one(sinkAside, []any{sink.Name, mostCounted}, &one.Aside); err != nil {
			return err
		}
		one.Depth = max(newest-sink.Position, 0) + rest + waiting
		if sink.Notes != nil {
			one.Failures = sink.Notes.Failures
		}
		n.Sinks = append(n.Sinks, one)
	}
	return nil
}

// StoredBodyRange adds up some of the kept answers, those whose hashes come after one.
func (s *Store) StoredBodyRange(ctx context.Context, after string) (p patra.StoredBodyRange, err error) {
	_, err = s.read(ctx).one(keptPart, []any{after}, &p.Bodies, &p.Bytes, textInto{&p.Last})
	return p, err
}
