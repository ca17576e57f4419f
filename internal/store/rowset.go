package store

import "strings"

// rowsAtOnce is how many rows one statement writes: most of the price of a small row is the statement around it.
const rowsAtOnce = 50

// rowset writes many rows of one table. The texts of its statements never differ, so that each is compiled once for a
// transaction: many rows together, and one for what is left over.
type rowset struct {
	one, many stmt
	width     int
}

func newRowset(name, into string, width int) rowset {
	row := "(" + marks(width) + ")"
	return rowset{width: width, one: stmt{name, into + row}, many: stmt{name + "s", into + strings.Repeat(row+", ", rowsAtOnce-1) + row}}
}

// addRows writes rows, one after the other in args.
func (t *tx) addRows(r rowset, args []any) error {
	for len(args) > 0 {
		st, n := r.one, r.width
		if len(args) >= rowsAtOnce*r.width {
			st, n = r.many, rowsAtOnce*r.width
		}
		if _, err := t.many(st, args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}
