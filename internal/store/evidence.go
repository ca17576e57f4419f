package store

import (
	"context"
	"database/sql"
	"slices"

	"patra"
)

var (
	// What is known of the bytes is that of the last ones: they have taken the place of those from before, and differ from
	// them when more secrets were taken out, or when they are packed in another way.
	referBody = stmt{"refer_body", `UPDATE ing_evidence SET stored_sha256 = ?, size = ?, stored_size = ?, codec_code = ?, location = ?, redacted = ?, last_ref_at = ?,
		expires_at = CASE WHEN expires_at IS NULL OR ? IS NULL THEN NULL WHEN expires_at > ? THEN expires_at ELSE ? END WHERE body_sha256 = ?`}
	insertBody = stmt{"insert_body", `INSERT INTO ing_evidence
		(body_sha256, stored_sha256, size, stored_size, codec_code, location, redacted, last_ref_at, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	selectBody    = stmt{"select_body", `SELECT ` + bodyColumns + ` FROM ing_evidence WHERE body_sha256 = ?`}
	allBodies     = stmt{"all_bodies", `SELECT ` + bodyColumns + `, COALESCE(expires_at, 0) FROM ing_evidence e WHERE body_sha256 > ? AND {where} ORDER BY body_sha256 LIMIT 500`}
	bodyPages     = stmt{"body_pages", `SELECT b.id, b.run_id, b.task_id, b.batch_no, b.provenance_code, b.phase_code, b.ordinal, b.status_code FROM ing_task_run_batch b WHERE b.body_sha256 = ? ORDER BY b.id LIMIT 3`}
	archivedPages = stmt{"archived_body_pages", `SELECT a.batch_id, a.run_id, a.task_id, a.batch_no, a.provenance_code, '', 0, 'SUCCEEDED' FROM ing_archive_body a WHERE a.body_sha256 = ? ORDER BY a.batch_id LIMIT 3`}
	firstBody     = stmt{"first_body", `SELECT COALESCE(MIN(created_at), 0) FROM ing_evidence`}
	newestBodies  = stmt{"newest_bodies", someBodies + `DESC LIMIT 100) b JOIN ing_evidence e ON e.body_sha256 = b.body_sha256 AND (e.expires_at IS NULL OR e.expires_at > ?) ORDER BY b.id DESC LIMIT ?`}
	oldestBodies  = stmt{"oldest_bodies", someBodies + `ASC LIMIT 100) b JOIN ing_evidence e ON e.body_sha256 = b.body_sha256 AND (e.expires_at IS NULL OR e.expires_at > ?) ORDER BY b.id LIMIT ?`}
	unkept        = stmt{"unkept_pages", `SELECT b.id, b.run_id, b.task_id, b.batch_no, b.provenance_code, b.phase_code, b.ordinal, b.status_code, b.body_sha256, b.committed_at, COALESCE(b.kept, 1) FROM ing_task_run_batch b
		WHERE b.id > ? AND b.status_code = 'SUCCEEDED' AND b.body_sha256 IS NOT NULL AND (? = '' OR b.provenance_code = ?) AND b.committed_at >= ?
		AND NOT EXISTS (SELECT 1 FROM ing_evidence e WHERE e.body_sha256 = b.body_sha256) ORDER BY b.id LIMIT 500`}
	unkeptArchived = stmt{"unkept_archived_pages", `SELECT a.batch_id, a.run_id, a.task_id, a.batch_no, a.provenance_code, '', 0, 'SUCCEEDED', a.body_sha256, a.committed_at, 1 FROM ing_archive_body a
		WHERE a.batch_id > ? AND (? = '' OR a.provenance_code = ?) AND a.committed_at >= ?
		AND NOT EXISTS (SELECT 1 FROM ing_evidence e WHERE e.body_sha256 = a.body_sha256) ORDER BY a.batch_id LIMIT 500`}
)

const bodyColumns = `body_sha256, stored_sha256, size, stored_size, codec_code, location, redacted`

// someBodies are the bodies of some pages at one end of the ledger, by its key: looking at all bodies would take too long.
const someBodies = `SELECT e.body_sha256, e.stored_sha256, e.size, e.stored_size, e.codec_code, e.location, e.redacted
		FROM (SELECT id, body_sha256 FROM ing_task_run_batch WHERE body_sha256 IS NOT NULL ORDER BY id `

// SampleBodies are the newest and the oldest few of the bodies that are kept, each once. They are cheap to find.
func (s *Store) SampleBodies(ctx context.Context, now patra.Instant, most int) (all []patra.StoredBody, err error) {
	seen := map[string]bool{}
	for _, st := range []stmt{newestBodies, oldestBodies} {
		err := s.read(ctx).rows(st, func(r *sql.Rows) error {
			var b patra.StoredBody
			err := r.Scan(&b.Body, &b.Stored, &b.Size, &b.StoredSize, &b.Codec, textInto{&b.Location}, &b.Redacted)
			if err == nil && !seen[b.Body] {
				seen[b.Body], all = true, append(all, b)
			}
			return err
		}, now, most)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// refer writes down that a body is kept and that somebody refers to it now. It is kept for as long as the one who wants it
// longest says.
func (t *tx) refer(now patra.Instant, b *patra.StoredBody) error {
	if b == nil {
		return nil
	}
	var expires any
	if b.Keep > 0 {
		expires = now.Add(b.Keep)
	}
	again := func() (int64, error) {
		return t.exec(referBody, b.Stored, b.Size, b.StoredSize, b.Codec, b.Location, b.Redacted, now, expires, expires, expires, b.Body)
	}
	if n, err := again(); err != nil || n > 0 {
		return err
	}
	_, err := t.exec(insertBody, b.Body, b.Stored, b.Size, b.StoredSize, b.Codec, b.Location, b.Redacted, now, expires, now)
	if t.s.dialect.duplicate(err) { // the same body came twice at the same time
		_, err = again()
	}
	return err
}

// Body is what is kept of a body; not found if it never was, or no longer is.
func (s *Store) Body(ctx context.Context, hash string) (b patra.StoredBody, err error) {
	found, err := s.read(ctx).one(selectBody, []any{hash}, &b.Body, &b.Stored, &b.Size, &b.StoredSize, &b.Codec, textInto{&b.Location}, &b.Redacted)
	if err == nil && !found {
		err = patra.ErrNotFound
	}
	return b, err
}

// Bodies hands every kept body to use, with the time at which it need not be there any more (0 is never). With a source or
// a time only those that pages of it, or since then, refer to.
func (s *Store) Bodies(ctx context.Context, source string, since patra.Instant, use func(b patra.StoredBody, expires patra.Instant) error) error {
	where, args := "1 = 1", []any{}
	if source != "" || since != 0 {
		where = `(EXISTS (SELECT 1 FROM ing_task_run_batch b WHERE b.body_sha256 = e.body_sha256 AND (? = '' OR b.provenance_code = ?) AND b.committed_at >= ?)
			OR EXISTS (SELECT 1 FROM ing_archive_body a WHERE a.body_sha256 = e.body_sha256 AND (? = '' OR a.provenance_code = ?) AND a.committed_at >= ?))`
		args = []any{source, source, since, source, source, since}
	}
	type row struct {
		patra.StoredBody
		expires patra.Instant
	}
	for last := ""; ; {
		var part []row
		err := s.read(ctx).rows(allBodies.with(where), func(r *sql.Rows) error {
			var b row
			err := r.Scan(&b.Body, &b.Stored, &b.Size, &b.StoredSize, &b.Codec, textInto{&b.Location}, &b.Redacted, &b.expires)
			part = append(part, b)
			return err
		}, slices.Concat([]any{last}, args)...)
		if err != nil || len(part) == 0 {
			return err
		}
		for _, b := range part {
			if err := use(b.StoredBody, b.expires); err != nil {
				return err
			}
			last = b.Body
		}
	}
}

// CountBodies tells how many bodies are kept, of all sources and times.
func (s *Store) CountBodies(ctx context.Context) (n int64, err error) {
	_, err = s.read(ctx).one(stmt{"count_bodies", `SELECT COUNT(*) FROM ing_evidence`}, nil, &n)
	return n, err
}

// FirstBody is when the first of the bodies that are kept came; 0 if there is none.
func (s *Store) FirstBody(ctx context.Context) (at patra.Instant, err error) {
	_, err = s.read(ctx).one(firstBody, nil, &at)
	return at, err
}

func scanPlace(r *sql.Rows, more ...any) (b patra.Batch, err error) {
	err = r.Scan(append([]any{&b.ID, &b.RunID, &b.TaskID, &b.BatchNo, &b.Source, &b.Phase, &b.Ordinal, &b.Status}, more...)...)
	return b, err
}

// PagesWith are some of the pages that a body belongs to, or of those that are in an archive.
func (s *Store) PagesWith(ctx context.Context, body string) (pages []patra.Batch, err error) {
	for _, st := range []stmt{bodyPages, archivedPages} {
		err = s.read(ctx).rows(st, func(r *sql.Rows) error {
			b, err := scanPlace(r)
			b.BodySHA256 = body
			pages = append(pages, b)
			return err
		}, body)
		if err != nil || len(pages) > 0 {
			break
		}
	}
	return pages, err
}

// PagesWithoutBody hands every page to use that was read and whose body has no row any more, or never had one; wanted is false for
// those whose answers nobody wanted to keep. Of pages in an archive only those are looked at whose answers were kept when they
// went there.
func (s *Store) PagesWithoutBody(ctx context.Context, source string, since patra.Instant, use func(b patra.Batch, wanted bool) error) error {
	for _, st := range []stmt{unkept, unkeptArchived} {
		if err := s.unkept(ctx, st, source, since, use); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) unkept(ctx context.Context, st stmt, source string, since patra.Instant, use func(b patra.Batch, wanted bool) error) error {
	type row struct {
		patra.Batch
		kept int
	}
	for last := int64(0); ; {
		var part []row
		err := s.read(ctx).rows(st, func(r *sql.Rows) error {
			var hash string
			var at *patra.Instant
			var kept int
			b, err := scanPlace(r, &hash, &at, &kept)
			if err != nil {
				return err
			}
			b.BodySHA256, b.CommittedAt = hash, at
			part = append(part, row{b, kept})
			return nil
		}, last, source, source, since)
		if err != nil || len(part) == 0 {
			return err
		}
		for _, b := range part {
			if err := use(b.Batch, b.kept != 0); err != nil {
				return err
			}
			last = b.ID
		}
	}
}
