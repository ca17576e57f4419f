package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"patra"
)

// The records and the work of a store from before repositories were told apart are given to theirs. Which one that is stands in the
// frozen source that they were read by, and nowhere else; so this migration is no file.
const (
	adoption     = 136
	adoptionName = "0136_adopt_repositories"
)

// adopted is a frozen source that asks one repository of many.
type adopted struct{ spec, source, repository string }

// adoptRepositories may be cut off at any point: it is one transaction, and touches nothing that has its repository already.
func adoptRepositories(ctx context.Context, t *sql.Tx) error {
	all, err := frozenRepositories(ctx, t)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := a.adopt(ctx, t); err != nil {
			return fmt.Errorf("give %s its records: %w", a.repository, err)
		}
	}
	return nil
}

func frozenRepositories(ctx context.Context, t *sql.Tx) (all []adopted, err error) {
	rows, err := t.QueryContext(ctx, `SELECT spec_fingerprint, provenance_code, snapshot FROM ing_spec_snapshot WHERE snapshot LIKE '%${param.%' ORDER BY spec_fingerprint`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a adopted
		var body []byte
		if err := rows.Scan(&a.spec, &a.source, &body); err != nil {
			return nil, err
		}
		var said struct {
			Parameters map[string]string `json:"parameters"`
			Identity   []string          `json:"identity"`
			HTTP       struct {
				BaseURL string `json:"baseUrl"`
			} `json:"http"`
		}
		if json.Unmarshal(body, &said) != nil { // which is for those to tell who want to work by it
			continue
		}
		if a.repository = patra.RepositoryOf(said.Identity, said.HTTP.BaseURL, said.Parameters); a.repository != "" && len(a.repository) <= patra.MaxRepository {
			all = append(all, a)
		}
	}
	return all, rows.Err()
}

// adopt writes the repository to everything that was read by the frozen source. Tasks get its partition, so that what holds another
// repository back does not hold them; a breaker that stands between all of them is nobody's any more.
func (a adopted) adopt(ctx context.Context, t *sql.Tx) error {
	pages := `(SELECT b.id FROM ing_task_run_batch b JOIN ing_task k ON k.id = b.task_id WHERE k.spec_fingerprint = ?)`
	archived := `(SELECT x.batch_id FROM ing_archive_batch x JOIN ing_task k ON k.id = x.task_id WHERE k.spec_fingerprint = ?)`
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`UPDATE ing_record SET provider_id = CONCAT(provider_id, ?), repository = ? WHERE provenance_code = ? AND spec_fingerprint = ? AND repository IS NULL`,
			[]any{" " + a.repository, a.repository, a.source, a.spec}},
		{`UPDATE ing_quarantine SET repository = ? WHERE provenance_code = ? AND repository IS NULL AND (batch_id IN ` + pages + ` OR batch_id IN ` + archived + `)`,
			[]any{a.repository, a.source, a.spec, a.spec}},
		{`UPDATE ing_cursor SET repository = ? WHERE repository IS NULL AND id IN (SELECT cursor_id FROM ing_plan WHERE spec_fingerprint = ? AND cursor_id IS NOT NULL)`,
			[]any{a.repository, a.spec}},
		{`UPDATE ing_task SET partition_key = CONCAT(partition_key, ?) WHERE spec_fingerprint = ? AND plan_id IN (SELECT id FROM ing_plan WHERE spec_fingerprint = ? AND repository IS NULL)`,
			[]any{"/" + patra.RepositoryKey(a.repository), a.spec, a.spec}},
		{`UPDATE ing_plan SET repository = ? WHERE spec_fingerprint = ? AND repository IS NULL`, []any{a.repository, a.spec}},
		{`UPDATE ing_control SET state_code = 'CLOSED', until_at = NULL, failures = 0, version = version + 1 WHERE scope_code = 'ENDPOINT' AND kind_code = 'BREAKER' AND scope_key LIKE ? ESCAPE '!'`,
			[]any{patra.EscapeLike(a.source) + "/%"}},
	} {
		if _, err := t.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	if err := a.adoptSignals(ctx, t); err != nil {
		return err
	}
	return a.renameOpenItems(ctx, t)
}

// openRow is what the key of an open signal or item is made of.
type openRow struct {
	id                          int64
	recordType, recordID, about string
	fragment                    []byte
	open                        bool
}

func openRows(ctx context.Context, t *sql.Tx, query string, args ...any) (all []openRow, err error) {
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r openRow
		if err := rows.Scan(&r.id, textInto{&r.recordType}, textInto{&r.recordID}, textInto{&r.about}, &r.fragment, &r.open); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// adoptSignals gives a signal the repository of its record: there was one record for each id.
func (a adopted) adoptSignals(ctx context.Context, t *sql.Tx) error {
	all, err := openRows(ctx, t, `SELECT id, record_type, provider_id, reason_code, NULL, open_key IS NOT NULL FROM ing_signal WHERE provenance_code = ? AND repository IS NULL`, a.source)
	for _, r := range all {
		if err != nil {
			return err
		}
		var key any
		if r.open {
			key = signalKey(a.source, r.recordType, a.repository, r.recordID, patra.SignalReason(r.about))
		}
		_, err = t.ExecContext(ctx, `UPDATE ing_signal SET repository = ?, open_key = ? WHERE id = ?
			AND EXISTS (SELECT 1 FROM ing_record r WHERE r.provenance_code = ? AND r.record_type = ? AND r.provider_id = ? AND r.repository = ?)`,
			a.repository, key, r.id, a.source, r.recordType, scopedID(a.repository, r.recordID), a.repository)
	}
	return err
}

// renameOpenItems gives items that are still in quarantine the key under which they would be met again.
func (a adopted) renameOpenItems(ctx context.Context, t *sql.Tx) error {
	all, err := openRows(ctx, t, `SELECT q.id, q.record_type, q.provider_id, q.error_code, q.fragment, 1 FROM ing_quarantine q
		WHERE q.provenance_code = ? AND q.repository = ? AND q.status_code IN ('OPEN', 'RETRYING')`, a.source, a.repository)
	for _, r := range all {
		if err != nil {
			return err
		}
		key := patra.RejectedItem{ID: r.recordID, Code: r.about, Fragment: r.fragment}.Key(a.source, r.recordType, a.repository)
		_, err = t.ExecContext(ctx, `UPDATE ing_quarantine_seen SET open_key = ? WHERE quarantine_id = ? AND open_key IS NOT NULL`, key, r.id)
	}
	return err
}
