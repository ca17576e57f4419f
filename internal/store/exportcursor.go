package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"patra"
)

// The states of an export that goes on from one time to the next.
const (
	ExportDone    = "DONE"    // what was taken stands where it should
	ExportOpen    = "OPEN"    // a haul is being taken, or whoever took it was cut off
	ExportWritten = "WRITTEN" // it is whole on disk, and gets its name now
)

// Why an export does not begin or end.
var (
	ErrExportOpen    = errors.New("the export was begun and not finished")
	ErrExportFilter  = errors.New("the export has another filter")
	ErrExportTaken   = errors.New("somebody else has taken the export over")
	ErrExportUnknown = errors.New("there is no such export")
)

// Export is how far an export has come.
type Export struct {
	Name       string          `json:"name"`
	FilterHash string          `json:"filter_hash"`
	Filter     json.RawMessage `json:"filter"`
	State      string          `json:"state"`
	TakenTo    patra.Instant   `json:"taken_to"`          // everything that changed until then was taken
	HaulTo     *patra.Instant  `json:"haul_to,omitempty"` // the end of the haul that is open
	Place      string          `json:"place,omitempty"`   // where the last haul went
	SHA256     string          `json:"place_sha256,omitempty"`
	Owner      string          `json:"-"`
	Fresh      bool            `json:"-"`            // the haul was fixed just now
	Haul       int64           `json:"haul_records"` // in the last haul
	Exports    int64           `json:"exports"`
	Records    int64           `json:"records"`
	StartedAt  *patra.Instant  `json:"started_at,omitempty"`
	FinishedAt *patra.Instant  `json:"finished_at,omitempty"`
}

const exportColumns = `name, filter_hash, filter, state_code, taken_to, haul_to, place, place_sha256, owner, haul_records, exports, records, started_at, finished_at`

var (
	databaseNow  = stmt{"database_now", `SELECT {now}`}
	selectExport = stmt{"select_export", `SELECT ` + exportColumns + ` FROM ing_export WHERE name = ? {lock}`}
	listExports  = stmt{"list_exports", `SELECT ` + exportColumns + ` FROM ing_export ORDER BY name`}
	insertExport = stmt{"insert_export", `INSERT INTO ing_export (name, filter_hash, filter, state_code, taken_to, haul_records, exports, records, created_at) VALUES (?, ?, ?, 'DONE', ?, 0, 0, 0, {now})`}
	openExport   = stmt{"open_export", `UPDATE ing_export SET state_code = 'OPEN', haul_to = ?, place = ?, place_sha256 = NULL, owner = ?, started_at = {now} WHERE name = ?`}
	sealExport   = stmt{"seal_export", `UPDATE ing_export SET state_code = 'WRITTEN', place_sha256 = ?, haul_records = ? WHERE name = ? AND owner = ? AND state_code = 'OPEN'`}
	closeExport  = stmt{"close_export", `UPDATE ing_export SET state_code = 'DONE', taken_to = haul_to, haul_to = NULL, owner = NULL, exports = exports + 1, records = records + haul_records, finished_at = {now}
		WHERE name = ? AND owner = ? AND state_code = 'WRITTEN'`}
	reopenExport = stmt{"reopen_export", `UPDATE ing_export SET state_code = 'OPEN', place_sha256 = NULL WHERE name = ? AND owner = ? AND state_code = 'WRITTEN'`}
	leaveExport  = stmt{"leave_export", `UPDATE ing_export SET state_code = 'DONE', haul_to = NULL, owner = NULL WHERE name = ? AND owner = ? AND state_code <> 'DONE'`}
	adoptExport  = stmt{"adopt_export", `UPDATE ing_export SET owner = ? WHERE name = ?`}
	resetExport  = stmt{"reset_export", `DELETE FROM ing_export WHERE name = ?`}
)

// neverTaken is before everything that ever changed.
const neverTaken patra.Instant = -1

