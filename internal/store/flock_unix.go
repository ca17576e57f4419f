//go:build unix

package store

import (
	"os"
	"path/filepath"
	"syscall"
)

// lockMigrations keeps two processes from migrating one SQLite file at the same time. It locks the folder, not
// the file: closing any descriptor of the file would drop the locks that SQLite itself holds on it.
func (s *Store) lockMigrations() (unlock func(), err error) {
	if s.path == "" {
		return func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(s.path))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		dir.Close()
		return nil, err
	}
	return func() { dir.Close() }, nil
}
