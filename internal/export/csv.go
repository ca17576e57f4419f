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

// csvWriter writes cells that are separated by commas or tabs, quoted where they must be.
type csvWriter struct {
	w     *csv.Writer
	form  Format
	known []builtinColumn // by column; those of mapped fields are empty
	cells []string
}

func newTable(w io.Writer, f Format, comma rune, appended bool) (*csvWriter, error) {
	t := &csvWriter{w: csv.NewWriter(w), form: f, cells: make([]string, len(f.Columns)), known: make([]builtinColumn, len(f.Columns))}
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

func (t *csvWriter) write(r patra.Record) error {
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

func (t *csvWriter) fixedCell(k builtinColumn, r patra.Record) string {
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
func (t *csvWriter) fieldCell(raw json.RawMessage) string {
	texts, list, ok := field(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case !ok || list && t.form.Separator == ListsAsJSON:
		return string(raw)
	}
	return strings.Join(texts, t.form.Separator)
}

func (t *csvWriter) safe(cell string) string {
	if t.form.RawCells {
		return cell
	}
	return EscapeFormula(cell)
}

func (t *csvWriter) pending() int64 { return 0 }
func (t *csvWriter) flush() error   { t.w.Flush(); return t.w.Error() }
func (t *csvWriter) close() error   { return t.flush() }

// dangerous are the first characters of cells that spreadsheets take for formulas, or that make them look at the next
// character: as providers send them, and as they are typed in full width.
const dangerous = "=+-@\t\r\n＝＋－＠"

// EscapeFormula puts an apostrophe before a cell that a spreadsheet would take for a formula. Everything that comes from
// providers comes from strangers.
func EscapeFormula(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune(dangerous, first) {
		return "'" + cell
	}
	return cell
}
