package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// backupStore is a migrated store in a file, and a place for copies.
func backupStore(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(dir, "a?b c.db")) // a name that is no part of a URL
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, t.TempDir()
}

// A copy that is not sound is found to be so.
func TestADamagedCopyIsNoticed(t *testing.T) {
	s, dir := backupStore(t)
	file := filepath.Join(dir, "copy #1.db")
	c, err := s.Backup(t.Context(), file, func(int64, int64) {})
	if err != nil || c.Bytes == 0 || c.Version == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 16 << 10
	for n := 1; n <= 5; n++ { // of each of some pages the first bytes, which say what it is
		broken := append([]byte(nil), whole...)
		for i := range 16 {
			broken[n*page+i] ^= 0xff
		}
		if err := os.WriteFile(file, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := inspectCopy(t.Context(), file); err == nil {
			t.Errorf("nobody notices that page %d is damaged", n+1)
		}
	}
}

// A backup has all that was committed before it began, and of what comes later a beginning: never the second without the first.
func TestABackupHasWhatWasCommitted(t *testing.T) {
	s, dir := backupStore(t)
	if _, err := s.db.Exec("CREATE TABLE count_up (n INTEGER PRIMARY KEY, fill TEXT)"); err != nil {
		t.Fatal(err)
	}
	var written atomic.Int64
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if _, err := s.db.Exec("INSERT INTO count_up VALUES (?, ?)", written.Load()+1, strings.Repeat("x", 5000)); err != nil {
				stopped <- err
				return
			}
			written.Add(1)
		}
	}()
	for i := range 5 {
		before := written.Load()
		file := filepath.Join(dir, fmt.Sprint(i, ".db"))
		if _, err := s.Backup(t.Context(), file, func(int64, int64) {}); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", fileURL(file)+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		var n, last int64
		err = db.QueryRow("SELECT COUNT(*), COALESCE(MAX(n), 0) FROM count_up").Scan(&n, &last)
		if db.Close(); err != nil || n < before || n != last {
			t.Errorf("backup %d has %d rows up to %d, and %d were there before it, %v", i, n, last, before, err)
		}
		for written.Load() < before+20 && len(stopped) == 0 {
			<-time.After(time.Millisecond)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A backup that is called off leaves nothing.
func TestABackupThatIsCalledOff(t *testing.T) {
	s, dir := backupStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Backup(ctx, filepath.Join(dir, "b.db"), func(int64, int64) {})
	left, readErr := os.ReadDir(dir)
	if !errors.Is(err, context.Canceled) || readErr != nil || len(left) != 0 {
		t.Errorf("%v, %v, %v", err, left, readErr)
	}
}
