package store

import (
	"slices"
	"strconv"
	"strings"
)

const (
	// rowsAtOnce is how many rows one statement writes on a server: each statement goes there and back.
	rowsAtOnce = 200
	// rowsEmbedded is the same where there is no way to go. A few rows share the price of a statement; with many values the driver
	// spends more on finding each value's place than on writing it.
	rowsEmbedded = 25
)

// sizesEmbedded are the numbers of rows for which an embedded store has a statement. Their texts never differ, so that each is
// compiled once.
var sizesEmbedded = []int{rowsEmbedded, rowsEmbedded / 5, 1}

// bulkInsert writes many rows of one table.
type bulkInsert struct {
	name, into string
	width      int
	shared     []int // columns, from 0, in which rows that are written together mostly say the same
	embedded   []stmt
}

// newRowset is for rows of a table; into ends with VALUES. Whoever writes them gives up the transaction if one cannot be written,
// and an embedded store need not be able to take back the others.
func newRowset(name, into string, width int, shared ...int) bulkInsert {
	r := bulkInsert{name: name, into: strings.Replace(into, "INSERT INTO", "INSERT {orfail} INTO", 1), width: width, shared: shared}
	row := make([]string, width)
	for i := range row {
		row[i] = "?"
		if slices.Contains(shared, i) {
			row[i] += strconv.Itoa(i + 1)
		}
	}
	for _, n := range sizesEmbedded {
		r.embedded = append(r.embedded, stmt{name + "s", r.into + repeated("("+strings.Join(row, ", ")+")", n)})
	}
	return r
}

// repeated is a list of n times the same.
func repeated(row string, n int) string { return strings.Repeat(row+", ", n-1) + row }

// fitting is the largest size of which there are that many rows, and its place among the sizes.
func fitting(rows int) (n, at int) {
	at = slices.IndexFunc(sizesEmbedded, func(n int) bool { return n <= rows })
	return sizesEmbedded[at], at
}

// addRows writes rows, one after the other in args.
func (t *tx) addRows(r bulkInsert, args []any) error {
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
func (t *tx) addSome(r bulkInsert, args []any) (n int, err error) {
	if t.s.Embedded() {
		rows, at := fitting(r.agreeing(args))
		_, err = t.many(r.embedded[at], r.once(args[:rows*r.width])...)
		return rows * r.width, err
	}
	n = min(len(args), rowsAtOnce*r.width)
	_, err = t.exec(stmt{r.name + "s", r.into + repeated("("+marks(r.width)+")", n/r.width)}, args[:n]...)
	return n, err
}

// agreeing is how many rows say the same as the first in the shared columns, as far as one statement could take them.
func (r bulkInsert) agreeing(args []any) int {
	for n := 1; n < min(len(args)/r.width, rowsEmbedded); n++ {
		if slices.ContainsFunc(r.shared, func(i int) bool { return args[n*r.width+i] != args[i] }) {
			return n
		}
	}
	return min(len(args)/r.width, rowsEmbedded)
}

// once are the values of rows with those of the shared columns only in the first. There every value has the number of its column, and
// a mark without a number is the one behind the highest so far.
func (r bulkInsert) once(args []any) []any {
	if len(r.shared) == 0 {
		return args
	}
	own := append(make([]any, 0, len(args)), args[:r.width]...)
	for row := range slices.Chunk(args[r.width:], r.width) {
		for i, v := range row {
			if !slices.Contains(r.shared, i) {
				own = append(own, v)
			}
		}
	}
	return own
}
