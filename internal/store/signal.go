package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"patra"
)

var (
	insertSignal = stmt{"insert_signal", `INSERT INTO ing_signal (provenance_code, record_type, provider_id, reason_code, open_key, payload, status_code, created_at, repository) VALUES (?, ?, ?, ?, ?, ?, 'NEW', ?, ?)`}
	openSignal   = stmt{"open_signal", `SELECT id FROM ing_signal WHERE open_key = ?`}
	isKnown      = stmt{"is_known", `SELECT id FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id = ?`}
)

// signalKey names an open signal.
func signalKey(source, recordType, repository, id string, reason patra.SignalReason) string {
	about := []string{source, recordType, id, string(reason)}
	if repository != "" {
		about = append(about, repository)
	}
	return patra.Hash(about)
}

// everyReason is why a signal can be there.
var everyReason = append(slices.Clone(patra.SignalReasons), patra.SignalQuarantine)

// addSignal notes a wish, unless the same is open already.
func (t *tx) addSignal(now patra.Instant, source, recordType, repository string, sig patra.Signal) (added bool, err error) {
	key := signalKey(source, recordType, repository, sig.ID, sig.Reason)
	var id int64
	if open, err := t.one(openSignal, []any{key}, &id); err != nil || open {
		return false, err
	}
	var payload any
	if sig.By != "" {
		payload = asJSON(map[string]string{"by": sig.By})
	}
	_, err = t.many(insertSignal, source, recordType, sig.ID, sig.Reason, key, payload, now, optional(repository))
	if t.s.dialect.duplicate(err) { // somebody else has just raised it
		return false, nil
	}
	return err == nil, err
}

// raiseFrom notes what new versions say about other records. Only those that are stored are meant: what comes later will
// come with all that the provider knows by then.
func (t *tx) raiseFrom(now patra.Instant, of patra.Task, recordType string, taken []patra.Observation) error {
	for _, o := range taken {
		for _, sig := range o.Signals {
			var id int64
			known, err := t.one(isKnown, []any{of.Source, recordType, scopedID(of.Repository, sig.ID)}, &id)
			if err != nil {
				return err
			}
			if !known {
				continue
			}
			if _, err := t.addSignal(now, of.Source, recordType, of.Repository, sig); err != nil {
				return err
			}
		}
	}
	return nil
}

// AddSignals notes wishes. It tells how many are new; the others were open already. With an actor they are a person's, and
// the log says so; by is the record that they come from, if they do.
func (s *Store) AddSignals(ctx context.Context, now patra.Instant, source, recordType, repository string, ids []string, reason patra.SignalReason, by, actor string) (added int, err error) {
	for part := range slices.Chunk(ids, chunk) { // nobody waits long for this
		n := 0
		err := s.write(ctx, "add signals", func(t *tx) error {
			n = 0
			for _, id := range part {
				ok, err := t.addSignal(now, source, recordType, repository, patra.Signal{ID: id, Reason: reason, By: by})
				if err != nil {
					return err
				}
				if ok {
					n++
				}
			}
			if n == 0 || actor == "" {
				return nil
			}
			return t.auditAction(patra.AuditSignal, actor, source, "", map[string]any{"reason": reason, "record_type": recordType, "added": n, "first": part[0], "last": part[len(part)-1]})
		})
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}

// SignalRow is a stored signal.
type SignalRow struct {
	ID         int64              `json:"id"`
	Source     string             `json:"source"`
	Type       string             `json:"record_type"`
	RecordID   string             `json:"record_id"`
	Repository string             `json:"repository,omitempty"`
	Reason     patra.SignalReason `json:"reason"`
	By         string             `json:"by,omitempty"`
	PlanID     int64              `json:"plan_id,omitempty"`
	Status     patra.Status       `json:"status"`
	CreatedAt  patra.Instant      `json:"created_at"`
}

// Signals lists signals, newest first.
func (s *Store) Signals(ctx context.Context, f Filter) ([]SignalRow, error) {
	return list(ctx, s, "list_signals", `SELECT id, provenance_code, record_type, provider_id, reason_code, payload, plan_id, status_code, created_at, repository FROM ing_signal {by} WHERE {where} ORDER BY id DESC LIMIT ?`, f,
		map[string]string{"id": "id", "source": "provenance_code", "status": "status_code", "plan": "plan_id", "record": "provider_id"},
		func(r *sql.Rows) (k SignalRow, err error) {
			var payload json.RawMessage
			var plan sql.NullInt64
			if err = r.Scan(&k.ID, &k.Source, &k.Type, &k.RecordID, &k.Reason, jsonInto{&payload}, &plan, &k.Status, &k.CreatedAt, textInto{&k.Repository}); err != nil {
				return k, err
			}
			k.PlanID = plan.Int64
			var said struct {
				By string `json:"by"`
			}
			if len(payload) > 0 {
				err = json.Unmarshal(payload, &said)
			}
			k.By = said.By
			return k, err
		})
}

// SignalsOf lists the signals of one record, newest first.
func (s *Store) SignalsOf(ctx context.Context, source, id string) ([]SignalRow, error) {
	return s.Signals(ctx, Filter{Source: source, Record: id})
}

// settleSignals says what became of the wishes that a plan took up, when their ids are settled. A record that the provider
// does not have any more was looked at; one that it refuses was not. They are found by their keys: a plan may have taken up
// so many that a look at all of them for each page would take longer than the page.
func (t *tx) settleSignals(c *patra.Claim, recordType string, outcomes map[patra.Status][]string) error {
	for item, ids := range outcomes {
		to := patra.SignalDone
		if item == patra.ItemBad {
			to = patra.SignalFailed
		}
		if err := patra.SignalMoves.Check(patra.SignalPlanned, to); err != nil {
			return err
		}
		for part := range slices.Chunk(ids, chunk/len(everyReason)) {
			args := []any{to, c.Task.PlanID}
			for _, id := range part {
				for _, reason := range everyReason {
					args = append(args, signalKey(c.Task.Source, recordType, c.Task.Repository, id, reason))
				}
			}
			_, err := t.exec(stmt{"settle_signals", `UPDATE ing_signal SET status_code = ?, open_key = NULL WHERE status_code = 'PLANNED' AND plan_id = ? AND open_key IN (` + marks(len(args)-2) + `)`}, args...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
