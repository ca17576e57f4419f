package store

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one step of the schema that was applied.
type Migration struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
}

// ErrNeedsMigration means that the tables are older than this program, or not there.
var ErrNeedsMigration = errors.New("it needs a migration; run `patra migrate`")

// ErrNoTables means that there is nothing in the store at all: it needs its first migration.
var ErrNoTables = fmt.Errorf("the store has no tables yet: %w", ErrNeedsMigration)

// ErrTooNew means that the tables were made by a newer program, which did more than add to them.
var ErrTooNew = errors.New("the store was made by a newer patra: use that version or a newer one")

// Migrate brings the tables to this program's version. Several processes may call it at once: one works, the
// others wait and find nothing to do. The tables of a newer program are left as they are; ErrTooNew means that this one
// cannot work with them.
func (s *Store) Migrate(ctx context.Context) ([]Migration, error) {
	unlock, err := s.lockMigrations()
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer unlock()
	if err := s.versions(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if err := s.migratable(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	provider, err := s.provider()
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	var done []Migration
	for _, r := range results {
		name := strings.TrimSuffix(r.Source.Path, ".sql")
		if name == "" { // it is no file
			name = adoptionName
		}
		done = append(done, Migration{Version: r.Source.Version, Name: name})
	}
	return done, nil
}

// newestMigration is the version of the tables that this program knows.
func newestMigration() (newest int64) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for _, name := range names {
		var n int64
		if _, err := fmt.Sscanf(path.Base(name), "%d_", &n); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func (s *Store) provider() (*goose.Provider, error) {
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(adoption, &goose.GoFunc{RunTx: adoptRepositories}, nil))}
	if s.dialect.name == mysqlDialect.name {
		locker, err := lock.NewMySQLTableLocker(lock.WithTableLockTimeout(100*time.Millisecond, 600))
		if err != nil {
			return nil, err
		}
		opts = append(opts, goose.WithLocker(locker))
	}
	return goose.NewProvider(s.dialect.goose, s.db, typedFS{sub, s.dialect}, opts...)
}

// typedFS shows the migration files with the type words replaced by the engine's types.
type typedFS struct {
	fs.FS
	dialect dialect
}

// Open implements fs.FS.
func (t typedFS) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	defer f.Close()
	text, err := fs.ReadFile(t.FS, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &typedFile{Reader: bytes.NewReader([]byte(t.dialect.schema(string(text)))), info: info}, nil
}

// ReadDir lets goose list the files.
func (t typedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.FS, name) }

type typedFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *typedFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *typedFile) Close() error               { return nil }

var (
	columnLine = regexp.MustCompile(`(?m)^  (\w+) (id|n|us|code|key|hash|text|json|blob)(?:\((\d+)\))?(\?)?(,?)$`)
	uniqueLine = regexp.MustCompile(`(?m)^  UNIQUE (\w+) \(`)
	indexLine  = regexp.MustCompile(`(?m)^  INDEX (\w+) \(([^)]*)\),?\n`)
	tableName  = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`)
	alterTable = regexp.MustCompile(`ALTER TABLE (\w+)\n((?:  INDEX \w+ \([^)]*\),?\n)+);\n`)
	addIndex   = regexp.MustCompile(`(?m)^  INDEX (\w+) (\([^)]*\)),?$`)
	modified   = regexp.MustCompile(`(?s)ALTER TABLE \w+ MODIFY COLUMN\n[^;]*;`)
	reserved   = regexp.MustCompile(`\b(?:stored|last_value)\b`) // words of MySQL that are names of columns here
	chosenCode = regexp.MustCompile(`\b(THEN|ELSE) ('[A-Z_]+')`) // one of our words that a view chooses
	isoCall    = regexp.MustCompile(`ISO\((\w+)\)`)
)

// schema translates one migration file for the engine.
func (d dialect) schema(text string) string {
	text = columnLine.ReplaceAllStringFunc(text, func(line string) string {
		m := columnLine.FindStringSubmatch(line)
		return "  " + m[1] + " " + d.column(m[2], m[3], m[4] != "") + m[5]
	})
	if d.liftIndexes { // there a column holds what is put into it
		text = modified.ReplaceAllString(text, "SELECT 1;")
	}
	text = alterTable.ReplaceAllStringFunc(text, d.addIndexes)
	text = uniqueLine.ReplaceAllString(text, "  CONSTRAINT $1 UNIQUE (")
	text = isoCall.ReplaceAllStringFunc(text, func(call string) string {
		return fmt.Sprintf(d.iso, isoCall.FindStringSubmatch(call)[1])
	})
	text = reserved.ReplaceAllString(text, "`$0`")
	if strings.Contains(text, "CREATE VIEW") {
		text = chosenCode.ReplaceAllString(text, "$1 "+d.codeLiteral)
	}
	text = strings.ReplaceAll(text, "CREATE VIEW", d.createView)
	if d.liftIndexes {
		return liftIndexes(text)
	}
	if tableName.MatchString(text) {
		text = strings.Replace(text, "\n);", "\n) "+d.tableOptions+";", 1)
	}
	return text
}

// addIndexes gives a table more indexes: all in one statement where an engine cannot take back a migration that was cut off.
func (d dialect) addIndexes(alter string) string {
	table := alterTable.FindStringSubmatch(alter)[1]
	if !d.liftIndexes {
		return addIndex.ReplaceAllStringFunc(alter, func(line string) string { return "  ADD " + strings.TrimSpace(line) })
	}
	var all strings.Builder
	for _, m := range addIndex.FindAllStringSubmatch(alter, -1) {
		fmt.Fprintf(&all, "CREATE INDEX IF NOT EXISTS %s ON %s %s;\n", m[1], table, m[2])
	}
	return all.String()
}

// liftIndexes moves INDEX lines out of the table into statements of their own.
func liftIndexes(text string) string {
	table := tableName.FindStringSubmatch(text)
	if table == nil {
		return text
	}
	var lifted strings.Builder
	for _, m := range indexLine.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&lifted, "CREATE INDEX IF NOT EXISTS %s ON %s (%s);\n", m[1], table[1], m[2])
	}
	text = indexLine.ReplaceAllString(text, "")
	text = strings.Replace(text, ",\n);", "\n);", 1)
	return text + lifted.String()
}
