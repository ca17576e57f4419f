package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // a floor for each engine
)

// sink is a table of records, a ledger and a watermark.
type sink struct {
	db    *sql.DB
	multi bool // several rows in a statement, where that is the faster way
}

var tables = []string{
	`CREATE TABLE record (source VARCHAR(64) NOT NULL, id VARCHAR(255) NOT NULL, updated VARCHAR(32) NOT NULL, sha CHAR(64) NOT NULL, raw %s NOT NULL, PRIMARY KEY (source, id))`,
	`CREATE TABLE ledger (day VARCHAR(10) NOT NULL, no INTEGER NOT NULL, records INTEGER NOT NULL, PRIMARY KEY (day, no))`,
	`CREATE TABLE watermark (source VARCHAR(64) NOT NULL PRIMARY KEY, day VARCHAR(10) NOT NULL)`,
	`INSERT INTO watermark VALUES ('floor', '')`,
}

func open(ctx context.Context, url string, writers int) (*sink, error) {
	s := &sink{}
	var err error
	raw := "TEXT"
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		s.db, err = sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=page_size(32768)&_pragma=cache_size(-65536)&_journal_mode=WAL&_synchronous=FULL")
	} else {
		s.multi, raw = true, "MEDIUMTEXT"
		s.db, err = sql.Open("mysql", strings.TrimPrefix(url, "mysql:"))
	}
	if err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(max(writers, 1))
	for _, t := range tables {
		if strings.Contains(t, "%s") {
			t = fmt.Sprintf(t, raw)
		}
		if _, err := s.db.ExecContext(ctx, t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sink) close() { s.db.Close() }

const upsert = `INSERT INTO record (source, id, updated, sha, raw) VALUES (?, ?, ?, ?, ?) ON CONFLICT (source, id) DO UPDATE SET updated = excluded.updated, sha = excluded.sha, raw = excluded.raw WHERE excluded.updated >= record.updated`

// together is how many rows a statement has, where it has several.
const together = 200

// write writes a page, again if a server let another go first.
func (s *sink) write(ctx context.Context, b batch) error {
	for {
		err := s.page(ctx, b)
		var said *mysql.MySQLError
		if !errors.As(err, &said) || said.Number != deadlock {
			return err
		}
	}
}

// deadlock is what a server says to one of two who wait for each other.
const deadlock = 1213

// page is one page: its records, its row in the ledger, the watermark.
func (s *sink) page(ctx context.Context, b batch) error {
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if s.multi {
		err = multi(ctx, t, b.records)
	} else {
		err = single(ctx, t, b.records)
	}
	if err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, `INSERT INTO ledger VALUES (?, ?, ?)`, plain(b.day), b.no, len(b.records)); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, `UPDATE watermark SET day = ? WHERE source = 'floor' AND day < ?`, plain(b.day), plain(b.day)); err != nil {
		return err
	}
	return t.Commit()
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func single(ctx context.Context, t *sql.Tx, all []record) error {
	p, err := t.PrepareContext(ctx, upsert)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, r := range all {
		if _, err := p.ExecContext(ctx, "floor", r.id, r.updated, hash(r.raw), string(r.raw)); err != nil {
			return err
		}
	}
	return nil
}

func multi(ctx context.Context, t *sql.Tx, all []record) error {
	var p *sql.Stmt
	for had := 0; len(all) > 0; {
		n := min(together, len(all))
		if n != had {
			var err error
			text := `INSERT INTO record (source, id, updated, sha, raw) VALUES ` + strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?), ", n), ", ") +
				` ON DUPLICATE KEY UPDATE sha = IF(VALUES(updated) >= updated, VALUES(sha), sha), raw = IF(VALUES(updated) >= updated, VALUES(raw), raw), updated = GREATEST(updated, VALUES(updated))`
			if p, err = t.PrepareContext(ctx, text); err != nil {
				return err
			}
			defer p.Close() //nolint:gocritic // one or two statements a page
			had = n
		}
		args := make([]any, 0, 5*n)
		for _, r := range all[:n] {
			args = append(args, "floor", r.id, r.updated, hash(r.raw), string(r.raw))
		}
		if _, err := p.ExecContext(ctx, args...); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}
