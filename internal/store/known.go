package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	selectKnown = stmt{"select_known", `SELECT provider_id FROM ing_record WHERE provenance_code = ? AND record_type = ? AND provider_id > ? AND deleted = 0 ORDER BY provider_id LIMIT ?`}
)

// knownAtOnce is how many ids are looked at in one read.
const knownAtOnce = 10_000

// SeedItems puts the known ids of some buckets on the list of a task, as if a search had given them, and tells how many
// are on it. A task that was interrupted has its list already and keeps it.
func (s *Store) SeedItems(ctx context.Context, c *patra.Claim, now patra.Instant, recordType string, r patra.SliceRange) (int64, error) {
	ids, err := s.known(ctx, c.Task.Source, recordType, r)
	if err != nil {
		return 0, err
	}
	var items int64
	err = s.write(ctx, "seed items", func(t *tx) error {
		if err := t.guard(c.Lease, patra.PhaseDetail, c.Task.ScanNo, c.Task.NextDetail); err != nil {
			return err
		}
		var open, gone int64
		if _, err := t.one(itemSum, []any{c.TaskID, c.Task.ScanNo}, &items, &open, &gone); err != nil || items > 0 {
			return err
		}
		items = int64(len(ids))
		return t.addItems(c, now, patra.OpenPage{PageOpen: patra.PageOpen{ScanNo: c.Task.ScanNo}}, ids)
	})
	return items, err
}

// known are the ids in some buckets, in order. It reads in steps, so that nobody waits for it.
func (s *Store) known(ctx context.Context, source, recordType string, r patra.SliceRange) (ids []string, err error) {
	for after, n := "", knownAtOnce; n == knownAtOnce; {
		n = 0
		err := s.read(ctx).rows(selectKnown, func(rows *sql.Rows) error {
			if err := rows.Scan(textInto{&after}); err != nil {
				return err
			}
			n++
			if b := patra.Bucket(after, r.Of.To); r.From <= b && b < r.To {
				ids = append(ids, after)
			}
			return nil
		}, source, recordType, after, knownAtOnce)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}
