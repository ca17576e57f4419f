package patra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMakefileNamesTests checks that every name in a -run, -skip or -bench of the Makefile is that of a test, and that every
// package listed beside it has one: `go test` passes when there is nothing to run.
func TestMakefileNamesTests(t *testing.T) {
	data, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`\$\(GO\) test .*?( && | \| |"|\n)`).FindAllString(strings.ReplaceAll(string(data), "$$", "$"), -1)
	checked := 0
	for _, command := range commands {
		packages := regexp.MustCompile(`\s(\.(?:/[\w/]+)?)(?:\s|$)`).FindAllStringSubmatch(strings.ReplaceAll(command, " ./", "  ./"), -1)
		for _, flag := range []struct{ name, prefix string }{{"run", "Test"}, {"skip", "Test"}, {"bench", "Benchmark"}} {
			m := regexp.MustCompile(` -` + flag.name + ` ('[^']*'|\S+)`).FindStringSubmatch(command)
			if m == nil || strings.Contains(m[1], "$(") || strings.Contains(m[1], "^$") {
				continue
			}
			var found []string // of all packages
			alternatives := testNames(strings.Trim(m[1], "'"))
			for _, pkg := range packages {
				names := functionsOf(t, pkg[1], flag.prefix)
				found = append(found, names...)
				if flag.name == "run" && !anyMatches(t, alternatives, names) {
					t.Errorf("%s has no test of %s: %s", pkg[1], m[1], command)
				}
			}
			for _, a := range alternatives {
				checked++
				if len(packages) > 0 && !anyMatches(t, []string{a}, found) {
					t.Errorf("no test is named %s: %s", a, command)
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d names were found in the Makefile", checked)
	}
}

// testNames splits a -run pattern at its alternatives and leaves out what selects subtests.
func testNames(pattern string) (names []string) {
	top, _, _ := strings.Cut(regexp.MustCompile(`/[^|)]*`).ReplaceAllString(pattern, ""), "/")
	return strings.FieldsFunc(top, func(r rune) bool { return strings.ContainsRune("()|", r) })
}

func anyMatches(t *testing.T, patterns, names []string) bool {
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if re.MatchString(n) {
				return true
			}
		}
	}
	return false
}

// functionsOf lists the functions of a package's test files that begin with prefix.
func functionsOf(t *testing.T, dir, prefix string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, prefix) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}
