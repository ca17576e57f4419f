package store

import (
	"context"
	"encoding/json"
	"fmt"

	"patra"
)

var (
	lockAnswer   = stmt{"lock_answer", `SELECT window_from, state_code, record_remarks FROM ing_coverage WHERE id = ? AND cursor_id = ? {lock}`}
	settleAnswer = stmt{"settle_answer", `UPDATE ing_coverage SET state_code = ?, sealed_at = ?, count_after = COALESCE(?, count_after), record_remarks = ?, proof = COALESCE(?, proof) WHERE id = ?`}
)

// ResolveDispute changes what is said about windows that were read: a person accepts a dispute, or a later count begins one.
// The remark stays with the answer for ever, and completeness is measured again. It is refused with
// patra.ErrIllegalMove when an answer is not in the state that the remark starts from; then nothing was changed.
func (s *Store) ResolveDispute(ctx context.Context, cursorID int64, answers []int64, why patra.CoverageNote) error {
	return s.write(ctx, "settle", func(t *tx) error {
		if err := patra.AnswerMoves.Check(patra.Status(why.From), patra.Status(why.To)); err != nil {
			return err
		}
		if err := t.settle(cursorID, answers, why); err != nil {
			return err
		}
		action := patra.AuditAccept
		if why.To != patra.StateSealed {
			action = patra.AuditDispute
		}
		return t.auditAction(action, why.By, patra.WorkTarget(patra.ScopeCursor, cursorID).String(), why.Reason, map[string]any{"answers": answers})
	})
}

// settle changes what is said about windows, and measures anew through where all of them are sealed.
func (t *tx) settle(cursorID int64, answers []int64, why patra.CoverageNote) error {
	c, err := t.oneCursor(lockCursor, cursorID)
	if err != nil {
		return err
	}
	if c == nil {
		return patra.ErrNotFound
	}
	from := c.SealedThrough
	for _, id := range answers {
		begin, err := t.remark(id, cursorID, why)
		if err != nil {
			return err
		}
		from = min(from, max(begin, c.Origin))
	}
	spoken, err := coverageReader{t, c.ID}.about(patra.Window{From: from, To: c.Value})
	if err != nil {
		return err
	}
	_, err = t.exec(sealCursor, patra.CoverageByState(spoken)[patra.StateSealed].Frontier(from), why.At, c.ID)
	return err
}

// remark changes one answer and tells where its window begins.
func (t *tx) remark(id, cursorID int64, why patra.CoverageNote) (begin patra.Instant, err error) {
	var state patra.Completeness
	var raw json.RawMessage
	found, err := t.one(lockAnswer, []any{id, cursorID}, &begin, &state, jsonInto{&raw})
	if err != nil {
		return begin, err
	}
	if !found || state != why.From {
		return begin, fmt.Errorf("answer %d of cursor %d is not %s: %w", id, cursorID, why.From, patra.ErrIllegalMove)
	}
	var remarks []patra.CoverageNote
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &remarks); err != nil {
			return begin, err
		}
	}
	var sealedAt any
	if why.To == patra.StateSealed {
		sealedAt = why.At
	}
	_, err = t.exec(settleAnswer, why.To, sealedAt, why.Counted, asJSON(append(remarks, why)), optionalJSON(why.Proof), id)
	return begin, err
}
