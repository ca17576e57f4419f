package export

import (
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"patra"
)

// A row group is held in memory, packed, until it is whole, so it is bounded in bytes; so is all that several files hold
// together. What is known of each group is held until the end of the file, so groups are not small either.
const (
	groupBytes = 64 << 20
	rowsAtOnce = 64
)

// parquetWriter writes Parquet. Rows are put together by hand: the columns are known only when the program runs.
type parquetWriter struct {
	w     *parquet.GenericWriter[any]
	form  Format
	known []builtinColumn
	rows  []parquet.Row
	held  int64 // bytes in the row group that is not written yet
}

// newParquet begins a file. Texts that repeat all the time are written once for each row group.
func newParquet(w io.Writer, f Format) (*parquetWriter, error) {
	c := &parquetWriter{form: f, known: make([]builtinColumn, len(f.Columns))}
	for i, col := range f.Columns {
		if col.Field == "" {
			c.known[i], _ = fixedColumn(col.Name)
		}
	}
	page := 256 << 10 // what is kept about each page until the end of the file is little, but pages are many
	if f.small {
		page = 32 << 10
	}
	options := []parquet.WriterOption{schemaOf(f.Columns), parquet.Compression(&zstdCodec{}), parquet.CreatedBy("patra", "", ""), parquet.PageBufferSize(page),
		parquet.DataPageStatistics(false)} // the index has them: in the pages they would be whole texts, four for each page
	for _, long := range []string{"fields", "raw"} { // the smallest and largest of these say nothing, and are long
		options = append(options, parquet.SkipPageBounds(long))
	}
	c.w = parquet.NewGenericWriter[any](w, options...)
	return c, nil
}

// orderedGroup is a group whose columns stand as they were named, and not by the alphabet.
type orderedGroup struct {
	parquet.Group
	names []string
}

// Fields implements parquet.Node.
func (o orderedGroup) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(o.names, a.Name()) - slices.Index(o.names, b.Name())
	})
	return fields
}

func schemaOf(columns []Column) *parquet.Schema {
	group, names := parquet.Group{}, make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
		group[c.Name] = nodeOf(c)
	}
	return parquet.NewSchema("record", orderedGroup{group, names})
}

func nodeOf(c Column) parquet.Node {
	switch c.Kind {
	case Texts:
		return parquet.Optional(parquet.List(text()))
	case Number:
		return parquet.Optional(parquet.Int(64))
	case Boolean:
		return parquet.Optional(parquet.Leaf(parquet.BooleanType))
	case Time:
		return parquet.Optional(parquet.Timestamp(parquet.Microsecond))
	case JSON:
		return parquet.Optional(parquet.Leaf(boundedType{parquet.JSON().Type()}))
	}
	if c.Field == "" && (c.Name == "source" || c.Name == "record_type") {
		return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	}
	return parquet.Optional(text())
}

func text() parquet.Node { return parquet.Leaf(boundedType{parquet.String().Type()}) }

func (c *parquetWriter) write(r patra.Record) error {
	fields, err := unpack(r)
	if err != nil {
		return err
	}
	row := make(parquet.Row, 0, len(c.form.Columns)+8)
	for i, col := range c.form.Columns {
		switch k := c.known[i]; {
		case col.Field != "":
			texts, list, ok := field(fields[col.Field])
			if col.Kind != Texts { // a text column holds no list, but the only member of one
				ok = ok && (!list || len(texts) == 1)
			}
			row = c.appendTexts(row, i, col.Kind == Texts, texts, ok)
		case k.text != nil:
			if k.Name == "fields" {
				if r, err = Narrow(r, c.form.Fields); err != nil {
					return err
				}
			}
			text, ok := k.text(r)
			row = c.appendTexts(row, i, false, []string{text}, ok)
		default:
			n, ok := k.number(r)
			row = append(row, numberOf(k.Kind, n, ok).Level(0, int(truth(ok)), i))
			c.held += 8
		}
	}
	if c.rows = append(c.rows, row); len(c.rows) < rowsAtOnce {
		return nil
	}
	return c.pass()
}

func numberOf(k Kind, n int64, ok bool) parquet.Value {
	switch {
	case !ok:
		return parquet.NullValue()
	case k == Boolean:
		return parquet.BooleanValue(n != 0)
	}
	return parquet.Int64Value(n)
}

// appendTexts appends one text or a list of them. The levels say how much of the path is there: nothing, the (empty) list,
// or a member.
func (c *parquetWriter) appendTexts(row parquet.Row, column int, list bool, texts []string, ok bool) parquet.Row {
	switch {
	case !ok:
		return append(row, parquet.NullValue().Level(0, 0, column))
	case list && len(texts) == 0:
		return append(row, parquet.NullValue().Level(0, 1, column))
	}
	for i, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD") // as in JSON: readers refuse a file over one bad byte
		row = append(row, parquet.ByteArrayValue([]byte(text)).Level(int(truth(i > 0)), 1+int(truth(list)), column))
		c.held += int64(len(text)) + 4
	}
	return row
}

// pass hands the collected rows on, and ends the row group when it is large enough.
func (c *parquetWriter) pass() error {
	_, err := c.w.WriteRows(c.rows)
	clear(c.rows)
	if c.rows = c.rows[:0]; err == nil && c.held >= groupBytes {
		err = c.flush()
	}
	return err
}

func (c *parquetWriter) pending() int64 { return c.held }

func (c *parquetWriter) flush() error {
	c.held = 0
	if len(c.rows) > 0 {
		if err := c.pass(); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

func (c *parquetWriter) close() error {
	if err := c.pass(); err != nil {
		return err
	}
	return c.w.Close()
}
