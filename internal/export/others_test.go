package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"patra"
)

// python is an interpreter that has DuckDB, as scripts/with-duckdb makes it and `make test` asks for.
func python(t *testing.T) string {
	name := os.Getenv("PATRA_TEST_PYTHON")
	if name == "" {
		t.Skip("nobody else reads our Parquet here: scripts/with-duckdb COMMAND brings a reader, and make test uses it")
	}
	return name
}

// rest is what a table has and a line has not.
type rest struct {
	ObservedAt    int64  `json:"observed_at"`
	ChangedAt     int64  `json:"changed_at"`
	ContentSHA256 string `json:"content_sha256"`
	BatchID       int64  `json:"batch_id"`
}

// wild are the records of the corpus with numbers that no float holds, and times at the ends of what can be.
func wild(n int) []patra.Record {
	all := corpus(n)
	for i := range all {
		r := &all[i]
		r.Retracted = i%17 == 0
		switch i % 9 {
		case 1:
			r.Rev, r.BatchID = 1<<53+1, 1<<63-1
		case 2:
			r.UpdatedAt, r.ChangedAt = new(patra.Date(1665, 3, 6)+1), patra.Date(9999, 12, 31)+999_999
		case 3:
			r.Fields = json.RawMessage(`{"n":9007199254740993,"tags":["\ud83c\udf89",true,12],"title":"e\u0301 \u00e9 \u0000"}`)
		case 4:
			r.Fields = json.RawMessage(`{"n":null,"tags":null}`)
		}
	}
	return all
}

// lake writes records as a file and in folders, with the lines and the rest beside them.
func lake(t *testing.T, dir string, records []patra.Record) {
	t.Helper()
	for name, form := range map[string]Format{"all.parquet": parquetForm(), "all.jsonl": {Format: JSONL, Raw: true}} {
		f, err := OpenFile(filepath.Join(dir, name), &Job{Form: form}, ExistingPolicy{})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, f, records)
	}
	f, err := OpenFolder(filepath.Join(dir, "lake"), &Job{Form: parquetForm(), Layout: Hive}, Limit{Rows: 300}, ExistingPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f, records)
	var more bytes.Buffer
	for _, r := range records {
		if err := json.NewEncoder(&more).Encode(rest{int64(r.ObservedAt), int64(r.ChangedAt), r.ContentSHA256, r.BatchID}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "rest.jsonl"), more.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// DuckDB reads, row by row and column by column, what the JSON lines say: from one file, and from folders.
func TestOthersReadOurParquet(t *testing.T) {
	name, dir := python(t), t.TempDir()
	lake(t, dir, wild(2000))
	at := func(name string) string { return filepath.Join(dir, name) }
	out, err := exec.CommandContext(t.Context(), name, "testdata/compare.py", at("all.jsonl"), at("rest.jsonl"), at("all.parquet"), at("lake")).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "2000 rows" {
		t.Fatalf("%v\n%s", err, out)
	}
}

var duckdbLine = regexp.MustCompile(`(?m)^duckdb -c .*$`)

// The line for DuckDB in the README works as it stands there. Only the program is ours: it hands its argument to the library.
func TestTheLineOfTheReadme(t *testing.T) {
	name, dir := python(t), t.TempDir()
	if runtime.GOOS == "windows" {
		t.Skip("the line is one for a shell")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := duckdbLine.FindAllString(string(readme), -1)
	if len(lines) == 0 {
		t.Fatal("the README has no line for DuckDB any more")
	}
	records := corpus(700)
	want := map[string]int{}
	for _, r := range records {
		y := nowhere
		if r.UpdatedAt != nil {
			y = strconv.Itoa(r.UpdatedAt.Time().Year())
		}
		want[r.Source+" "+y]++
	}
	lake(t, dir, records)
	program := "#!/bin/sh\nexec " + name + " -c 'import sys, duckdb\nassert sys.argv[1] == \"-c\"\nfor row in duckdb.sql(sys.argv[2]).fetchall(): print(*row)' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "duckdb"), []byte(program), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	for _, line := range lines {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		rows := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(rows) != len(want) {
			t.Errorf("%s gives %d rows, want %d:\n%s", line, len(rows), len(want), out)
		}
		for _, row := range rows {
			cells := strings.Fields(row)
			if len(cells) != 3 || fmt.Sprint(want[cells[0]+" "+cells[1]]) != cells[2] {
				t.Errorf("%s gives the row %q, want of %v", line, row, want)
			}
		}
	}
}
