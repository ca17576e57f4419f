package source_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"patra/internal/source"
	"patra/sources"
)

// ownPages is where the pages of shipped sources are: a folder for each, with a page for each endpoint. They are of our
// own making, so that they can hold what is odd about a provider in a few lines, and be kept in the project.
var ownPages = filepath.Join("..", "..", "sources", "testdata")

// Files beside the pages of a source. A query is there where the source takes one.
const queryFile = "query.txt"

func goldenFile(code string) string { return code + ".golden" }

// TestShippedSourcesAskAndReadAsWrittenDown: what a shipped source sends, and what becomes of a page, is as its golden
// file says. Whoever changes a source file sees here what that changes; UPDATE=1 writes the files anew.
func TestShippedSourcesAskAndReadAsWrittenDown(t *testing.T) {
	for _, code := range shippedCodes(t) {
		t.Run(code, func(t *testing.T) {
			checkFolder(t, code)
			got, name := []byte(golden(t, code)), filepath.Join(ownPages, code, goldenFile(code))
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("%v. Write it with UPDATE=1 go test ./internal/source, and read it", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the source file says something else than its golden file. If that is meant, write it anew with UPDATE=1 go test ./internal/source\n%s",
					diff.Diff(goldenFile(code), want, "now", got))
			}
		})
	}
}

// TestPagesAreNotShipped: the program carries source files, and nothing that is only for their tests.
func TestPagesAreNotShipped(t *testing.T) {
	err := fs.WalkDir(sources.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if name != "." && (d.IsDir() || filepath.Ext(name) != ".yaml") {
			t.Errorf("%s is part of the program", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func shippedCodes(t *testing.T) (codes []string) {
	t.Helper()
	names, err := fs.Glob(sources.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		codes = append(codes, strings.TrimSuffix(name, ".yaml"))
	}
	return codes
}

// TestEveryFolderOfPagesHasASource: pages of a source that is gone test nothing.
func TestEveryFolderOfPagesHasASource(t *testing.T) {
	folders, err := os.ReadDir(ownPages)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !slices.Contains(shippedCodes(t), folder.Name()) {
			t.Errorf("%s: no such source is shipped", filepath.Join(ownPages, folder.Name()))
		}
	}
}

// checkFolder makes sure that every endpoint has its page, and that every file there is looked at.
func checkFolder(t *testing.T, code string) {
	t.Helper()
	file := shippedFile(t, code)
	needed := map[string]bool{goldenFile(code): false, queryFile: takesQueries(file)}
	for name, e := range file.Endpoints {
		first, last := pageFiles(name, e.Response.Format)
		needed[first], needed[last] = true, false
	}
	there := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(ownPages, code))
	if err != nil {
		t.Errorf("%v. A shipped source has a folder with pages", err)
	}
	for _, entry := range entries {
		there[entry.Name()] = true
		if _, known := needed[entry.Name()]; !known {
			t.Errorf("%s: nothing reads this file", filepath.Join(ownPages, code, entry.Name()))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if needed[name] && !there[name] {
			t.Errorf("%s is missing", filepath.Join(ownPages, code, name))
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// pageFiles are the names of a page, and of another one that the walk goes on with, if there is a reason to show it.
func pageFiles(endpoint, format string) (first, last string) {
	ext := strings.ToLower(format)
	return endpoint + "." + ext, endpoint + ".last." + ext
}

// takesQueries reports whether people can ask for something: fields that only cut windows are no reason for a query.
func takesQueries(file *source.File) bool {
	ours := map[string]bool{}
	for _, e := range file.Endpoints {
		ours[e.Window.Field] = true
		if e.Window.Split != nil {
			ours[e.Window.Split.Field] = true
		}
	}
	for field := range file.Query.Fields {
		if !ours[field] {
			return true
		}
	}
	return false
}
