package store

import (
	"context"
	"database/sql"

	"patra"
)

var (
	selectExpired  = stmt{"select_expired", `SELECT body_sha256, location FROM ing_evidence WHERE expires_at < ? ORDER BY expires_at LIMIT 500`}
	forgetArchived = stmt{"forget_archived", `DELETE FROM ing_archive_body WHERE body_sha256 = ?`}
	deleteExpired  = stmt{"delete_expired", `DELETE FROM ing_evidence WHERE body_sha256 = ? AND expires_at < ?`}
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
				if _, err := t.exec(forgetArchived, hash); err != nil {
					return err
				}
				names = append(names, places[i])
			}
		}
		return nil
	})
	return names, err
}
