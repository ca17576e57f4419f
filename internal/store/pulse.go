package store

import (
	"context"

	"patra"
)

// pulse asks for nothing but the ends of primary keys, and for what is running: it costs the same however much there is.
var pulse = stmt{"pulse", `SELECT (SELECT COALESCE(MAX(id), 0) FROM ing_plan), (SELECT COALESCE(MAX(id), 0) FROM ing_task_run), (SELECT COALESCE(MAX(id), 0) FROM ing_task_run_batch),
	(SELECT COALESCE(MAX(id), 0) FROM ing_cursor_event), (SELECT COALESCE(MAX(id), 0) FROM ing_outbox), (SELECT COALESCE(MAX(id), 0) FROM ing_record),
	(SELECT COALESCE(MAX(id), 0) FROM ing_quarantine), (SELECT COALESCE(MAX(id), 0) FROM ing_healing), (SELECT COALESCE(MAX(id), 0) FROM ing_audit),
	(SELECT COALESCE(MAX(id), 0) FROM ing_signal), (SELECT COALESCE(MAX(id), 0) FROM ing_request), (SELECT COALESCE(SUM(version), 0) FROM ing_control),
	(SELECT COUNT(*) FROM ing_task WHERE status_code = 'RUNNING')`}

// ChangeToken tells where everything stands that grows.
func (s *Store) ChangeToken(ctx context.Context) (p patra.ChangeToken, err error) {
	_, err = s.read(ctx).one(pulse, nil, &p.Plans, &p.Runs, &p.Pages, &p.Moves, &p.Events, &p.Records, &p.Quarantine, &p.Healing, &p.Audit, &p.Signals, &p.Requests, &p.Controls, &p.Running)
	return p, err
}
