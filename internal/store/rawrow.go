package store

import (
	"database/sql"
	"fmt"
)

// rawRow takes the values of a row as the driver gives them. Where there are tens of thousands of rows, to have database/sql
// convert every value takes longer than to read the row.
type rawRow struct {
	values []any
	into   []any // where Scan puts them
	err    error // what a value was that is not what was asked for
}

func newRawRow(columns int) *rawRow {
	r := &rawRow{values: make([]any, columns), into: make([]any, columns)}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r
}

func (r *rawRow) scan(rows *sql.Rows) error { return rows.Scan(r.into...) }

// number is a column that is never NULL.
func (r *rawRow) number(column int) int64 {
	n, ok := r.values[column].(int64)
	if !ok {
		r.wrong(column, "a number")
	}
	return n
}

// perhaps is a column that may be NULL.
func (r *rawRow) perhaps(column int) *int64 {
	if r.values[column] == nil {
		return nil
	}
	n := r.number(column)
	return &n
}

// text is a column of words, which one driver gives as text and the other as bytes.
func (r *rawRow) text(column int) string {
	switch v := r.values[column].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	r.wrong(column, "text")
	return ""
}

func (r *rawRow) wrong(column int, wanted string) {
	r.err = fmt.Errorf("column %d is %T and not %s", column, r.values[column], wanted)
}
