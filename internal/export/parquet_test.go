package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

func parquetForm() Format {
	return Format{Format: Parquet, Columns: Columns(mapped, false, true), Raw: true}
}

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
