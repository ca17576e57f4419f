//go:build !unix

package store

// lockMigrations does nothing where the system has no advisory locks: migrate from one process at a time there.
func (s *Store) lockMigrations() (unlock func(), err error) { return func() {}, nil }
