package export

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"patra"
)

// Records of two repositories with the same id are told apart in every format; where a source is one provider the column is not there.
func TestTablesNameTheRepository(t *testing.T) {
	columns := Columns(nil, true, false)
	for _, format := range []string{CSV, Parquet, JSONL} {
		var out bytes.Buffer
		s, err := NewStream(&out, Format{Format: format, Separator: "; ", Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		for _, repository := range []string{"https://a.example/oai", "https://b.example/oai/"} {
			if err := s.Write(patra.Record{Source: "oai", Type: "work", ProviderID: "1", Repository: repository, Fields: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		if format != Parquet {
			if text := out.String(); !strings.Contains(text, "https://a.example/oai") || !strings.Contains(text, "https://b.example/oai/") {
				t.Errorf("%s: %s", format, text)
			}
			continue
		}
		rows, err := parquet.Read[struct {
			ID         string `parquet:"id"`
			Repository string `parquet:"repository,optional"`
		}](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(rows) != 2 || rows[0].ID != "1" || rows[0].Repository != "https://a.example/oai" || rows[1].Repository != "https://b.example/oai/" {
			t.Errorf("%s: %+v, %v", format, rows, err)
		}
	}
	for _, c := range Columns(map[string]bool{"repository": false}, false, true) {
		if c.Name == "repository" && c.Field == "" || strings.HasPrefix(c.Name, "field_") {
			t.Errorf("a column nobody needs: %+v", c)
		}
	}
}
