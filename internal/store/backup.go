package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrServer means that something is asked of the file of an embedded store, and there is none.
var ErrServer = errors.New("the store is in a database server, which has means of its own for that")

// BackupResult is a backup that was written and looked at.
type BackupResult struct {
	Bytes   int64
	Records int64
	Version int64
}

// copyEvery is how often it is told how far a backup is.
const copyEvery = 200 * time.Millisecond

// Backup writes all that is in an embedded store at one moment to a new file, whoever writes meanwhile, and reads the file
// again to see that it is sound. The file is whole, or not there; one that is there is never touched. It holds as many
// bytes as it needs, so that is mostly less than the store has; tell hears how many are written of about how many.
func (s *Store) Backup(ctx context.Context, to string, tell func(done, all int64)) (c BackupResult, err error) {
	if s.path == "" {
		return c, ErrServer
	}
	if _, err := os.Lstat(to); err == nil {
		return c, fmt.Errorf("%s: %w", to, fs.ErrExist)
	}
	part := to + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(part)) }()
	if err := s.copyTo(ctx, part, tell); err != nil {
		return c, fmt.Errorf("backup: %w", err)
	}
	if c, err = inspectCopy(ctx, part); err != nil {
		return c, fmt.Errorf("the copy was read again and is not sound, so it is not kept: %w", err)
	}
	// A second name for what is whole: unlike a renaming, that fails where a file is.
	if err := errors.Join(f.Sync(), os.Link(part, to)); err != nil {
		return c, err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return c, err
	}
	return c, errors.Join(dir.Sync(), dir.Close())
}

// fileURL is how the driver wants a file.
func fileURL(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// copyTo has the engine write what a reader sees now. It holds up no writer, and no writer makes it begin again.
func (s *Store) copyTo(ctx context.Context, part string, tell func(done, all int64)) error {
	db, err := sql.Open("sqlite", fileURL(s.path)+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	var pages, free, size int64
	for name, into := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := db.QueryRowContext(ctx, "PRAGMA "+name).Scan(into); err != nil {
			return err
		}
	}
	done := make(chan struct{})
	defer func() { <-done }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if info, err := os.Stat(part); err == nil {
				tell(info.Size(), (pages-free)*size)
			}
			select {
			case <-ctx.Done():
			case <-time.After(copyEvery):
			}
		}
	}()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	return err
}

// inspectCopy reads a copy from its first page to its last.
func inspectCopy(ctx context.Context, path string) (c BackupResult, err error) {
	db, err := sql.Open("sqlite", fileURL(path)+"?mode=ro&immutable=1")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check")
	if err != nil {
		return c, err
	}
	defer rows.Close()
	var complaints []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return c, err
		}
		if line != "ok" {
			complaints = append(complaints, line)
		}
	}
	if err := rows.Err(); err != nil {
		return c, err
	}
	if len(complaints) > 0 {
		return c, errors.New(strings.Join(complaints, "; "))
	}
	if err := db.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM ing_record), (SELECT MAX(version_id) FROM goose_db_version)").Scan(&c.Records, &c.Version); err != nil {
		return c, err
	}
	info, err := os.Stat(path)
	if err == nil {
		c.Bytes = info.Size()
	}
	return c, err
}
