package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"patra"
)

// looker counts what it is told.
type looker struct{ retried, refused map[string]int }

func (looker) Statement(string, time.Duration) {}
func (l looker) Retried(reason string)         { l.retried[reason]++ }
func (l looker) Refused()                      { l.refused["store"]++ }
func (looker) Advanced(patra.Namespace)        {}

// A transaction that is tried again is told of, with the reason; one that is given up because of the store too.
func TestRetriesAreTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "patra.db")
	s, err := Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := looker{map[string]int{}, map[string]int{}}
	s.Watch(l)
	tries := 0
	if err := s.write(t.Context(), "slow", func(*tx) error { tries++; return inTime(longest * time.Duration(4-tries)) }); err != nil || l.retried[RetrySlow] != 2 {
		t.Errorf("%v, %v", err, l.retried)
	}
	// Somebody else holds the file, and we do not wait.
	other, err := Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	var refused error
	err = other.write(t.Context(), "hold", func(*tx) error {
		refused = s.write(t.Context(), "wait", func(*tx) error { return nil })
		return nil
	})
	if err != nil || refused == nil || l.retried[RetryBusy] != maxTries-1 || l.refused["store"] != 1 {
		t.Errorf("%v, %v, %v, %v", err, refused, l.retried, l.refused)
	}
}

// Statements have names that stand in the program, so that there are only so many: 500 is what those who count them bear.
func TestStatementsHaveNamesOfTheProgram(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	// These make a statement of another one's name, of one that they are given as a literal, or of the name of a table; what
	// comes after a space is no part of a name.
	made := map[string]bool{"pause.go": true, "registry.go": true, "rowset.go": true, "walk.go": true, "query.go": true, "record.go": true, "archive.go": true}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || len(lit.Elts) == 0 {
				return true
			}
			if kind, ok := lit.Type.(*ast.Ident); !ok || kind.Name != "stmt" && kind.Name != "listing" {
				return true
			}
			text, ok := lit.Elts[0].(*ast.BasicLit)
			switch {
			case ok:
				unquoted, err := strconv.Unquote(text.Value)
				if err != nil || names[unquoted] && unquoted == "" {
					t.Errorf("%s: %s", name, text.Value)
				}
				names[unquoted] = true
			case !made[name]:
				t.Errorf("%s has a statement whose name is not written there", name)
			}
			return true
		})
	}
	t.Logf("%d names", len(names))
	if len(names) < 300 || len(names) > 500 {
		t.Errorf("there are %d names of statements", len(names))
	}
}

// A store whose tables are not those of the program does not fit.
func TestTablesThatDoNotFit(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "patra.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SchemaCompatible(t.Context()); err == nil {
		t.Error("a store without tables fits")
	}
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.SchemaCompatible(t.Context()); err != nil {
		t.Error(err)
	}
	for _, version := range []int64{newestMigration() + generation, newestMigration() - 1} {
		if _, err := s.db.ExecContext(t.Context(), "UPDATE goose_db_version SET version_id = ? WHERE version_id >= ?", version, newestMigration()-1); err != nil {
			t.Fatal(err)
		}
		fits, check := s.SchemaCompatible(t.Context()), s.RequireSchema(t.Context())
		if fits == nil || check == nil || fits.Error() != check.Error() {
			t.Errorf("at %d: %v, and Check says %v", version, fits, check)
		}
	}
}
