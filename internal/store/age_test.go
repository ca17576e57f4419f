package store

import (
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What an older and a newer program say to tables of all ages.
func TestVerdictOnAges(t *testing.T) {
	for _, tt := range []struct {
		store, program int64
		want           error
	}{
		{0, 89, ErrNoTables}, {0, 1000, ErrNoTables},
		{88, 89, ErrNeedsMigration}, {999, 1000, ErrNeedsMigration}, {89, 1003, ErrNeedsMigration},
		{89, 89, nil}, {90, 89, nil}, {999, 89, nil}, {1004, 1000, nil},
		{1000, 89, ErrTooNew}, {1000, 999, ErrTooNew}, {2001, 1999, ErrTooNew},
	} {
		if got := (SchemaVersion{tt.store, tt.program}).verdict(); !errors.Is(got, tt.want) || got == nil != (tt.want == nil) {
			t.Errorf("version %d of the store, %d of the program: %v", tt.store, tt.program, got)
		}
	}
}

// additions are the statements of which an older program need not know.
var additions = []*regexp.Regexp{
	regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS \w+ \(`),
	regexp.MustCompile(`^ALTER TABLE \w+ ADD COLUMN\s+\w+ \w+(\(\d+\))?\?$`),    // which may be empty
	regexp.MustCompile(`^ALTER TABLE \w+ MODIFY COLUMN\s+\w+ key\(\d+\)$`),      // to a wider one
	regexp.MustCompile(`^ALTER TABLE \w+\s+(INDEX \w+ \([^)]*\),?\s*)+$`),       // not unique
	regexp.MustCompile(`^DROP VIEW IF EXISTS \w+$`),                             // and made again
	regexp.MustCompile(`^CREATE VIEW \w+ AS `),                                  //
	regexp.MustCompile(`^REPLACE INTO sys_dict_(type|item) \([^)]*\)\s+VALUES`), // words for people
}

// firstRows are rows of a table, from what is in others.
var firstRows = regexp.MustCompile(`^REPLACE INTO (ing_\w+) \([^)]*\) SELECT `)

// disturbing finds the first statement of a migration that an older program would notice.
func disturbing(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	for s := range strings.SplitSeq(strings.Join(lines, ""), ";\n") {
		s = strings.TrimSuffix(strings.TrimSpace(s), ";")
		known := s == ""
		for _, a := range additions {
			known = known || a.MatchString(strings.TrimSpace(s))
		}
		if of := firstRows.FindStringSubmatch(s); of != nil { // an older program does not know the table
			known = strings.Contains(text, "CREATE TABLE IF NOT EXISTS "+of[1]+" (")
		}
		if !known {
			return s
		}
	}
	return ""
}

// lastBefore is the migration after which the promise of generations began.
const lastBefore = 89

// A migration only adds, or begins a generation: a release must be able to run beside the one before it.
func TestMigrationsOfAGenerationOnlyAdd(t *testing.T) {
	files, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "migrations/")[:4])
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(migrationFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := disturbing(string(text)); found != "" && n > lastBefore && n%generation != 0 {
			t.Errorf("%s would disturb a program that is one release older, so it must begin a generation (%d):\n%s", name, (n/generation+1)*generation, found)
		}
	}
	for text, bad := range map[string]bool{
		"-- A table.\n-- +goose Up\nCREATE TABLE IF NOT EXISTS a (\n  id id,\n  x n\n);\n":               false,
		"ALTER TABLE a ADD COLUMN\n  x n?\n;\n":                                                          false,
		"ALTER TABLE a ADD COLUMN\n  x key(64)?\n;\n":                                                    false,
		"ALTER TABLE a\n  INDEX i (x, id),\n  INDEX j (y)\n;\n":                                          false,
		"CREATE TABLE IF NOT EXISTS ing_a (\n  x n\n);\n\nREPLACE INTO ing_a (x) SELECT x FROM ing_b;\n": false,
		"REPLACE INTO ing_b (x) SELECT x FROM ing_a;\n":                                                  true,
		"ALTER TABLE a ADD COLUMN\n  x n\n;\n":                                                           true, // which older programs do not fill
		"ALTER TABLE a DROP COLUMN x;\n":                                                                 true,
		"CREATE UNIQUE INDEX u ON a (x);\n":                                                              true,
		"DROP TABLE a;\n":                                                                                true,
		"UPDATE a SET x = 1;\n":                                                                          true,
	} {
		if got := disturbing(text); (got != "") != bad {
			t.Errorf("%q: %q", text, got)
		}
	}
}
