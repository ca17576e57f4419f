package store

import (
	"database/sql"
	"math"

	"patra"
)

var (
	disputedOf = stmt{"said_around", `SELECT window_from FROM ing_coverage WHERE cursor_id = ? AND window_to > ? AND state_code = 'DISPUTED'`}
	planOf     = stmt{"plan_of_slice", `SELECT plan_id FROM ing_plan_slice WHERE id = ?`}
)

// endInDispute corrects how plans ended of which everything is read: a provider may count a part differently. It looks behind the moment
// through which a cursor is complete, as nothing before it is in dispute.
func (t *tx) endInDispute(plans []patra.Plan) error {
	from := map[int64]patra.Instant{} // of the plans of a cursor
	for _, p := range plans {
		if p.Ended == patra.PlanDone && p.CursorID != 0 {
			if at, ok := from[p.CursorID]; !ok || p.Window.From < at {
				from[p.CursorID] = p.Window.From
			}
		}
	}
	disputed := map[int64]bool{}
	for cursor, at := range from {
		if err := t.disputedPlans(cursor, at, disputed); err != nil {
			return err
		}
	}
	for i, p := range plans {
		if p.Ended == patra.PlanDone && disputed[p.ID] {
			plans[i].Ended = patra.PlanOutcome(p.Status, false, false, false, true)
		}
	}
	return nil
}

// disputedPlans finds the plans of a cursor that have a window which is still in dispute.
func (t *tx) disputedPlans(cursorID int64, from patra.Instant, plans map[int64]bool) error {
	c, err := t.oneCursor(cursorByID, cursorID)
	if err != nil || c == nil {
		return err
	}
	all, err := t.disputes(*c, from)
	for _, d := range all {
		var plan int64
		if found, err := t.one(planOf, []any{d.SliceID}, &plan); err != nil {
			return err
		} else if found {
			plans[plan] = true
		}
	}
	return err
}

// disputes are the answers about the time after a moment that the provider's count contradicts, as far as they still speak. Between its origin
// and the moment through which a cursor is complete there is none.
func (t *tx) disputes(c patra.Cursor, from patra.Instant) ([]patra.EffectiveEntry, error) {
	if from >= c.Origin {
		from = max(from, c.SealedThrough)
	}
	first, found := patra.Instant(math.MaxInt64), false
	err := t.rows(disputedOf, func(r *sql.Rows) error {
		var at patra.Instant
		err := r.Scan(&at)
		first, found = min(first, at), true
		return err
	}, c.ID, from)
	if err != nil || !found {
		return nil, err
	}
	answers, err := t.mapEntries(answersOf, c.ID, first, topmost, topmost)
	return patra.Disputes(answers), err // those that were read again since are no disputes
}
