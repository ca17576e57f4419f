package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrVersionsDamaged means that there are tables, and that the one which says how old they are is gone or cannot be read. Whoever
// migrated then would make anew what is there.
var ErrVersionsDamaged = errors.New("the store's table of versions (goose_db_version) is damaged, and nobody can tell how old the other tables are: restore a backup")

var (
	anyTable    = stmt{"any_table", `SELECT COUNT(*) FROM ing_plan WHERE id = 0`}
	allVersions = stmt{"all_versions", `SELECT COUNT(*), COALESCE(MAX(version_id), 0) FROM goose_db_version`}
)

// versions refuses tables of which nobody can tell how old they are. A store without tables, or one that does not answer, is
// for others to tell.
func (s *Store) versions(ctx context.Context) error {
	t := &tx{ctx: ctx, s: s, db: s.db}
	var n, newest int64
	if _, err := t.one(anyTable, nil, &n); err != nil {
		return nil //nolint:nilerr // there are none
	}
	_, err := t.one(allVersions, nil, &n, &newest)
	switch {
	case err != nil && (Unavailable(err) || ctx.Err() != nil):
		return err
	case err != nil:
		return fmt.Errorf("%w (%w)", ErrVersionsDamaged, err)
	case n == 0:
		return fmt.Errorf("%w (it is empty)", ErrVersionsDamaged)
	}
	return nil
}
