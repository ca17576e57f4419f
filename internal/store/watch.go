package store

import (
	"context"
	"errors"
	"os"
	"time"

	"patra"
)

// Watcher is told what the store costs, and what became of it. It is called on the way of every statement, from many
// goroutines at once: it must be quick.
type Watcher interface {
	// Statement is told how long a statement took, with the reading of its rows.
	Statement(name string, took time.Duration)
	// Retried is told that a whole transaction is tried again, and why: one of the reasons below.
	Retried(reason string)
	// Refused is told that a transaction was given up because of the store itself.
	Refused()
	// Advanced is told that a watermark has moved forward, once that is committed.
	Advanced(n patra.Namespace)
}

// Why a transaction is tried again.
const (
	RetryBusy   = "busy"   // somebody else had the rows, or the file
	RetryBroken = "broken" // the connection broke
	RetrySlow   = "slow"   // it would have taken longer than it may
)

// Watch lets somebody look on. It is called before the store is shared.
func (s *Store) Watch(w Watcher) { s.watcher = w }

// startTimer is when a statement begins; nobody asks for the time if nobody looks on.
func (t *tx) startTimer() (at time.Time) {
	if t.s.watcher != nil {
		at = time.Now()
	}
	return at
}

// observeDuration tells how long a statement took.
func (t *tx) observeDuration(name string, began time.Time) {
	if t.s.watcher != nil {
		t.s.watcher.Statement(name, time.Since(began))
	}
}

func (s *Store) retried(err error) {
	if s.watcher == nil {
		return
	}
	switch {
	case errors.Is(err, errSlow):
		s.watcher.Retried(RetrySlow)
	case brokenConn(err):
		s.watcher.Retried(RetryBroken)
	default:
		s.watcher.Retried(RetryBusy)
	}
}

func (s *Store) refused() {
	if s.watcher != nil {
		s.watcher.Refused()
	}
}

// afterCommit tells of what a transaction did, now that it is sure.
func (t *tx) afterCommit() {
	if t == nil || t.s.watcher == nil {
		return
	}
	for _, n := range t.moved {
		t.s.watcher.Advanced(n)
	}
}

// Files is how large the embedded store is, and the log that is not in it yet. ok is false where a server keeps it.
func (s *Store) Files() (file, log int64, ok bool) {
	if s.path == "" {
		return 0, 0, false
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil { // a log that is not there is empty
			return 0
		}
		return info.Size()
	}
	return size(s.path), size(s.path + "-wal"), true
}

var (
	pingStore     = stmt{"ping", `SELECT 1`}
	tablesVersion = stmt{"tables_version", `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`}
)

// Ping reports whether the store can be asked at all.
func (s *Store) Ping(ctx context.Context) error {
	var one int64
	_, err := s.read(ctx).one(pingStore, nil, &one)
	return err
}

// SchemaCompatible reports whether this program can work with the tables. It is a plain read, and waits for nobody who writes: Check
// does not.
func (s *Store) SchemaCompatible(ctx context.Context) error {
	var have int64
	if _, err := s.read(ctx).one(tablesVersion, nil, &have); err != nil {
		return err
	}
	return SchemaVersion{Store: have, Program: newestMigration()}.verdict()
}
