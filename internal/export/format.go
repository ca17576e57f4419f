package export

import (
	"io"

	"patra"
)

// The formats.
const (
	JSONL   = "jsonl"
	CSV     = "csv"
	TSV     = "tsv"
	Parquet = "parquet"
)

// ListsAsJSON in place of a separator writes lists in cells as JSON.
const ListsAsJSON = "json"

// Format is how records are written.
type Format struct {
	Format    string   `json:"format"`
	Columns   []Column `json:"columns,omitempty"` // of a table; JSON lines have none
	Fields    []string `json:"fields,omitempty"`  // only these mapped fields
	Raw       bool     `json:"raw"`
	RawCells  bool     `json:"raw_cells,omitempty"` // cells that a spreadsheet would take for a formula stay as they are
	Separator string   `json:"separator,omitempty"` // between the members of a list in a cell

	small bool // many files are open at once, so each keeps little in memory
}

// whole reports whether a file of this form is of no use before its end is written.
func (f Format) whole() bool { return f.Format == Parquet }

// encoder writes records to a writer. What is pending is still held in memory.
type encoder interface {
	write(r patra.Record) error
	pending() int64
	flush() error
	close() error
}

// encoder makes one. An appended text has its heading already.
func (f Format) encoder(w io.Writer, appended bool) (encoder, error) {
	switch f.Format {
	case Parquet:
		return newParquet(w, f)
	case CSV:
		return newTable(w, f, ',', appended)
	case TSV:
		return newTable(w, f, '\t', appended)
	}
	return newLines(w, f), nil
}
