package store

import (
	"context"
	"errors"
	"fmt"
)

// generation is how many versions of the tables a program understands that is older than they are. The migrations of one
// generation (their numbers less than a thousand apart, within the same thousand) only add what an older program need not
// know: tables, columns that may be empty, indexes, views. So while a release is rolled out, the one before it goes on
// working with the tables of the next. Whatever would disturb it begins the next thousand.
const generation = 1000

// SchemaVersion is where the tables are, and where this program would bring them.
type SchemaVersion struct {
	Store   int64 `json:"store"`
	Program int64 `json:"program"`
}

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

// RequireOrCreate is RequireSchema for one who may make a store: an embedded one without tables gets them.
func (s *Store) RequireOrCreate(ctx context.Context) (created bool, err error) {
	err = s.RequireSchema(ctx)
	if errors.Is(err, ErrNoTables) && s.Embedded() {
		steps, err := s.Migrate(ctx)
		return len(steps) > 0, err
	}
	return false, err
}

// RequireSchema refuses a store whose tables this program does not know. Tables of a newer program are good enough, if it only
// added to them. While another process makes the tables of an embedded store, it waits for that.
func (s *Store) RequireSchema(ctx context.Context) error {
	v, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if err = v.verdict(); err == nil || !errors.Is(err, ErrNeedsMigration) || s.path == "" {
		return err
	}
	unlock, err := s.lockMigrations()
	if err != nil {
		return fmt.Errorf("check store: %w", err)
	}
	defer unlock()
	if v, err = s.SchemaVersion(ctx); err != nil {
		return err
	}
	return v.verdict()
}

// migratable refuses tables of a newer program that did more than add to them: there is nothing that this one could do.
func (s *Store) migratable(ctx context.Context) error {
	v, err := s.SchemaVersion(ctx)
	if err != nil {
		return nil // another process may be making the table of versions now; the migration itself meets any other fault
	}
	if err := v.verdict(); errors.Is(err, ErrTooNew) {
		return err
	}
	return nil
}
