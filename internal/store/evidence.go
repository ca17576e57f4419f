package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	referBody = stmt{"refer_body", `UPDATE ing_evidence SET last_ref_at = ?,
		expires_at = CASE WHEN expires_at IS NULL OR ? IS NULL THEN NULL WHEN expires_at > ? THEN expires_at ELSE ? END WHERE body_sha256 = ?`}
	insertBody = stmt{"insert_body", `INSERT INTO ing_evidence
		(body_sha256, stored_sha256, size, stored_size, codec_code, location, redacted, last_ref_at, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`}
	selectBody = stmt{"select_body", `SELECT body_sha256, stored_sha256, size, stored_size, codec_code, location, redacted FROM ing_evidence WHERE body_sha256 = ?`}
)

// refer writes down that a body is kept and that somebody refers to it now. It is kept for as long as the one who wants it
// longest says.
func (t *tx) refer(now patra.Instant, b *patra.KeptBody) error {
	if b == nil {
		return nil
	}
	var expires any
	if b.Keep > 0 {
		expires = now.Add(b.Keep)
	}
	again := func() (int64, error) { return t.exec(referBody, now, expires, expires, expires, b.Body) }
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
func (s *Store) Body(ctx context.Context, hash string) (b patra.KeptBody, err error) {
	found, err := s.read(ctx).one(selectBody, []any{hash}, &b.Body, &b.Stored, &b.Size, &b.StoredSize, &b.Codec, textInto{&b.Location}, &b.Redacted)
	if err == nil && !found {
		err = patra.ErrNotFound
	}
	return b, err
}

var (
	selectExpired = stmt{"select_expired", `SELECT body_sha256, location FROM ing_evidence WHERE expires_at < ? ORDER BY expires_at LIMIT 500`}
	deleteExpired = stmt{"delete_expired", `DELETE FROM ing_evidence WHERE body_sha256 = ? AND expires_at < ?`}
)

// ExpireBodies forgets bodies that nobody has referred to for as long as they are kept, some at a time, and gives the names
// under which they are kept.
func (s *Store) ExpireBodies(ctx context.Context, now patra.Instant) (names []string, err error) {
	var hashes, places []string
	err = s.read(ctx).rows(selectExpired, func(r *sql.Rows) error {
		var hash, place string
		err := r.Scan(&hash, textInto{&place})
		hashes, places = append(hashes, hash), append(places, place)
		return err
	}, now)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, "expire bodies", func(t *tx) error {
		names = names[:0]
		for i, hash := range hashes {
			n, err := t.exec(deleteExpired, hash, now)
			if err != nil {
				return err
			}
			if n == 1 { // nobody referred to it meanwhile
				names = append(names, places[i])
			}
		}
		return nil
	})
	return names, err
}
