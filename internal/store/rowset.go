package store

import "strings"

const (
	// rowsAtOnce is how many rows one statement writes on a server: each statement goes there and back.
	rowsAtOnce = 200
	// rowsEmbedded is the same where there is no way to go. A few rows share the price of a statement; with many values the driver
	// spends more on finding each value's place than on writing it.
	rowsEmbedded = 25
)

// rowset writes many rows of one table. The texts of its statements never differ on an embedded store, so that each is compiled
// once: many rows together, and one for what is left over.
type rowset struct {
	one, many  stmt
	name, into string
	width      int
}

// newRowset is for rows of a table; into ends with VALUES. Whoever writes them gives up the transaction if one cannot be written,
// and an embedded store need not be able to take back the others.
func newRowset(name, into string, width int) rowset {
	into = strings.Replace(into, "INSERT INTO", "INSERT {orfail} INTO", 1)
	return rowset{name: name, into: into, width: width, one: stmt{name, into + rowsOf(1, width)}, many: stmt{name + "s", into + rowsOf(rowsEmbedded, width)}}
}

// rowsOf is a list of rows of placeholders.
func rowsOf(n, width int) string {
	row := "(" + marks(width) + ")"
	return strings.Repeat(row+", ", n-1) + row
}

// addRows writes rows, one after the other in args.
func (t *tx) addRows(r rowset, args []any) error {
	for len(args) > 0 {
		n, err := t.addSome(r, args)
		if err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// addSome writes as many rows as one statement takes, and tells how many values they had.
func (t *tx) addSome(r rowset, args []any) (n int, err error) {
	switch {
	case !t.s.Embedded():
		n = min(len(args), rowsAtOnce*r.width)
		_, err = t.exec(stmt{r.name + "s", r.into + rowsOf(n/r.width, r.width)}, args[:n]...)
	case len(args) >= rowsEmbedded*r.width:
		n = rowsEmbedded * r.width
		_, err = t.many(r.many, args[:n]...)
	default:
		n = r.width
		_, err = t.many(r.one, args[:n]...)
	}
	return n, err
}
