package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"patra"
	"patra/internal/registry"
	"patra/internal/source"
	"patra/internal/store"
	"patra/sources"
)

// Every shipped source goes into the registry and comes out as a file that loads to the same.
func TestEveryShippedSourceIsExportedAsAnEqualFile(t *testing.T) {
	names, err := fs.Glob(sources.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	url := "sqlite:" + filepath.Join(t.TempDir(), "patra.db")
	for _, name := range names {
		code := strings.TrimSuffix(name, ".yaml")
		t.Run(code, func(t *testing.T) {
			want, err := source.Find(code, sources.Files)
			if err != nil {
				t.Fatal(err)
			}
			s := session{t, url}
			s.run("source", "apply", code)
			text := s.run("source", "export", code)
			got, err := source.Load(name, []byte(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if !reflect.DeepEqual(want, got) {
				found, _ := registry.Diff(want, got)
				t.Errorf("the exported file says something else: %+v", found)
			}
		})
	}
}

// session runs commands against one store.
type session struct {
	t   *testing.T
	url string
}

func (s session) run(args ...string) string {
	s.t.Helper()
	var out, errs bytes.Buffer
	if exit := run(s.t.Context(), append(args, "--store", s.url), nil, &out, &errs); exit != 0 {
		s.t.Fatalf("patra %s: %s", strings.Join(args, " "), errs.String())
	}
	return out.String()
}

// What was in force before a change can be exported, compiled and compared after it.
func TestTheRegistryRemembers(t *testing.T) {
	dir := t.TempDir()
	s := session{t, "sqlite:" + filepath.Join(dir, "patra.db")}
	data, err := sources.Files.ReadFile("crossref.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "crossref.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run("source", "apply", file)
	}
	write(string(data))
	first := s.run("spec", "compile", "crossref", "-o", "json")
	write(strings.Replace(string(data), "perSecond: 3,", "perSecond: 4,", 1))

	var rows []patra.RegistryRow
	if err := json.Unmarshal([]byte(s.run("source", "history", "crossref", "-o", "json")), &rows); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r patra.RegistryRow) bool { return r.Version == 2 })
	if i < 0 {
		t.Fatalf("nothing has a second version: %+v", rows)
	}
	changed := rows[i].From
	before, after := (changed - 1).String(), changed.String()
	for at, want := range map[string]float64{before: 3, after: 4} {
		f, err := source.Load("crossref.yaml", []byte(s.run("source", "export", "crossref", "--at", at)))
		if err != nil || f.Defaults.Rate.PerSecond != want {
			t.Errorf("at %s: %v a second, %v", at, f.Defaults.Rate.PerSecond, err)
		}
	}
	var was, is struct {
		Fingerprint string `json:"spec_fingerprint"`
	}
	for text, into := range map[string]any{first: &was, s.run("spec", "compile", "crossref", "works", "--at", before, "-o", "json"): &is} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if was.Fingerprint == "" || was.Fingerprint != is.Fingerprint {
		t.Errorf("compiled at that moment %s, looked back %s", was.Fingerprint, is.Fingerprint)
	}
	for _, args := range [][]string{
		{"spec", "diff", "crossref", "works", "--at", before, "--at", after},
		{"spec", "diff", "crossref", "--at", before},
		{"spec", "diff", "crossref", "works", "--at", before},
		{"spec", "diff", "crossref/works", "--at", before, "--at", after},
		{"source", "diff", "crossref", "--at", before, "--at", after},
		{"source", "diff", "crossref", "--at", before},
	} {
		if out := s.run(append(args, "-o", "jsonl")...); strings.Count(out, "\n") != 1 || !strings.Contains(out, `rate.perSecond","a":3,"b":4`) {
			t.Errorf("%s:\n%s", strings.Join(args, " "), out)
		}
	}
}

// A plan is made from the rows that were chosen for its operation, as spec compile shows it.
func TestTheRegistryRowsOfAnOperationCountInItsPlans(t *testing.T) {
	s := session{t, "sqlite:" + filepath.Join(t.TempDir(), "patra.db")}
	s.run("source", "apply", "crossref")
	db, err := store.Open(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f, err := source.Find("crossref", sources.Files)
	if err != nil {
		t.Fatal(err)
	}
	head, err := registry.Head(f, "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := registry.Rows(f)
	if err != nil {
		t.Fatal(err)
	}
	own := func(d patra.Dimension, endpoint string, op patra.Operation, body string) patra.RegistryRow {
		return patra.RegistryRow{Source: "crossref", Dimension: d, Endpoint: endpoint, Operation: op, Lifecycle: patra.LifecycleActive, Body: json.RawMessage(body)}
	}
	rows = append(rows, own(patra.DimRate, "", patra.Harvest, `{"perSecond":1}`), own(patra.DimPagination, "works", patra.Harvest, `{"pageSize":11}`),
		own(patra.DimPagination, "works", patra.Backfill, `{"pageSize":22}`), own(patra.DimPagination, "", patra.Update, `{"pageSize":33}`))
	if _, err := db.ApplySource(t.Context(), now(), head, rows); err != nil {
		t.Fatal(err)
	}
	for op, size := range map[string]string{"HARVEST": `"pageSize":11`, "BACKFILL": `"pageSize":22`, "UPDATE": `"pageSize":` + fmt.Sprint(f.Endpoints["works"].Pagination.PageSize)} { // an endpoint before an operation
		var plan struct {
			Plan patra.Plan `json:"plan"`
		}
		var compiled struct {
			Fingerprint string          `json:"spec_fingerprint"`
			Snapshot    json.RawMessage `json:"snapshot"`
		}
		for text, into := range map[string]any{
			s.run("plan", op, "crossref", "--from", "2026-05-01", "--to", "2026-05-02", "--no-probe", "--dry-run", "--contact", "me@example.org", "-o", "jsonl"): &plan,
			s.run("spec", "compile", "crossref", "--operation", op, "-o", "jsonl"):                                                                               &compiled,
		} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err, text)
			}
		}
		if plan.Plan.Spec == "" || plan.Plan.Spec != compiled.Fingerprint || !strings.Contains(string(compiled.Snapshot), size) {
			t.Errorf("%s is planned with %s, and compiled to %s:\n%s", op, plan.Plan.Spec, compiled.Fingerprint, compiled.Snapshot)
		}
	}
	if out := s.run("query", "explain", "crossref"); !strings.Contains(out, "rows=11") {
		t.Errorf("a query is explained as a harvest asks it, and not so:\n%s", out)
	}
	if out := s.run("source", "show", "crossref"); !strings.Contains(out, "# Not shown: rate row 2 is for crossref//HARVEST, which a file cannot say") {
		t.Errorf("rows that no file can say are not told:\n%s", out)
	}
	// Retiring a source ends these rows too.
	if out := s.run("source", "retire", "crossref"); !strings.Contains(out, "Retired crossref: 18 rows closed") {
		t.Errorf("retired: %s", out)
	}
	if out := s.run("query", "explain", "crossref"); strings.Contains(out, "rows=11") {
		t.Errorf("a row of an operation counts after the end:\n%s", out)
	}
}

