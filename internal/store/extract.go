package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"patra"
)

// ExportQuery is which records are taken out, and where to begin. Zero values do not narrow.
type ExportQuery struct {
	RecordQuery
	Sources []string             // any of these
	Present bool                 // only those that the provider did not delete
	NotGone bool                 // only those that are not gone: refused too often by the provider
	Raw     bool                 // with what the provider sent; without it much less is read
	UpTo    int64                // by arrival: no row beyond this one; 0 is the newest at the beginning
	Changed *patra.ExportWindow  // what changed in it, by source and time of change, in place of everything by arrival
	After   patra.ExportPosition // go on behind it
}

// One page of an extract is what fits into about so many bytes.
const (
	pageRows  = 500
	pageBytes = 4 << 20
)

var (
	newestRecord = stmt{"newest_record", `SELECT COALESCE(MAX(id), 0) FROM ing_record`}
	nextSource   = stmt{"next_source", `SELECT MIN(provenance_code) FROM ing_record WHERE provenance_code > ?`}
	countChanged = stmt{"count_extract", `SELECT COUNT(*) FROM ing_record WHERE provenance_code = ? AND changed_at > ? AND changed_at <= ?`}
)

// Newest is the row that arrived last.
func (s *Store) Newest(ctx context.Context) (id int64, err error) {
	_, err = s.read(ctx).one(newestRecord, nil, &id)
	return id, err
}

// RecordSources are the sources that have records.
func (s *Store) RecordSources(ctx context.Context) (all []string, err error) {
	for last := ""; ; { // one look into the index for each, and not one for each record
		var next sql.NullString
		if _, err = s.read(ctx).one(nextSource, []any{last}, &next); err != nil || !next.Valid {
			return all, err
		}
		last = next.String
		all = append(all, last)
	}
}

// EstimateCount is about how many records an extract has: conditions on what they say are left aside, so it may be fewer.
func (s *Store) EstimateCount(ctx context.Context, x ExportQuery) (n int64, err error) {
	haul := patra.ExportWindow{From: -1 << 62, To: 1<<62 - 1}
	if x.Changed != nil {
		haul = *x.Changed
	}
	if x.ChangedSince != nil {
		haul.From = max(haul.From, *x.ChangedSince-1)
	}
	sources, err := s.sourcesOf(ctx, x)
	if err != nil {
		return 0, err
	}
	for _, source := range sources {
		var some int64
		if _, err := s.read(ctx).one(countChanged, []any{source, haul.From, haul.To}, &some); err != nil {
			return 0, err
		}
		n += some
	}
	if x.Limit > 0 {
		n = min(n, x.Limit)
	}
	return n, nil
}

func (s *Store) sourcesOf(ctx context.Context, x ExportQuery) ([]string, error) {
	all, err := s.RecordSources(ctx)
	if len(x.Sources) > 0 {
		all = slices.DeleteFunc(all, func(code string) bool { return !slices.Contains(x.Sources, code) })
	}
	return all, err
}

// Extract hands records to use. It reads short pages, one ahead of whoever uses them: memory stays flat, and however slow
// they are, no reading transaction keeps the database from tidying up. By arrival every record comes once, in the version
// that it has when its page is read; of a haul come those whose last change lies in it.
func (s *Store) Extract(ctx context.Context, x ExportQuery, use func(patra.Record) error) (err error) {
	walks := []string{""} // one over everything
	if x.Changed != nil {
		if walks, err = s.sourcesOf(ctx, x); err != nil { // one over each source: that is how the index lies
			return err
		}
	} else if x.UpTo == 0 {
		if x.UpTo, err = s.Newest(ctx); err != nil {
			return err
		}
	}
	var group *errgroup.Group
	group, ctx = errgroup.WithContext(ctx)
	pages := make(chan []patra.Record)
	group.Go(func() error {
		defer close(pages)
		for _, source := range walks {
			if x.Changed != nil && source < x.After.Source {
				continue
			}
			if err := s.walk(ctx, x, source, pages); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		left := x.Limit
		for page := range pages {
			for _, r := range page {
				if err := use(r); err != nil {
					return err
				}
				if left--; left == 0 {
					return errEnough
				}
			}
		}
		return nil
	})
	if err := group.Wait(); err != errEnough { //nolint:errorlint // it is ours, and never wrapped
		return err
	}
	return nil
}

// errEnough ends a read before its end.
var errEnough = constant("enough")

type constant string

// Error implements error.
func (c constant) Error() string { return string(c) }

// walk reads pages one after the other.
func (s *Store) walk(ctx context.Context, x ExportQuery, source string, pages chan<- []patra.Record) error {
	after, rows := x.After, int64(pageRows)
	if after.Source != source {
		after = patra.ExportPosition{ID: after.ID}
		if x.Changed != nil {
			after = patra.ExportPosition{ChangedAt: x.Changed.From + 1}
		}
	}
	for {
		st, args := x.page(s.dialect, source, after, rows)
		page, err := s.read(ctx).records(st, args...)
		if err != nil || len(page) == 0 {
			return err
		}
		size := int64(0)
		for _, rec := range page {
			size += int64(len(rec.Fields) + len(rec.Raw) + 512)
		}
		last := page[len(page)-1]
		select {
		case pages <- page:
		case <-ctx.Done():
			return ctx.Err()
		}
		if after = patra.PositionOf(last); x.Changed == nil {
			after.Source = ""
		}
		rows = min(max(int64(len(page))*pageBytes/size, 1), pageRows)
	}
}

// page is the next page behind a mark.
func (x ExportQuery) page(d dialect, source string, after patra.ExportPosition, rows int64) (stmt, []any) {
	q := x.RecordQuery
	q.Source = ""
	where, args := q.where(d)
	args[0] = after.ID
	order := "r.id"
	if x.Changed != nil {
		where = strings.Replace(where, "r.id > ?", "r.provenance_code = ? AND r.changed_at >= ? AND r.changed_at <= ? AND (r.changed_at > ? OR r.id > ?)", 1)
		args = append([]any{source, after.ChangedAt, x.Changed.To, after.ChangedAt}, args...)
		order = "r.changed_at, r.id"
	} else {
		where += " AND r.id <= ?"
		args = append(args, x.UpTo)
		if len(x.Sources) > 0 { // not as a plain comparison: an index by source would be followed by sorting everything that is left
			where += " AND COALESCE(r.provenance_code, '') IN (" + marks(len(x.Sources)) + ")"
			for _, code := range x.Sources {
				args = append(args, code)
			}
		}
	}
	if x.Present {
		where += " AND r.deleted = 0"
	}
	if x.NotGone {
		where += " AND NOT EXISTS (SELECT 1 FROM ing_absence a WHERE a.live_id = r.id AND a.status_code = ?)"
		args = append(args, patra.AbsenceGone)
	}
	columns := recordColumns
	if !x.Raw {
		columns = strings.Replace(columns, rawColumns, "'null', 'JSON', NULL, NULL", 1)
	}
	return stmt{"extract_records", `SELECT ` + columns + ` FROM ing_record r WHERE ` + where + ` ORDER BY ` + order + ` LIMIT ?`}, append(args, rows)
}
