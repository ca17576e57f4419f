package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"patra"
)

const readAcceptanceColumns = `id, provenance_code, reason, approved_by, created_at, revoked_at`

var (
	insertReadAcceptance = stmt{"insert_read_acceptance", `INSERT INTO ing_read_acceptance (provenance_code, live_source, reason, approved_by, created_at) VALUES (?, ?, ?, ?, ?)`}
	revokeReadAcceptance = stmt{"revoke_read_acceptance", `UPDATE ing_read_acceptance SET live_source = NULL, revoked_at = ?, record_remarks = ? WHERE live_source = ?`}
	liveReadAcceptance   = stmt{"live_read_acceptance", `SELECT ` + readAcceptanceColumns + ` FROM ing_read_acceptance WHERE live_source = ?`}
	readAcceptances      = stmt{"read_acceptances", `SELECT ` + readAcceptanceColumns + ` FROM ing_read_acceptance WHERE provenance_code = ? ORDER BY id`}
)

// AcceptRead keeps a person's word that READ is enough for a source: its windows that were read without a proof are listed, and are no
// gap. Completeness does not pass them. It is refused while such a word stands.
func (s *Store) AcceptRead(ctx context.Context, now patra.Instant, word patra.ReadAcceptance) error {
	return s.write(ctx, "accept read", func(t *tx) error {
		live, err := t.readAccepted(word.Source)
		if err == nil && live != nil {
			err = patra.Invalid("", "READ is accepted for %s already, by %s: %s", word.Source, live.By, live.Reason)
		}
		if err != nil {
			return err
		}
		if _, err := t.insert(insertReadAcceptance, word.Source, word.Source, word.Reason, word.By, now); err != nil {
			return err
		}
		return t.auditAction(patra.AuditAccept, word.By, "source:"+word.Source, word.Reason, map[string]any{"state": patra.StateRead})
	})
}

// RevokeRead takes such a word back: from then on the windows are gaps again. patra.ErrNotFound if there is none.
func (s *Store) RevokeRead(ctx context.Context, now patra.Instant, word patra.ReadAcceptance) error {
	return s.write(ctx, "revoke read", func(t *tx) error {
		n, err := t.exec(revokeReadAcceptance, now, asJSON(map[string]any{"revoked_by": word.By, "reason": word.Reason}), word.Source)
		if err == nil && n == 0 {
			err = fmt.Errorf("READ is not accepted for %s: %w", word.Source, patra.ErrNotFound)
		}
		if err != nil {
			return err
		}
		return t.auditAction(patra.AuditRevoke, word.By, "source:"+word.Source, word.Reason, map[string]any{"state": patra.StateRead})
	})
}

// ReadAccepted is the word that READ is enough for a source; nil if there is none.
func (s *Store) ReadAccepted(ctx context.Context, source string) (*patra.ReadAcceptance, error) {
	return s.read(ctx).readAccepted(source)
}

func (t *tx) readAccepted(source string) (*patra.ReadAcceptance, error) {
	all, err := t.readAcceptances(liveReadAcceptance, source)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// ReadAcceptances are all that were ever given for a source, oldest first.
func (s *Store) ReadAcceptances(ctx context.Context, source string) ([]patra.ReadAcceptance, error) {
	return s.read(ctx).readAcceptances(readAcceptances, source)
}

func (t *tx) readAcceptances(st stmt, source string) (all []patra.ReadAcceptance, err error) {
	err = t.rows(st, func(r *sql.Rows) error {
		var w patra.ReadAcceptance
		err := r.Scan(&w.ID, &w.Source, textInto{&w.Reason}, textInto{&w.By}, &w.At, &w.RevokedAt)
		all = append(all, w)
		return err
	}, source)
	return all, err
}

// acceptRead adds the word for a source to facts that have windows which were read without a proof.
func (t *tx) acceptRead(source string, f *patra.CoverageFacts) (err error) {
	if slices.ContainsFunc(f.Answers, func(a patra.CoverageEntry) bool { return a.State == patra.StateRead }) {
		f.ReadAccepted, err = t.readAccepted(source)
	}
	return err
}