// Without a store a file is read with the words of the program; it must mean the same as with one.
func TestTheStoreIsSeededWithTheWordsOfTheProgram(t *testing.T) {
	d := seeded(t)
	for kind := range registry.Words() {
		if _, ok := d[kind]; !ok {
			t.Errorf("%s: add a migration for sys_dict_type and sys_dict_item", kind)
		}
	}
	for kind, want := range d {
		if got := registry.Words()[kind]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the program knows %v, the store %v; change internal/registry/words.go, or add a migration", kind, got, want)
		}
	}
}

// seeded is the dictionary of a new store.
func seeded(t *testing.T) patra.Dictionary {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite::memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := s.Dictionary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every word that the schema of source files offers is a code that the store knows: a new word needs a migration.
func TestTheStoreKnowsEveryWordOfTheSchema(t *testing.T) {
	var known []string
	for _, entry := range seeded(t) {
		known = append(known, entry.Items...)
	}
	for name, def := range source.Schema()["$defs"].(map[string]any) {
		for key, p := range def.(map[string]any)["properties"].(map[string]any) {
			words, _ := p.(map[string]any)["enum"].([]string)
			for _, word := range words {
				if !slices.Contains(known, word) && word != "patra/v1" {
					t.Errorf("%s.%s: %s is in no dictionary; add a migration that puts it into sys_dict_item", name, key, word)
				}
			}
		}
	}
}
