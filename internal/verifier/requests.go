package verifier

import (
	"context"
	"database/sql"
)

// noLog is why questions about requests are left out.
const noLog = "no log of the provider was given (-access-log)"

// askRequests goes through the ledger and the log side by side. A request that was under way when its process died may not
// have arrived; one that was answered must have.
func askRequests(ctx context.Context, s *Scene, v *Invariant) error {
	if s.seen == nil {
		return v.skip(noLog)
	}
	v.Looked = int64(len(s.seen.requests))
	err := s.each(ctx, `SELECT q.request_id, q.gate_key, COALESCE(q.acquired_at, 0), COALESCE(q.finished_at, 0), COALESCE(q.http_status, 0),
		CASE WHEN r.spec_fingerprint IN (`+stateful+`) THEN 1 ELSE 0 END FROM ing_request q LEFT JOIN ing_task_run r ON r.id = q.run_id`, func(r *sql.Rows) error {
		var id, key string
		var acquired, finished, status int64
		var once bool
		if err := r.Scan(&id, &key, &acquired, &finished, &status, &once); err != nil {
			return err
		}
		came := s.seen.byID[id]
		for _, i := range came {
			e := &s.seen.requests[i]
			e.known, e.key, e.acquired, e.finished = true, key, acquired, finished
		}
		switch {
		case len(came) == 0 && status > 0:
			v.found("request %s was answered with %d, and the provider knows nothing of it", id, status)
		case len(came) > 1 && once:
			v.found("request %s was sent %d times, and its position can be used once", id, len(came))
		}
		return nil
	})
	if err != nil {
		return err
	}
	archived, err := s.number(ctx, `SELECT COALESCE(SUM(requests), 0) FROM ing_archive`)
	if err != nil {
		return err
	}
	for _, e := range s.seen.requests {
		if e.known {
			continue
		}
		if archived--; archived < 0 {
			v.found("the provider saw a request %q of which there is no row", e.id)
		}
	}
	return nil
}
