package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"patra"
)

// taskCancelled in place of a version is no row of ing_control: the task itself says so. The texts of that row are NULL, for TiDB
// unites no texts of different collations.
const taskCancelled = -1

// controlsOf reads all that can hold a piece of work back, by the primary key, and whether its task was called off.
func (t *tx) controlsOf(at patra.WorkScope) (all []patra.Control, now patra.Instant, cancelled bool, err error) {
	where, args := anyOf(at.Targets())
	query := `SELECT {now}, ` + controlColumns + ` FROM ing_control WHERE ` + where
	if at.TaskID != 0 {
		query += ` UNION ALL SELECT {now}, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, -1, NULL FROM ing_task WHERE id = ? AND cancel_requested = 1`
		args = append(args, at.TaskID)
	}
	err = t.rows(stmt{"controls_of", query}, func(r *sql.Rows) error {
		var c patra.Control
		var detail json.RawMessage
		if err := r.Scan(&now, textInto{(*string)(&c.Scope)}, textInto{&c.Key}, textInto{(*string)(&c.Kind)}, textInto{(*string)(&c.State)}, &c.Until, &c.Failures, textInto{&c.Reason}, textInto{&c.Actor}, &c.Version, jsonInto{&detail}); err != nil {
			return err
		}
		if c.Version == taskCancelled {
			cancelled = true
			return nil
		}
		all = append(all, c)
		if len(detail) == 0 {
			return nil
		}
		return json.Unmarshal(detail, &all[len(all)-1].Detail)
	}, args...)
	return all, now, cancelled, err
}

// Admit says whether the work at a place may send a request now, and if not, why and how long. Of all who ask when the
// time of an open breaker is over, in all processes, one is told to try; and whoever takes its task over, if it is lost.
func (s *Store) Admit(ctx context.Context, at patra.WorkScope) (patra.Admission, error) {
	all, now, cancelled, err := s.read(ctx).controlsOf(at)
	if err != nil || cancelled {
		return patra.Admission{Code: patra.HoldCancelled}, err
	}
	hold := patra.Admit(all, now)
	if hold.Code != patra.WaitBreaker || !hold.Control.Breaker().MayProbe(now, at.Prober()) {
		return hold, nil
	}
	return s.try(ctx, at)
}

// PeekAdmission says what holds back the work at a place, without trying anything.
func (s *Store) PeekAdmission(ctx context.Context, at patra.WorkScope) (patra.Admission, error) {
	all, now, cancelled, err := s.read(ctx).controlsOf(at)
	if err != nil || cancelled {
		return patra.Admission{Code: patra.HoldCancelled}, err
	}
	return patra.Admit(all, now), nil
}
