package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"patra/internal/rawjson"
)

// linesSplitter reads one JSON value a line.
type linesSplitter struct{}

func (linesSplitter) split(body []byte) (parts, error) {
	var items [][]byte
	for line := range bytes.Lines(bytes.TrimPrefix(body, byteOrderMark)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := wholeJSON(line); err != nil {
			return parts{}, err
		}
		items = append(items, line)
	}
	return parts{items: items, around: map[string]any{}}, nil
}

// csvSplitter reads a table with a header line. An item is the row as a JSON object of texts.
type csvSplitter struct{ comma rune }

func (c csvSplitter) split(body []byte) (parts, error) {
	if strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<") {
		return parts{}, webPage()
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, byteOrderMark)))
	if c.comma != 0 {
		r.Comma = c.comma
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return parts{}, emptyBody()
	}
	var items [][]byte
	clear := isClear(header)
	for err == nil {
		var row []string
		if row, err = r.Read(); err == nil {
			var item []byte
			if item, err = rowObject(header, row, clear); err == nil {
				items = append(items, item)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return parts{}, notTable(err)
	}
	return parts{items: items, around: map[string]any{}}, nil
}

// notTable says why a table cannot be read.
func notTable(err error) error {
	fault, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return unreadable("the body is no table")
	case errors.Is(err, csv.ErrFieldCount):
		return unreadable(fmt.Sprintf("line %d of the table has another number of cells than its header", fault.Line))
	}
	return unreadable(fmt.Sprintf("line %d of the table has quotes that do not match", fault.Line))
}

// isClear reports whether the columns of a table have names of their own, all of them text. Columns without a name are often there
// more than once, behind the others, and no path reads them.
func isClear(header []string) bool {
	names := make(map[string]bool, len(header))
	for _, name := range header {
		if name != "" && names[name] {
			return false
		}
		names[name] = true
	}
	return validCells(header)
}

func validCells(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) })
}

// rowObject is a row as a JSON object of texts. What would have to be repaired stays as it was sent, bytes that are no text and columns
// of the same name: whoever reads the item sees them.
func rowObject(header, row []string, clear bool) ([]byte, error) {
	if clear && validCells(row) {
		object := make(map[string]string, len(row))
		for i, cell := range row {
			object[header[i]] = cell
		}
		return json.Marshal(object)
	}
	item := []byte{'{'}
	for i, cell := range row {
		if header[i] == "" && slices.Contains(header[i+1:], "") {
			continue
		}
		if len(item) > 1 {
			item = append(item, ',')
		}
		item = rawjson.AppendBytes(item, header[i])
		item = rawjson.AppendBytes(append(item, ':'), cell)
	}
	return append(item, '}'), nil
}
