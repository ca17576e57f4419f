package store

import (
	"context"
	"database/sql"

	"patra"
)

const boundsColumns = `provenance_code, endpoint_name, address, precision_code, upper_code, evidence, found_at, asked_at, doubt, doubted_at, version`

var (
	selectBounds = stmt{"select_bounds", `SELECT ` + boundsColumns + ` FROM ing_window_bounds WHERE provenance_code = ? AND endpoint_name = ? AND address_hash = ?`}
	listBounds   = stmt{"list_bounds", `SELECT ` + boundsColumns + ` FROM ing_window_bounds WHERE ? = '' OR provenance_code = ? ORDER BY provenance_code, endpoint_name, id`}
	insertBounds = stmt{"insert_bounds", `INSERT INTO ing_window_bounds (provenance_code, endpoint_name, address_hash, address, precision_code, upper_code, evidence, found_at, asked_at, version, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`}
	updateBounds = stmt{"update_bounds", `UPDATE ing_window_bounds SET precision_code = ?, upper_code = ?, evidence = ?, found_at = ?, asked_at = ?, doubt = ?, doubted_at = ?, version = version + 1
		WHERE provenance_code = ? AND endpoint_name = ? AND address_hash = ? AND version = ?`}
)

func scanBounds(r *sql.Rows) (f patra.FoundBounds, err error) {
	err = r.Scan(&f.Source, &f.Endpoint, &f.Address, textInto{(*string)(&f.Precision)}, textInto{(*string)(&f.Upper)}, textInto{&f.Evidence}, &f.FoundAt, &f.AskedAt, textInto{&f.Doubt}, &f.DoubtedAt, &f.Version)
	return f, err
}

// WindowBounds is what was found out about the windows of an endpoint at an address; the zero value if nobody has asked.
func (s *Store) WindowBounds(ctx context.Context, source, endpoint, address string) (patra.FoundBounds, error) {
	return s.read(ctx).bounds(source, endpoint, address)
}

func (t *tx) bounds(source, endpoint, address string) (f patra.FoundBounds, err error) {
	err = t.rows(selectBounds, func(r *sql.Rows) error {
		f, err = scanBounds(r)
		return err
	}, source, endpoint, patra.HashBytes([]byte(address)))
	return f, err
}

// FoundBounds lists what was found out, of one source or of all.
func (s *Store) FoundBounds(ctx context.Context, source string) (all []patra.FoundBounds, err error) {
	err = s.read(ctx).rows(listBounds, func(r *sql.Rows) error {
		f, err := scanBounds(r)
		all = append(all, f)
		return err
	}, source, source)
	return all, err
}

// KeepWindowBounds stores what was found out, and gives what is stored then. Whoever read an older version has asked in
// vain: the finding of another counts.
func (s *Store) KeepWindowBounds(ctx context.Context, now patra.Instant, f patra.FoundBounds) (kept patra.FoundBounds, err error) {
	err = s.write(ctx, "keep window bounds", func(t *tx) error {
		if err := t.keepBounds(now, f); err != nil {
			return err
		}
		kept, err = t.bounds(f.Source, f.Endpoint, f.Address)
		return err
	})
	return kept, err
}

func (t *tx) keepBounds(now patra.Instant, f patra.FoundBounds) error {
	at := patra.HashBytes([]byte(f.Address))
	if f.Version > 0 {
		_, err := t.exec(updateBounds, optional(f.Precision), optional(f.Upper), optional(f.Evidence), f.FoundAt, f.AskedAt, optional(f.Doubt), f.DoubtedAt, f.Source, f.Endpoint, at, f.Version)
		return err
	}
	_, err := t.exec(insertBounds, f.Source, f.Endpoint, at, f.Address, optional(f.Precision), optional(f.Upper), optional(f.Evidence), f.FoundAt, f.AskedAt, now)
	if t.s.dialect.duplicate(err) { // another was the first
		return nil
	}
	return err
}

// DoubtWindowBounds opens an upper bound again, because a run has met evidence against it. It gives what is stored then,
// which is another's word if somebody has doubted it before, and fails with patra.ErrLeaseLost when another worker has the
// task.
func (s *Store) DoubtWindowBounds(ctx context.Context, c *patra.Claim, now patra.Instant, f patra.FoundBounds, why string) (kept patra.FoundBounds, err error) {
	err = s.write(ctx, "doubt window bounds", func(t *tx) error {
		if err := requireLease(t.exec(renewLease, c.For.Microseconds(), c.TaskID, c.Fence, c.Owner)); err != nil {
			return err
		}
		if err := t.keepBounds(now, f.Doubted(now, why)); err != nil {
			return err
		}
		kept, err = t.bounds(f.Source, f.Endpoint, f.Address)
		return err
	})
	return kept, err
}
