package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"patra"
)

// corpus are records with everything that makes writing hard.
func corpus(n int) (all []patra.Record) {
	at := patra.Date(2026, 3, 1)
	titles := append(append([]string{"", "plain", "Ünïcødé 中文 🎉", "quote\" back\\slash", "\x00nul", "\u202eleft", strings.Repeat("long ", 5000)}, formulas...), innocents...)
	for i := range n {
		fields := map[string]any{"title": titles[i%len(titles)], "tags": []string{"a", titles[i%len(titles)]}, "n": i, "nested": map[string]any{"x": []int{1, i}}}
		switch i % 7 {
		case 1:
			delete(fields, "title")
		case 2:
			fields["tags"] = []string{}
		case 3:
			fields["tags"] = "only one"
		case 4:
			fields["title"] = []string{"one of", "several"} // a list where a text was expected
		case 5:
			fields["tags"] = []any{"a", map[string]any{"not": "a text"}}
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		r := patra.Record{ID: int64(i + 1), Source: []string{"crossref", "pubmed"}[i%2], Type: "work", ProviderID: fmt.Sprintf("10.%d/é%d", i, i), Rev: int64(i%3 + 1), FirstSeen: at, LastSeen: at, ObservedAt: at + 1,
			ChangedAt: at + patra.Instant(i), Fields: raw, Raw: json.RawMessage(`{"i":1}`), ContentSHA256: patra.Hash(i), BatchID: int64(i / 10), Deleted: i%11 == 0}
		if i%5 != 0 {
			r.UpdatedAt = new(at + patra.Instant(i%4)*365*patra.Day + 123)
		}
		if i%13 == 0 {
			r.MergedInto = "10.1/other"
		}
		if i%2 == 1 {
			r.Raw = json.RawMessage(`"<xml a=\"1\">é</xml>"`)
		}
		all = append(all, r)
	}
	return all
}

var mapped = map[string]bool{"title": false, "tags": true, "n": false}

func parquetForm() Form { return Form{Format: Parquet, Columns: Columns(mapped, true), Raw: true} }

type typedRow struct {
	Title *string  `parquet:"title,optional"`
	Tags  []string `parquet:"tags,optional,list"`
}

// What is read back with the library is, row by row, what the JSON lines say.
func TestParquetSaysWhatTheLinesSay(t *testing.T) {
	records := corpus(500)
	var file bytes.Buffer
	s, err := NewStream(&file, parquetForm())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := s.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != int64(len(records)) {
		t.Fatalf("%d rows", f.NumRows())
	}
	typed := make([]typedRow, len(records))
	if n, err := parquet.NewGenericReader[typedRow](f).Read(typed); n != len(records) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d typed rows, %v", n, err)
	}
	rows := parquet.NewReader(f)
	for i, r := range records {
		got := map[string]any{}
		if err := rows.Read(&got); err != nil {
			t.Fatal(err)
		}
		fields, err := unpack(r)
		if err != nil {
			t.Fatal(err)
		}
		if title, list, ok := field(fields["title"]); (typed[i].Title != nil) != (ok && !list) || typed[i].Title != nil && *typed[i].Title != title[0] {
			t.Fatalf("title of %s is %v, want %q", r.ProviderID, typed[i].Title, title)
		}
		if tags, _, ok := field(fields["tags"]); ok && !slices.Equal(typed[i].Tags, tags) || !ok && typed[i].Tags != nil {
			t.Fatalf("tags of %s are %q, want %q", r.ProviderID, typed[i].Tags, tags)
		}
		raw, _ := rawText(r)
		for name, want := range map[string]string{"id": r.ProviderID, "source": r.Source, "rev": fmt.Sprint(r.Rev), "deleted": fmt.Sprint(r.Deleted), "raw": raw, "n": string(fields["n"])} {
			if have := plainly(got[name]); have != want {
				t.Fatalf("%s of %s is %q, want %q", name, r.ProviderID, have, want)
			}
		}
		if have := asJSON(t, got["fields"]); !sameJSON(t, have, r.Fields) { // the library unpacks it
			t.Fatalf("fields of %s are %s, want %s", r.ProviderID, have, r.Fields)
		}
	}
	if err := rows.Read(&map[string]any{}); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v", err)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	x, err := patra.Canonical(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := patra.Canonical(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func plainly(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// reader is a program of somebody else that reads Parquet and compares it with JSON lines.
const reader = `
import json, sys, datetime
lines = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
def same(rows):
    assert len(rows) == len(lines), (len(rows), len(lines))
    for row, line in zip(rows, lines):
        f = line["fields"]
        for k in ("id", "rev", "deleted", "record_type"):
            assert row[k] == line[k], (k, row[k], line[k])
        assert (row["merged_into"] or "") == line.get("merged_into", ""), row["merged_into"]
        at = row["updated_at"]
        want = line["updated_at"] and datetime.datetime.fromisoformat(line["updated_at"].replace("Z", "+00:00"))
        assert (at and at.astimezone(datetime.timezone.utc)) == want, (at, want)
        assert json.loads(row["fields"]) == f
        raw = row["raw"]
        assert raw == line["raw"] if isinstance(line["raw"], str) else json.loads(raw) == line["raw"], raw
        title = f.get("title")
        assert row["title"] == (title if isinstance(title, str) else None), (row["title"], title)
        tags = f.get("tags")
        if isinstance(tags, str): tags = [tags]
        if any(not isinstance(t, str) for t in tags): tags = None
        assert (None if row["tags"] is None else list(row["tags"])) == tags, (row["tags"], tags)
        assert row["n"] == str(f["n"])
read = 0
try:
    import pyarrow.parquet as pq
    same(pq.read_table(sys.argv[2]).to_pylist()); read += 1
except ImportError: pass
try:
    import duckdb
    duckdb.sql("set TimeZone='UTC'")
    rel = duckdb.sql("select * exclude (first_seen, observed_at, changed_at) replace (epoch_us(updated_at) as updated_at) from '%s'" % sys.argv[2])
    utc = datetime.timezone.utc
    rows = [dict(zip(rel.columns, r)) for r in rel.fetchall()]
    for r in rows:
        if r["updated_at"] is not None: r["updated_at"] = datetime.datetime(1970,1,1,tzinfo=utc) + datetime.timedelta(microseconds=r["updated_at"])
    same(rows); read += 1
    n = duckdb.sql("select count(*) from read_parquet('%s/**/*.parquet', hive_partitioning=true) where source = 'pubmed' and year = 2027" % sys.argv[3]).fetchall()[0][0]
    want = sum(1 for l in lines if l["source"] == "pubmed" and (l["updated_at"] or "").startswith("2027"))
    assert n == want > 0, (n, want)
except ImportError: pass
print("readers:", read)
`

// python is an interpreter that has a reader of its own, if there is one: the one named in PATRA_TEST_PYTHON, or python3.
func python(t *testing.T) string {
	name := os.Getenv("PATRA_TEST_PYTHON")
	if name == "" {
		name = "python3"
	}
	if err := exec.CommandContext(t.Context(), name, "-c", "import importlib.util as u,sys; sys.exit(not (u.find_spec('pyarrow') or u.find_spec('duckdb')))").Run(); err != nil {
		t.Skip("no python3 with pyarrow or duckdb here")
	}
	return name
}

func TestOthersReadOurParquet(t *testing.T) {
	name, dir := python(t), t.TempDir()
	paths := map[string]string{JSONL: filepath.Join(dir, "all.jsonl"), Parquet: filepath.Join(dir, "all.parquet")}
	records := corpus(2000)
	for format, at := range paths {
		form := parquetForm()
		if format == JSONL {
			form = Form{Format: JSONL, Raw: true}
		}
		f, err := OpenFile(at, &Job{Form: form}, How{})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, f, records)
	}
	lake := filepath.Join(dir, "lake")
	f, err := OpenFolder(lake, &Job{Form: parquetForm(), Layout: Hive}, Limit{Rows: 300}, How{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f, records)
	out, err := exec.CommandContext(t.Context(), name, "-c", reader, paths[JSONL], paths[Parquet], lake).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func fill(t *testing.T, s Sink, records []patra.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
}
