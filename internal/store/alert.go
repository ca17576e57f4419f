package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"time"

	"patra"
)

const alertColumns = `id, rule_code, subject, state_code, first_at, fired_at, last_at, missed, resolved_at, ack_by, ack_at, ack_until, ack_reason, detail`

var (
	liveAlerts   = stmt{"live_alerts", `SELECT ` + alertColumns + ` FROM ing_alert WHERE live_key IS NOT NULL ORDER BY id`}
	alertByID    = stmt{"alert_by_id", `SELECT ` + alertColumns + ` FROM ing_alert WHERE id = ?`}
	lockAlert    = stmt{"lock_alert", `SELECT ` + alertColumns + ` FROM ing_alert WHERE id = ? {lock}`}
	alertBefore  = stmt{"alert_before", `SELECT ` + alertColumns + ` FROM ing_alert WHERE rule_code = ? AND subject = ? ORDER BY id DESC LIMIT 1`}
	insertAlert  = stmt{"insert_alert", `INSERT INTO ing_alert (rule_code, subject, live_key, state_code, severity_code, provenance_code, first_at, fired_at, last_at, missed, ack_by, ack_at, ack_until, ack_reason, detail, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {now})`}
	updateAlert  = stmt{"update_alert", `UPDATE ing_alert SET state_code = ?, severity_code = ?, first_at = ?, fired_at = ?, last_at = ?, missed = ?, detail = ? WHERE id = ? AND live_key IS NOT NULL`}
	endAlert     = stmt{"end_alert", `UPDATE ing_alert SET state_code = 'RESOLVED', live_key = NULL, missed = ?, resolved_at = ? WHERE id = ? AND state_code = 'FIRING'`}
	vanishAlert  = stmt{"vanish_alert", `DELETE FROM ing_alert WHERE id = ? AND state_code = 'PENDING'`}
	ackAlert     = stmt{"ack_alert", `UPDATE ing_alert SET ack_by = ?, ack_at = ?, ack_until = ?, ack_reason = ? WHERE id = ? AND live_key IS NOT NULL`}
	oldAlerts    = stmt{"old_alerts", `SELECT id FROM (SELECT id, resolved_at FROM ing_alert WHERE state_code = 'RESOLVED' ORDER BY id LIMIT 200) AS oldest WHERE resolved_at < ?`}
	deleteAlert  = stmt{"delete_alert", `DELETE FROM ing_alert WHERE id = ?`}
	lookedAt     = stmt{"looked_at", `SELECT position, lease_owner IS NOT NULL AND leased_until >= {now} FROM ing_lease WHERE name = ?`}
	insertSample = stmt{"insert_sample", `INSERT INTO ing_alert_sample (partition_key, sampled_at, queued, created_at) VALUES (?, ?, ?, {now})`}
	oldSamples   = stmt{"old_samples", `DELETE FROM ing_alert_sample WHERE sampled_at < ?`}
	lastSample   = stmt{"last_sample", `SELECT COALESCE(MAX(sampled_at), 0) FROM ing_alert_sample`}
	sampled      = stmt{"sampled", `SELECT partition_key, COUNT(*), SUM(queued), SUM(queued * queued) FROM ing_alert_sample WHERE sampled_at >= ? GROUP BY partition_key`}
	samplesSince = stmt{"samples_since", `SELECT COUNT(DISTINCT sampled_at) FROM ing_alert_sample WHERE sampled_at >= ?`}
)

// EnsureAlertRole makes the row of the role.
func (s *Store) EnsureAlertRole(ctx context.Context) error {
	found, err := s.read(ctx).one(selectRole, []any{patra.AlertRole}, new(int64), jsonInto{new(json.RawMessage)})
	if err != nil || found {
		return err
	}
	return s.ensureRole(ctx, patra.AlertRole, 0, nil)
}

// LastAlertEvaluation is when somebody last looked for alerts, and whether anybody has the role now.
func (s *Store) LastAlertEvaluation(ctx context.Context) (at patra.Instant, held bool, err error) {
	_, err = s.read(ctx).one(lookedAt, []any{patra.AlertRole}, &at, &held)
	return at, held, err
}

// AlertEvaluation is what a look came to.
type AlertEvaluation struct {
	Steps   []patra.AlertUpdate
	Notices int // that are to be sent
}