// BeginExport takes up an export: it fixes the haul from what was taken before to what has settled. A haul that was
// begun and not finished stays as it is; resume takes it over from whoever began it, and who does not ask for that is
// refused. An export that is WRITTEN is only adopted: whether its file has its name must be seen first.
//
// On SQLite this is a writing transaction among others, so none that began before is still open when it reads the clock.
func (s *Store) BeginExport(ctx context.Context, want Export, resume bool) (e Export, err error) {
	err = s.write(ctx, "begin export", func(t *tx) error {
		found, err := t.export(want.Name)
		if err != nil {
			return err
		}
		if found == nil {
			if _, err := t.exec(insertExport, want.Name, want.FilterHash, string(want.Filter), neverTaken); err != nil {
				return err
			}
			found = &Export{State: ExportDone, FilterHash: want.FilterHash, TakenTo: neverTaken}
		}
		switch {
		case found.FilterHash != want.FilterHash:
			e = *found
			return ErrExportFilter
		case found.State != ExportDone && !resume:
			e = *found
			return ErrExportOpen
		case found.State == ExportWritten:
			_, err := t.exec(adoptExport, want.Owner, want.Name)
			e, e.Owner = *found, want.Owner
			return err
		}
		to := found.HaulTo
		if to == nil {
			var now patra.Instant
			if _, err := t.one(databaseNow, nil, &now); err != nil {
				return err
			}
			found.Fresh = true
			to = new(patra.NextExportWindow(found.TakenTo, now).To)
		}
		if _, err := t.exec(openExport, to, want.Place, want.Owner, want.Name); err != nil {
			return err
		}
		e = *found
		e.Name, e.Filter, e.State, e.HaulTo, e.Place, e.Owner = want.Name, want.Filter, ExportOpen, to, want.Place, want.Owner
		return nil
	})
	return e, err
}

// SealExport notes that a haul is whole on disk, before it gets its name there. Whoever comes after a crash can tell
// from the hash whether it got it.
func (s *Store) SealExport(ctx context.Context, e Export, sha256 string, records int64) error {
	return s.moveExport(ctx, "seal export", sealExport, optional(sha256), records, e.Name, e.Owner)
}

// FinishExport moves an export on behind the haul that was taken.
func (s *Store) FinishExport(ctx context.Context, e Export) error {
	return s.moveExport(ctx, "finish export", closeExport, e.Name, e.Owner)
}

// ReopenExport takes back that a haul is whole: what was written is gone.
func (s *Store) ReopenExport(ctx context.Context, e Export) error {
	return s.moveExport(ctx, "reopen export", reopenExport, e.Name, e.Owner)
}

// AbandonExport lets go of a haul of which nothing is kept. The next export takes it anew, and what has settled since.
func (s *Store) AbandonExport(ctx context.Context, e Export) error {
	return s.moveExport(ctx, "abandon export", leaveExport, e.Name, e.Owner)
}

func (s *Store) moveExport(ctx context.Context, name string, st stmt, args ...any) error {
	return s.write(ctx, name, func(t *tx) error {
		n, err := t.exec(st, args...)
		if err == nil && n != 1 {
			err = ErrExportTaken
		}
		return err
	})
}

// ResetExport forgets an export: the next one of that name takes everything.
func (s *Store) ResetExport(ctx context.Context, name, actor string) error {
	return s.write(ctx, "reset export", func(t *tx) error {
		n, err := t.exec(resetExport, name)
		if err == nil && n == 0 {
			err = ErrExportUnknown
		}
		if err != nil {
			return err
		}
		return t.auditAction(patra.AuditReset, actor, "export:"+name, "", nil)
	})
}

// Exports lists how far exports have come.
func (s *Store) Exports(ctx context.Context) ([]Export, error) {
	all := []Export{}
	err := s.read(ctx).rows(listExports, func(r *sql.Rows) error {
		e, err := scanExport(r)
		all = append(all, e)
		return err
	})
	return all, err
}

func (t *tx) export(name string) (found *Export, err error) {
	err = t.rows(selectExport, func(r *sql.Rows) error {
		e, err := scanExport(r)
		found = &e
		return err
	}, name)
	return found, err
}

func scanExport(r *sql.Rows) (e Export, err error) {
	err = r.Scan(&e.Name, &e.FilterHash, jsonInto{&e.Filter}, &e.State, &e.TakenTo, &e.HaulTo, textInto{&e.Place}, textInto{&e.SHA256}, textInto{&e.Owner}, &e.Haul, &e.Exports, &e.Records, &e.StartedAt, &e.FinishedAt)
	return e, err
}
