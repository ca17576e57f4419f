package export

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"patra"
)

// Bounds are short texts, and every text lies between its own.
func TestBoundsAreShortAndHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune{'a', 0x7f, 0x7ff, 0xd7ff, 0xe000, 0xffff, utf8.MaxRune - 1, utf8.MaxRune}))).Draw(t, "text")
		low, high := below(text), above(text)
		if low > text || high < text || !utf8.ValidString(low) || !utf8.ValidString(high) {
			t.Fatalf("%q is not between %q and %q", text, low, high)
		}
		if len(low) > boundBytes || len(high) > boundBytes && strings.Trim(start(text), string(utf8.MaxRune)) != "" {
			t.Fatalf("%q and %q are long", low, high)
		}
	})
}

// Whoever goes by the bounds of pages misses nothing, and they are short: they are held in memory until the end.
func TestNobodyMissesAPage(t *testing.T) {
	var file bytes.Buffer
	s, err := NewStream(&file, parquetForm())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range corpus(400) {
		r.Fields = []byte(`{"title":"` + strings.Repeat(string(rune('a'+i%26))+"é", 500) + `","tags":["` + strings.Repeat("中", 300+i) + `"]}`)
		r.UpdatedAt = new(patra.Date(2026, 1, 1) + patra.Instant(i))
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
	pagesSeen := 0
	for _, group := range f.RowGroups() {
		for _, chunk := range group.ColumnChunks() {
			index, err := chunk.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			pages := chunk.Pages()
			for i := 0; ; i++ {
				page, err := pages.ReadPage()
				if err != nil {
					break
				}
				pagesSeen++
				values := make([]parquet.Value, page.NumValues())
				n, _ := page.Values().ReadValues(values)
				for _, v := range values[:n] {
					if v.IsNull() {
						continue
					}
					if compare := chunk.Type().Compare; index.NullPage(i) || compare(index.MinValue(i), v) > 0 || compare(index.MaxValue(i), v) < 0 {
						t.Fatalf("column %d, page %d: %.40q is not between %.40q and %.40q", chunk.Column(), i, v, index.MinValue(i), index.MaxValue(i))
					}
				}
				if v := index.MaxValue(i); v.Kind() == parquet.ByteArray && len(v.ByteArray()) > boundBytes {
					t.Errorf("column %d, page %d: the bound %q is long", chunk.Column(), i, v)
				}
			}
			pages.Close()
		}
	}
	if pagesSeen < len(parquetForm().Columns) {
		t.Errorf("only %d pages", pagesSeen)
	}
}