// JudgeAlerts remembers what was found at a look, in one transaction under the fence of the role: what is new begins or fires, what is
// gone ends, events and notices are written with that. Whoever lost the role writes nothing and gets patra.ErrLeaseLost. To give
// the same again changes nothing but when it was seen last.
func (s *Store) JudgeAlerts(ctx context.Context, r patra.LeaderLease, now patra.Instant, found []patra.Alert, receivers []patra.Receiver) (v AlertEvaluation, err error) {
	err = s.write(ctx, "judge alerts", func(t *tx) error {
		v = AlertEvaluation{}
		if err := requireLease(t.exec(moveRole, now, nil, r.For.Microseconds(), r.Name, r.Owner, r.Fence)); err != nil {
			return err
		}
		known, err := t.alerts(liveAlerts)
		if err != nil {
			return err
		}
		for i := range found { // as the table has it, so that it is found again
			found[i].Target = patra.AuditEntry{Target: found[i].Target}.Truncate().Target
		}
		v.Steps = patra.JudgeAlerts(now, known, found)
		for i := range v.Steps {
			if err := t.stepAlert(now, &v.Steps[i]); err != nil {
				return err
			}
			n, err := t.notify(now, v.Steps[i], receivers)
			if err != nil {
				return err
			}
			v.Notices += n
		}
		return nil
	})
	return v, err
}

// stepAlert writes one step. What is new takes over an acknowledgement that still counts.
func (t *tx) stepAlert(now patra.Instant, s *patra.AlertUpdate) (err error) {
	detail := asJSON(s.Alert)
	switch {
	case s.ID == 0:
		before, err := t.alerts(alertBefore, s.Kind, s.Target)
		if err != nil {
			return err
		}
		var by, at, until, reason any
		if len(before) > 0 {
			if s.Ack = before[0].Ack.CarryOver(now); s.Ack != nil {
				by, at, until, reason = s.Ack.By, s.Ack.At, s.Ack.Until, s.Ack.Reason
			}
		}
		if s.ID, err = t.insert(insertAlert, s.Kind, s.Target, string(s.Kind)+" "+s.Target, s.State, s.Severity, optional(s.Link.Source), s.FirstAt, s.FiredAt, s.LastAt, s.Missed, by, at, until, reason, detail); err != nil {
			return err
		}
	case s.Move == patra.AlertVanishes:
		_, err = t.exec(vanishAlert, s.ID)
		return err
	case s.Move == patra.AlertEnds:
		if err := requireLease(t.exec(endAlert, s.Missed, s.ResolvedAt, s.ID)); err != nil {
			return err
		}
	default:
		if err := requireLease(t.exec(updateAlert, s.State, s.Severity, s.FirstAt, s.FiredAt, s.LastAt, s.Missed, detail, s.ID)); err != nil {
			return err
		}
	}
	switch s.Move {
	case patra.AlertFires:
		return t.writeAlertEvent(patra.EventAlertFired, s.StoredAlert)
	case patra.AlertEnds:
		return t.writeAlertEvent(patra.EventAlertResolved, s.StoredAlert)
	}
	return nil
}

// alertEvent is what an event says about an alert.
type alertEvent struct {
	Source string `json:"source"` // first: lists of events are narrowed by how the payload begins
	ID     int64  `json:"alert"`
	patra.Alert
	State      patra.AlertState `json:"state"`
	FiredAt    *patra.Instant   `json:"fired_at,omitempty"`
	ResolvedAt *patra.Instant   `json:"resolved_at,omitempty"`
	Silenced   bool             `json:"silenced"`
}

func (t *tx) writeAlertEvent(kind patra.EventType, h patra.StoredAlert) error {
	return t.writeEvent(kind, "alert/"+strconv.FormatInt(h.ID, 10), nil, alertEvent{Source: h.Link.Source, ID: h.ID, Alert: h.Alert, State: h.State, FiredAt: h.FiredAt, ResolvedAt: h.ResolvedAt, Silenced: h.Ack.Silences(h.LastAt)})
}

func (t *tx) alerts(st stmt, args ...any) (all []patra.StoredAlert, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		h, err := scanAlert(r)
		all = append(all, h)
		return err
	}, args...)
	return all, err
}

func scanAlert(r *sql.Rows) (h patra.StoredAlert, err error) {
	var kind patra.AlertKind
	var subject, by, reason string
	var at, until *patra.Instant
	var detail json.RawMessage
	if err := r.Scan(&h.ID, &kind, textInto{&subject}, &h.State, &h.FirstAt, &h.FiredAt, &h.LastAt, &h.Missed, &h.ResolvedAt, textInto{&by}, &at, &until, textInto{&reason}, jsonInto{&detail}); err != nil {
		return h, err
	}
	if at != nil {
		h.Ack = &patra.AlertAck{By: by, At: *at, Reason: reason, Until: until}
	}
	err = json.Unmarshal(detail, &h.Alert)
	h.Kind, h.Target = kind, subject
	return h, err
}

// LiveAlerts are those that have not ended, with what was told of them.
func (s *Store) LiveAlerts(ctx context.Context) ([]patra.StoredAlert, error) {
	t := s.read(ctx)
	now, err := t.clock()
	if err != nil {
		return nil, err
	}
	all, err := t.alerts(liveAlerts)
	if err != nil {
		return nil, err
	}
	return all, t.outcomes(now, all)
}

