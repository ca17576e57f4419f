package store

import (
	"context"
	"database/sql"

	"patra"
)

const auditColumns = `seq, created_at, actor, action_code, target, reason, detail, prev_hash, hash`

var (
	stepAudit   = stmt{"step_audit", `UPDATE ing_audit_head SET seq = seq + 1 WHERE name = 'audit'`} // holds the row: one writer at a time
	auditHead   = stmt{"audit_head", `SELECT seq, hash FROM ing_audit_head WHERE name = 'audit'`}
	insertAudit = stmt{"insert_audit", `INSERT INTO ing_audit (` + auditColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	endAudit    = stmt{"end_audit", `UPDATE ing_audit_head SET hash = ? WHERE name = 'audit'`}
	nextAudit   = stmt{"next_audit", `SELECT ` + auditColumns + ` FROM ing_audit WHERE seq > ? ORDER BY seq LIMIT 500`}
)

// Audit writes down what somebody did. The entry has its number and its hashes afterwards.
func (s *Store) Audit(ctx context.Context, e patra.AuditEntry) (done patra.AuditEntry, err error) {
	err = s.write(ctx, "audit", func(t *tx) error {
		done, err = t.audit(e)
		return err
	})
	return done, err
}

// audit adds a line to the log. It is the last thing that a transaction does: the row that it holds is everybody's.
func (t *tx) audit(e patra.AuditEntry) (patra.AuditEntry, error) {
	e, err := e.By(patra.TokenIn(t.ctx))
	if err != nil {
		return e, err
	}
	e = e.Truncate()
	if e.At == 0 {
		now, err := t.clock()
		if err != nil {
			return e, err
		}
		e.At = now
	}
	if n, err := t.exec(stepAudit); err != nil || n != 1 {
		return e, orNotFound(err)
	}
	if _, err := t.one(auditHead, nil, &e.Seq, &e.Prev); err != nil {
		return e, err
	}
	sum, err := e.Sum()
	if err != nil {
		return e, err
	}
	e.Hash = sum
	if _, err := t.exec(insertAudit, e.Seq, e.At, e.Actor, e.Action, e.Target, e.Reason, text(e.Detail), e.Prev, e.Hash); err != nil {
		return e, err
	}
	_, err = t.exec(endAudit, e.Hash)
	return e, err
}

// auditAction is a line of the log for something that was done in the same transaction.
func (t *tx) auditAction(action patra.AuditAction, actor, target, reason string, detail map[string]any) error {
	_, err := t.audit(patra.AuditEntry{Actor: actor, Action: action, Target: target, Reason: reason, Detail: []byte(asJSON(detail))})
	return err
}

// auditOf reads by the index of targets: it is asked for each key whenever somebody looks at the gate.
var auditOf = stmt{"audit_of", `SELECT ` + auditColumns + ` FROM ing_audit WHERE target = ? AND action_code = ? ORDER BY seq DESC LIMIT ?`}

// audited tells what was done to a target in one way, newest first.
func (t *tx) audited(action patra.AuditAction, target string, limit int, tell func(patra.AuditEntry) error) error {
	return t.rows(auditOf, func(r *sql.Rows) error {
		e, err := scanAudit(r)
		if err != nil {
			return err
		}
		return tell(e)
	}, patra.AuditEntry{Target: target}.Truncate().Target, action, limit)
}

func scanAudit(r *sql.Rows) (e patra.AuditEntry, err error) {
	err = r.Scan(&e.Seq, &e.At, textInto{&e.Actor}, &e.Action, textInto{&e.Target}, textInto{&e.Reason}, jsonInto{&e.Detail}, &e.Prev, &e.Hash)
	return e, err
}

// AuditFilter narrows the log. Zero values do not.
type AuditFilter struct {
	Actor  string
	Action patra.AuditAction
	Target string
	Since  patra.Instant
	Limit  int
	Before int64 // numbers below this
	Walk   *ScanLimit
}

// AuditLog lists entries, newest first.
func (s *Store) AuditLog(ctx context.Context, f AuditFilter) ([]patra.AuditEntry, error) {
	var conds []cond
	add := func(name, text string, set bool, value any) {
		if set {
			conds = append(conds, cond{name, text, []any{value}})
		}
	}
	add("actor", "actor = ?", f.Actor != "", f.Actor)
	add("action", "action_code = ?", f.Action != "", f.Action)
	add("target", "target = ?", f.Target != "", f.Target)
	add("since", "created_at >= ?", f.Since != 0, f.Since)
	return listPage(ctx, s, listing{"list_audit", `SELECT ` + auditColumns + ` FROM ing_audit WHERE {where} ORDER BY seq DESC LIMIT ?`, "seq"}, conds, ListPage{f.Before, f.Limit, f.Walk}, scanAudit)
}

// VerifyAudit follows the log from its first entry to its last, and tells how many fit and where it breaks first. Entries
// may be added meanwhile: where the log ends is read after its entries, so none of them can be beyond it.
func (s *Store) VerifyAudit(ctx context.Context) (n int64, broken *patra.AuditBreak, err error) {
	var chain patra.AuditChain
	for {
		before := n
		if n, broken, err = s.followAudit(ctx, &chain, n); err != nil || broken != nil {
			return n, broken, err
		}
		var head patra.AuditHead
		if _, err := s.read(ctx).one(auditHead, nil, &head.Seq, &head.Hash); err != nil {
			return n, nil, err
		}
		if head.Seq <= n || n == before {
			return n, chain.End(head), nil
		}
	}
}

// followAudit follows the log from an entry to its end.
func (s *Store) followAudit(ctx context.Context, chain *patra.AuditChain, last int64) (n int64, broken *patra.AuditBreak, err error) {
	for n = last; ; {
		more := false
		err := s.read(ctx).rows(nextAudit, func(r *sql.Rows) error {
			e, err := scanAudit(r)
			if err != nil || broken != nil {
				return err
			}
			if broken = chain.Verify(e); broken == nil {
				n, more = e.Seq, true
			}
			return nil
		}, n)
		if err != nil || broken != nil || !more {
			return n, broken, err
		}
	}
}
