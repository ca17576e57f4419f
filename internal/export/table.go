package export

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"patra"
)

// table writes cells that are separated by commas or tabs, quoted where they must be.
type table struct {
	w     *csv.Writer
	form  Form
	known []known // by column; those of mapped fields are empty
	cells []string
}

func newTable(w io.Writer, f Form, comma rune, appended bool) (*table, error) {
	t := &table{w: csv.NewWriter(w), form: f, cells: make([]string, len(f.Columns)), known: make([]known, len(f.Columns))}
	t.w.Comma = comma
	for i, c := range f.Columns {
		t.cells[i] = t.safe(c.Name)
		if c.Field == "" {
			t.known[i], _ = fixedColumn(c.Name)
		}
	}
	if appended {
		return t, nil
	}
	return t, t.w.Write(t.cells)
}

func (t *table) write(r patra.Record) error {
	fields, err := unpack(r)
	if err != nil {
		return err
	}
	for i, c := range t.form.Columns {
		if c.Field != "" {
			t.cells[i] = t.safe(t.fieldCell(fields[c.Field]))
			continue
		}
		t.cells[i] = t.fixedCell(t.known[i], r)
	}
	return t.w.Write(t.cells)
}

func (t *table) fixedCell(k known, r patra.Record) string {
	if k.text != nil {
		if k.Name == "fields" {
			r, _ = Narrow(r, t.form.Fields) // it was unpacked before
		}
		text, _ := k.text(r)
		return t.safe(text)
	}
	n, ok := k.number(r)
	switch {
	case !ok:
		return ""
	case k.Kind == Time:
		return patra.Instant(n).String()
	case k.Kind == Boolean:
		return strconv.FormatBool(n != 0)
	}
	return strconv.FormatInt(n, 10)
}

// fieldCell is a mapped field in a cell: a text as it is, a list with its separator, anything else as JSON.
func (t *table) fieldCell(raw json.RawMessage) string {
	texts, list, ok := field(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case !ok || list && t.form.Separator == ListsAsJSON:
		return string(raw)
	}
	return strings.Join(texts, t.form.Separator)
}

func (t *table) safe(cell string) string {
	if t.form.RawCells {
		return cell
	}
	return Harmless(cell)
}

func (t *table) pending() int64 { return 0 }
func (t *table) flush() error   { t.w.Flush(); return t.w.Error() }
func (t *table) close() error   { return t.flush() }

// dangerous are the first characters of cells that spreadsheets take for formulas, or that make them look at the next
// character: as providers send them, and as they are typed in full width.
const dangerous = "=+-@\t\r\n＝＋－＠"

// Harmless puts an apostrophe before a cell that a spreadsheet would take for a formula. Everything that comes from
// providers comes from strangers.
func Harmless(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune(dangerous, first) {
		return "'" + cell
	}
	return cell
}
