package store

import (
	"context"
	"database/sql"
	"strconv"

	"patra"
)

// mostFailedPlans is how many plans that failed are looked at, the newest.
const mostFailedPlans = 200

var (
	failedPlans = stmt{"failed_plans", `SELECT id, provenance_code, endpoint_name, operation_code, COALESCE(campaign, ''), COALESCE(cursor_id, 0), window_from, window_to, reason_code, created_at FROM ing_plan
		WHERE status_code = 'FAILED' ORDER BY created_at DESC LIMIT ` + strconv.Itoa(mostFailedPlans)}
	madeAgain = stmt{"made_again", `SELECT id FROM ing_plan WHERE provenance_code = ? AND operation_code = ? AND created_at >= ? AND endpoint_name = ? AND id > ? AND COALESCE(campaign, '') = ? AND cursor_id IS NULL AND status_code <> 'FAILED' LIMIT 1`}
)

// FailedPlans are the plans that could not be cut and whose work nothing has done since: nothing was read of a part of their window and no
// waiver signs it off, or, without a cursor, no such plan was made again.
func (s *Store) FailedPlans(ctx context.Context) (left []patra.Plan, err error) {
	all, err := s.read(ctx).failedPlans()
	for _, p := range all {
		open, err := s.open(ctx, p)
		if err != nil {
			return nil, err
		}
		if open {
			left = append(left, p)
		}
	}
	return left, err
}

// FailedPlansByID are those of one source that have no cursor.
func (s *Store) FailedPlansByID(ctx context.Context, source string) (left []patra.Plan, err error) {
	t := s.read(ctx)
	all, err := t.failedPlans()
	for _, p := range all {
		if p.Source != source || p.CursorID != 0 {
			continue
		}
		again, err := t.ids(madeAgain, p.Source, p.Operation, p.CreatedAt, p.Endpoint, p.ID, p.Campaign)
		if err != nil {
			return nil, err
		}
		if len(again) == 0 {
			left = append(left, p)
		}
	}
	return left, err
}

func (t *tx) failedPlans() (all []patra.Plan, err error) {
	err = t.rows(failedPlans, func(r *sql.Rows) error {
		p := patra.Plan{Status: patra.Failed}
		err := r.Scan(&p.ID, &p.Source, &p.Endpoint, &p.Operation, textInto{&p.Campaign}, &p.CursorID, &p.Window.From, &p.Window.To, textInto{&p.Reason}, &p.CreatedAt)
		all = append(all, p)
		return err
	})
	return all, err
}

// open reports whether the work of a failed plan is still to be done.
func (s *Store) open(ctx context.Context, p patra.Plan) (bool, error) {
	if p.CursorID == 0 {
		again, err := s.read(ctx).ids(madeAgain, p.Source, p.Operation, p.CreatedAt, p.Endpoint, p.ID, p.Campaign)
		return len(again) == 0, err
	}
	if p.Window.IsEmpty() {
		return false, nil
	}
	facts, until, err := s.MapFacts(ctx, p.CursorID, p.Window)
	if err != nil {
		return false, err
	}
	for _, g := range patra.Gaps(patra.Window{From: p.Window.From, To: min(p.Window.To, until)}, facts.CoverageFacts) {
		if g.Kind == patra.GapUnplanned {
			return true, nil
		}
	}
	return false, nil
}
