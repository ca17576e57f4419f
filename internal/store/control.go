package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"patra"
)

// A control is a row that people and executors hold work back with. Its clock is the database's, so that all processes
// agree on when it ends. What only some kinds have stands in record_remarks.
const controlColumns = `scope_code, scope_key, kind_code, state_code, COALESCE(until_at, 0), failures, reason, actor, version, record_remarks`

var (
	clockNow       = stmt{"clock_now", `SELECT {now}`}
	lockControl    = stmt{"lock_control", `SELECT ` + controlColumns + ` FROM ing_control WHERE scope_code = ? AND scope_key = ? AND kind_code = ? {lock}`}
	selectControls = stmt{"select_controls", `SELECT ` + controlColumns + ` FROM ing_control ORDER BY scope_code, scope_key, kind_code`}
	insertControl  = stmt{"insert_control", `INSERT INTO ing_control (scope_code, scope_key, kind_code, state_code, failures, reason, actor, version, created_at)
		VALUES (?, ?, ?, ?, 0, '', '', 0, {now})`}
	moveControl = stmt{"move_control", `UPDATE ing_control SET state_code = ?, until_at = ?, failures = ?, reason = ?, actor = ?, record_remarks = ?, version = version + 1
		WHERE scope_code = ? AND scope_key = ? AND kind_code = ? AND version = ?`}
)

func scanControl(r *sql.Rows) (c patra.Control, err error) {
	var detail json.RawMessage
	err = r.Scan(&c.Scope, &c.Key, &c.Kind, &c.State, &c.Until, &c.Failures, &c.Reason, &c.Actor, &c.Version, jsonInto{&detail})
	if err == nil && len(detail) > 0 {
		err = json.Unmarshal(detail, &c.Detail)
	}
	return c, err
}

func (t *tx) controls(st stmt, args ...any) (all []patra.Control, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		c, err := scanControl(r)
		all = append(all, c)
		return err
	}, args...)
	return all, err
}

// Controls lists what holds work back now.
func (s *Store) Controls(ctx context.Context) ([]patra.Control, error) {
	t := s.read(ctx)
	force := []patra.Control{}
	now, err := t.clock()
	if err != nil {
		return force, err
	}
	all, err := t.controls(selectControls)
	for _, c := range all {
		over := c.Kind == patra.KindQuota && c.Until <= now // nobody writes down that a quota begins anew
		if c.InForce() && !over {
			force = append(force, c)
		}
	}
	return force, err
}

// clock is the database's time as a value, for rules that are not SQL.
func (t *tx) clock() (now patra.Instant, err error) {
	_, err = t.one(clockNow, nil, &now)
	return now, err
}

// controlTransition is one step of a control: what it was, what it is, and whether that is something else.
type controlTransition struct {
	was, is patra.Control
	now     patra.Instant
}

func (m controlTransition) changed() bool { return m.is.Version != m.was.Version }

func (m controlTransition) change() patra.ControlChange {
	return patra.ControlChange{Was: m.was, Is: m.is, Hold: patra.Admit([]patra.Control{m.is}, m.now)}
}

// updateControl locks a control, which it makes first if it must, and stores what change makes of it. Nothing is written when
// that is what it was.
func (t *tx) updateControl(target patra.Target, kind patra.ControlKind, change func(c *patra.Control, now patra.Instant)) (m controlTransition, err error) {
	if m.was, err = t.lockControl(target, kind); err != nil {
		return m, err
	}
	if m.now, err = t.clock(); err != nil {
		return m, err
	}
	m.is = m.was
	change(&m.is, m.now)
	if same(m.was, m.is) {
		return m, nil
	}
	if err := kind.Machine().Check(m.was.State, m.is.State); err != nil {
		return m, err
	}
	if m.is.State != m.was.State {
		m.is.Detail.Since = m.now
	}
	c := m.is
	n, err := t.exec(moveControl, c.State, optional(c.Until), c.Failures, c.Reason, c.Actor, asJSON(c.Detail), c.Scope, c.Key, c.Kind, m.was.Version)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s %s of %s: %w", kind, m.was.State, target, patra.ErrIllegalMove)
	}
	m.is.Version++
	return m, err
}

func same(a, b patra.Control) bool { return asJSON(a) == asJSON(b) }

func (t *tx) lockControl(target patra.Target, kind patra.ControlKind) (patra.Control, error) {
	for range 2 {
		found, err := t.controls(lockControl, target.Scope, target.Key, kind)
		if err != nil {
			return patra.Control{}, err
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if _, err := t.exec(insertControl, target.Scope, target.Key, kind, kind.InactiveState()); err != nil && !t.s.dialect.duplicate(err) {
			return patra.Control{}, err
		}
	}
	found, err := t.controls(lockControl, target.Scope, target.Key, kind)
	if err == nil && len(found) == 0 {
		err = patra.ErrNotFound
	}
	if err != nil {
		return patra.Control{}, err
	}
	return found[0], nil
}

// writeHealing keeps what a control did to go on, in the same transaction.
func (t *tx) writeHealing(at patra.WorkScope, m controlTransition, action, reason string, detail any) (*patra.Healing, error) {
	h := &patra.Healing{TaskID: at.TaskID, Source: at.Source, Endpoint: at.Endpoint, Operation: at.Operation, Action: action, Reason: reason, Detail: json.RawMessage(asJSON(detail)), At: m.now}
	return h, t.heal(*h)
}

// anyOf is a condition on the controls of some targets.
func anyOf(targets []patra.Target) (where string, args []any) {
	conds := make([]string, len(targets))
	for i, t := range targets {
		conds[i] = `(scope_code = ? AND scope_key = ?)`
		args = append(args, t.Scope, t.Key)
	}
	return strings.Join(conds, " OR "), args
}
