package store

import (
	"context"
	"fmt"
)

// generation is how many versions of the tables a program understands that is older than they are. The migrations of one
// generation (their numbers less than a thousand apart, within the same thousand) only add what an older program need not
// know: tables, columns that may be empty, indexes, views. So while a release is rolled out, the one before it goes on
// working with the tables of the next. Whatever would disturb it begins the next thousand.
const generation = 1000

// SchemaVersion is where the tables are, and where this program would bring them.
type SchemaVersion struct{ Store, Program int64 }

// Ahead reports whether the tables are newer than this program.
func (v SchemaVersion) Ahead() bool { return v.Store > v.Program }

// verdict refuses tables that this program cannot work with.
func (v SchemaVersion) verdict() error {
	switch {
	case v.Store == 0:
		return ErrNoTables
	case v.Store < v.Program:
		return fmt.Errorf("the store is at version %d of %d: %w", v.Store, v.Program, ErrNeedsMigration)
	case v.Store/generation > v.Program/generation:
		return fmt.Errorf("%w (it is at version %d, this program knows %d)", ErrTooNew, v.Store, v.Program)
	}
	return nil
}

// SchemaVersion asks where the tables are.
func (s *Store) SchemaVersion(ctx context.Context) (v SchemaVersion, err error) {
	if err := s.versions(ctx); err != nil {
		return v, fmt.Errorf("check store: %w", markUnavailable(err))
	}
	provider, err := s.provider()
	if err == nil {
		v.Store, v.Program, err = provider.GetVersions(ctx)
	}
	if err != nil {
		return v, fmt.Errorf("check store: %w", markUnavailable(err))
	}
	return v, nil
}

// RequireSchema refuses a store whose tables this program does not know. Tables of a newer program are good enough, if it only
// added to them.
func (s *Store) RequireSchema(ctx context.Context) error {
	v, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	return v.verdict()
}
