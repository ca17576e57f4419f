package export

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra"
)

// formulas are cells with which spreadsheets were made to do things.
var formulas = []string{
	`=1+1`, `=cmd|' /C calc'!A0`, `+1+1`, `-2+3+cmd|' /C calc'!A0`, `@SUM(1+1)*cmd|' /C calc'!A0`, "\t=1+1", "\r=1+1", "\n=1+1",
	`=HYPERLINK("http://127.0.0.1/?x="&A1,"click")`, `=IMPORTXML(CONCAT("http://127.0.0.1/",A1),"//a")`, `=WEBSERVICE("http://127.0.0.1")`,
	`@A1`, `-1`, `+49 30 1234`, `＝1+1`, `＋1`, `－1`, `＠A1`, `=1+1";=2+2`, "=1\",=2+2\n=3+3", `=`,
}

// harmless are cells that only look a little like it.
var innocents = []string{``, `a=b`, `10.1000/x-1`, ` =1+1`, `'quoted`, `"=1+1"`, `a,b;c`, "two\nlines", "tab\tinside", `–dash`, `(=1)`}

func TestCellsAreNoFormulas(t *testing.T) {
	for _, f := range formulas {
		if got := EscapeFormula(f); got != "'"+f {
			t.Errorf("%q became %q", f, got)
		}
	}
	for _, f := range innocents {
		if got := EscapeFormula(f); got != f {
			t.Errorf("%q became %q", f, got)
		}
	}
}

// Whatever is in the cells, and whatever separates them: what is read back is the number of cells that was written, none of
// them is a formula, and with raw cells each is what it was.
func TestATableReadsBack(t *testing.T) {
	for _, comma := range []rune{',', '\t'} {
		for _, raw := range []bool{false, true} {
			for _, cell := range append(slices.Clone(formulas), innocents...) {
				form := Format{Format: CSV, RawCells: raw, Separator: "; ", Columns: Choose([]string{"id", "title", "tags", "fields", "rev"}, map[string]bool{"tags": true})}
				r := patra.Record{ProviderID: cell, Fields: asJSON(t, map[string]any{"title": cell, "tags": []string{cell, "b"}}), Rev: -3}
				var b strings.Builder
				enc, err := newTable(&b, form, comma, false)
				if err != nil {
					t.Fatal(err)
				}
				if err := enc.write(r); err != nil {
					t.Fatal(err)
				}
				if err := enc.close(); err != nil {
					t.Fatal(err)
				}
				in := csv.NewReader(strings.NewReader(b.String()))
				in.Comma = comma
				rows, err := in.ReadAll()
				if err != nil || len(rows) != 2 || len(rows[1]) != 5 {
					t.Fatalf("%q: %q, %v", cell, rows, err)
				}
				if rows[1][4] != "-3" { // a number of ours is a number
					t.Errorf("rev is %q", rows[1][4])
				}
				want := cell
				if !raw {
					want = EscapeFormula(cell)
				}
				if rows[1][0] != want || rows[1][1] != want || raw && rows[1][2] != cell+"; b" {
					t.Errorf("%q came back as %q", cell, rows[1])
				}
				for _, got := range rows[1][:4] {
					if !raw && EscapeFormula(got) != got {
						t.Errorf("%q is a formula", got)
					}
				}
			}
		}
	}
}

func asJSON(t interface{ Fatal(...any) }, v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNoCellIsAFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.String().Draw(t, "cell")
		got := EscapeFormula(cell)
		if got != "" && strings.ContainsRune("=+-@\t\r", rune(got[0])) {
			t.Fatalf("%q begins like a formula", got)
		}
		if strings.TrimPrefix(got, "'") != strings.TrimPrefix(cell, "'") {
			t.Fatalf("%q became %q", cell, got)
		}
	})
}

func TestListsInCells(t *testing.T) {
	tags := json.RawMessage(`["a","b; c",3,true]`)
	for _, c := range []struct{ separator, raw, want string }{
		{"; ", string(tags), "a; b; c; 3; true"},
		{"|", string(tags), "a|b; c|3|true"},
		{ListsAsJSON, string(tags), string(tags)},
		{"; ", `[{"name":"x"}]`, `[{"name":"x"}]`}, // what is no list of texts stays JSON
		{"; ", `"text"`, "text"},
		{ListsAsJSON, `"text"`, "text"},
		{"; ", `12.50`, "12.50"},
		{"; ", `null`, ""},
		{"; ", ``, ""},
		{"; ", `[]`, ""},
	} {
		table := &csvWriter{form: Format{Separator: c.separator}}
		if got := table.fieldCell(json.RawMessage(c.raw)); got != c.want {
			t.Errorf("%s with %q is %q, want %q", c.raw, c.separator, got, c.want)
		}
	}
}

func TestColumnsHaveNamesOfTheirOwn(t *testing.T) {
	var names []string
	for _, c := range Columns(map[string]bool{"id": false, "year": false, "DOI": false, "doi": true, "title": false}, false, true) {
		names = append(names, strings.ToLower(c.Name))
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) || !slices.Contains(names, "field_id") || !slices.Contains(names, "field_year") || !slices.Contains(names, "field_doi") {
		t.Errorf("%q", names)
	}
}