// AlertHistory are alerts that have ended, newest first.
func (s *Store) AlertHistory(ctx context.Context, p ListPage) ([]patra.StoredAlert, error) {
	p.Walk = nil // the index knows them
	all, err := listPage(ctx, s, listing{"list_alerts", `SELECT ` + alertColumns + ` FROM ing_alert WHERE {where} ORDER BY id DESC LIMIT ?`, "id"}, []cond{{"ended", "state_code = 'RESOLVED'", nil}}, p, scanAlert)
	if err != nil {
		return nil, err
	}
	return all, s.read(ctx).outcomes(0, all)
}

// AckAlert notes that somebody has seen an alert, for a time or until it ends; the audit log has who and why. It is refused with
// patra.ErrNotFound if there is none, and with patra.ErrIllegalMove if it has ended.
func (s *Store) AckAlert(ctx context.Context, id int64, lasts time.Duration, by, reason string) (h patra.StoredAlert, err error) {
	err = s.write(ctx, "acknowledge", func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		rows, err := t.alerts(lockAlert, id)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return patra.ErrNotFound
		}
		h = rows[0]
		if h.State == patra.AlertResolved {
			return patra.ErrIllegalMove
		}
		h.Ack = &patra.AlertAck{By: by, At: now, Reason: reason}
		if lasts > 0 {
			until := now.Add(lasts)
			h.Ack.Until = &until
		}
		h.Silenced = true
		if err := requireLease(t.exec(ackAlert, by, now, h.Ack.Until, reason, id)); err != nil {
			return err
		}
		return t.auditAction(patra.AuditAck, by, "alert:"+strconv.FormatInt(id, 10), reason, map[string]any{"kind": h.Kind, "target": h.Target, "until": h.Ack.Until})
	})
	return h, err
}

// AlertOf is one alert.
func (s *Store) AlertOf(ctx context.Context, id int64) (h patra.StoredAlert, err error) {
	t := s.read(ctx)
	rows, err := t.alerts(alertByID, id)
	if err == nil && len(rows) == 0 {
		err = patra.ErrNotFound
	}
	if err != nil {
		return h, err
	}
	now, err := t.clock()
	if err == nil {
		err = t.outcomes(now, rows)
	}
	return rows[0], err
}

// DeleteOldAlerts deletes alerts that ended before a moment, with their notices, some hundred at a time.
func (s *Store) DeleteOldAlerts(ctx context.Context, r patra.LeaderLease, before patra.Instant) (n int, err error) {
	err = s.write(ctx, "forget alerts", func(t *tx) error {
		if err := requireLease(t.exec(keepRole, r.For.Microseconds(), r.Name, r.Owner, r.Fence)); err != nil {
			return err
		}
		ids, err := t.ids(oldAlerts, before)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := t.many(forgetNotices, id); err != nil {
				return err
			}
			if _, err := t.many(deleteAlert, id); err != nil {
				return err
			}
		}
		n = len(ids)
		return nil
	})
	return n, err
}

// SampleQueues notes how many tasks of each partition wait, unless that was done a moment ago, and forgets what is older than a day.
// A partition of which nothing waits is not noted; Crowds counts that as none.
func (s *Store) SampleQueues(ctx context.Context, r patra.LeaderLease, now patra.Instant, every time.Duration, queue []patra.QueueState) error {
	return s.write(ctx, "sample queues", func(t *tx) error {
		if err := requireLease(t.exec(keepRole, r.For.Microseconds(), r.Name, r.Owner, r.Fence)); err != nil {
			return err
		}
		var last patra.Instant
		if _, err := t.one(lastSample, nil, &last); err != nil || now.Sub(last) < every {
			return err
		}
		if _, err := t.exec(oldSamples, now-patra.Day); err != nil {
			return err
		}
		for _, q := range append([]patra.QueueState{{}}, queue...) { // the first tells that somebody looked
			if q.Key != "" && q.Queued() == 0 {
				continue
			}
			if _, err := t.many(insertSample, q.Key, now, q.Queued()); err != nil {
				return err
			}
		}
		return nil
	})
}

// QueueAverages is how many tasks of each partition waited on the average of the last day.
func (s *Store) QueueAverages(ctx context.Context, now patra.Instant) (all []patra.QueueAverage, err error) {
	t := s.read(ctx)
	var looks int64
	if _, err := t.one(samplesSince, []any{now - patra.Day}, &looks); err != nil || looks == 0 {
		return nil, err
	}
	err = t.rows(sampled, func(r *sql.Rows) error {
		c := patra.QueueAverage{Samples: looks}
		var n int64
		var sum, squares float64
		err := r.Scan(textInto{&c.Key}, &n, &sum, &squares)
		if c.Key != "" {
			c.Mean, c.Sigma = patra.Spread(looks, sum, squares)
			all = append(all, c)
		}
		return err
	}, now-patra.Day)
	return all, err
}
