package store

import (
	"context"
	"database/sql"
	"time"

	"patra"
)

var (
	// The next key by the index of requests: as many looks as there are keys, and not as many as there are requests.
	nextRequestKey = stmt{"next_request_key", `SELECT MIN(k.gate_key) FROM (SELECT MIN(gate_key) AS gate_key FROM ing_request WHERE gate_key > ?
		UNION ALL SELECT MIN(gate_key) FROM ing_archive_sent WHERE gate_key > ?) k`}
	sentArchived = stmt{"sent_archived", `SELECT COALESCE(SUM(requests), 0), COALESCE(MAX(hour_at), 0) FROM ing_archive_sent WHERE gate_key = ? AND hour_at > ? - 3600000000 AND hour_at < ?`}
	// A part of a key's requests, in the order of the index. Each part begins after the last row of the one before, so
	// that nobody has to sort, and no read is open for long.
	sentPart = stmt{"sent_part", `SELECT r.id, r.kind_code, COALESCE(b.phase_code, ''), r.cost, r.waited, r.acquired_at, COALESCE(r.sent_at, 0), COALESCE(r.finished_at, 0),
			COALESCE(r.http_status, 0), COALESCE(r.bytes, 0), COALESCE(r.outcome_code, ''), COALESCE(r.retry_after, 0)
		FROM ing_request r LEFT JOIN ing_task_run_batch b ON b.id = r.batch_id
		WHERE r.gate_key = ? AND r.acquired_at >= ? AND r.acquired_at < ? AND (r.acquired_at > ? OR r.id > ?) ORDER BY r.acquired_at, r.id LIMIT ?`}
	countAsked = stmt{"count_asked", `SELECT COUNT(sent_at), COALESCE(SUM(CASE WHEN http_status IN (429, 503) THEN 1 ELSE 0 END), 0)
		FROM ing_request WHERE gate_key = ? AND acquired_at >= ?`}
	waitingByPlace = stmt{"waiting_by_place", `SELECT provenance_code, endpoint_name, status_code, COUNT(*) FROM ing_task
		WHERE status_code = 'RUNNING' OR (status_code = 'QUEUED' AND scheduled_at <= {now}) GROUP BY provenance_code, endpoint_name, status_code`}
)

// RequestKeys lists the keys under which anything was ever asked for.
func (s *Store) RequestKeys(ctx context.Context) (all []string, err error) {
	for key := ""; ; all = append(all, key) {
		var next sql.NullString
		if _, err := s.read(ctx).one(nextRequestKey, []any{key, key}, &next); err != nil || !next.Valid {
			return all, err
		}
		key = next.String
	}
}

// SentArchived is about how many requests of a key in a stretch of time are in an archive, and until when they reach: of
// them only the hour is known.
func (s *Store) SentArchived(ctx context.Context, key string, from, to patra.Instant) (n int64, until patra.Instant, err error) {
	_, err = s.read(ctx).one(sentArchived, []any{key, from, to}, &n, &until)
	if n > 0 {
		until = min(until+patra.Hour, to)
	}
	return n, until, err
}

// sentAtOnce is how many requests are read in one go.
const sentAtOnce = 5000

// SentRequests tells of the requests of a key that asked the gate in a stretch of time, one after the other in that order. It
// keeps none of them.
func (s *Store) SentRequests(ctx context.Context, key string, from, to patra.Instant, tell func(patra.SentRequest) error) error {
	last := patra.SentRequest{AcquiredAt: from - 1}
	for {
		n := 0
		err := s.read(ctx).rows(sentPart, func(r *sql.Rows) error {
			var q patra.SentRequest
			var phase string
			var waited, rest int64
			if err := r.Scan(&q.ID, &q.Kind, &phase, &q.Cost, &waited, &q.AcquiredAt, &q.SentAt, &q.FinishedAt, &q.Status, &q.Bytes, &q.Outcome, &rest); err != nil {
				return err
			}
			if phase == string(patra.PhaseDetail) {
				q.Kind = patra.RequestDetail
			}
			q.Waited, q.RetryAfter = time.Duration(waited)*time.Microsecond, time.Duration(rest)*time.Microsecond
			n, last = n+1, q
			return tell(q)
		}, key, max(from, last.AcquiredAt), to, last.AcquiredAt, last.ID, sentAtOnce)
		if err != nil || n < sentAtOnce {
			return err
		}
	}
}

// SentCount counts the requests of a key since a moment, and those of them that were refused.
func (s *Store) SentCount(ctx context.Context, key string, since patra.Instant) (n, refused int64, err error) {
	_, err = s.read(ctx).one(countAsked, []any{key, since}, &n, &refused)
	return n, refused, err
}

// EndpointQueue is how many tasks of an endpoint are due, and how many run.
type EndpointQueue struct{ Waiting, Running int64 }

// Queues counts the tasks that are due or running, by SOURCE/ENDPOINT.
func (s *Store) Queues(ctx context.Context) (map[string]EndpointQueue, error) {
	all := map[string]EndpointQueue{}
	err := s.read(ctx).rows(waitingByPlace, func(r *sql.Rows) error {
		var source, endpoint string
		var status patra.Status
		var n int64
		if err := r.Scan(&source, &endpoint, &status, &n); err != nil {
			return err
		}
		q := all[source+"/"+endpoint]
		if status == patra.Running {
			q.Running += n
		} else {
			q.Waiting += n
		}
		all[source+"/"+endpoint] = q
		return nil
	})
	return all, err
}
