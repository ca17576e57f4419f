package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// format is how a reading command prints.
type format string

// formatFlag adds -o to a command.
func formatFlag(c *cobra.Command, f *format) {
	*f = "table"
	c.Flags().VarP((*formatValue)(f), "output", "o", "table, json, jsonl or yaml")
}

type formatValue format

// String implements pflag.Value.
func (f *formatValue) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *formatValue) Type() string { return "format" }

// Set implements pflag.Value.
func (f *formatValue) Set(s string) error {
	switch s {
	case "table", "json", "jsonl", "yaml":
		*f = formatValue(s)
		return nil
	}
	return fmt.Errorf("%q is none of table, json, jsonl, yaml", s)
}

// done says what was done: to people in a sentence, with the next command if there is one, and to programs as a value.
func (a *app) done(out format, v any, said, next string) error {
	if out != "table" {
		return printValue(a.stdout, out, v)
	}
	if next != "" {
		said += "\nNext: " + next
	}
	_, err := fmt.Fprintln(a.stdout, said)
	return err
}

// columns is how rows of T look in a table.
type columns[T any] struct {
	names []string
	row   func(T) []any
	empty string // what to say, and to do next, when there is nothing
	// repository is a last column for lists where anything is of one repository of many.
	repository func(T) string
	fit        bool // what does not fit beside stands under its row; otherwise only in a terminal
}

// printRows prints a list in the wanted format.
func printRows[T any](w io.Writer, f format, rows []T, c columns[T]) error {
	switch f {
	case "jsonl":
		for _, r := range rows {
			if err := printJSON(w, r, ""); err != nil {
				return err
			}
		}
		return nil
	case "table":
		if len(rows) == 0 {
			_, err := fmt.Fprintln(w, c.empty)
			return err
		}
		c = c.withRepository(rows)
		if c.fit {
			cells := make([][]any, len(rows))
			for i, r := range rows {
				cells[i] = c.row(r)
			}
			return printTable(w, c.names, cells)
		}
		t := newTable(w, c.names...)
		for _, r := range rows {
			t.AppendRow(c.row(r))
		}
		t.Render()
		return nil
	}
	return printValue(w, f, rows)
}

// withRepository has the repositories in a column of their own, if there are any among the rows.
func (c columns[T]) withRepository(rows []T) columns[T] {
	of := c.repository
	if of == nil || !slices.ContainsFunc(rows, func(r T) bool { return of(r) != "" }) {
		return c
	}
	row := c.row
	c.names = append(slices.Clone(c.names), "repository")
	c.row = func(r T) []any { return append(row(r), of(r)) }
	return c
}

// printValue prints anything as JSON or YAML.
func printValue(w io.Writer, f format, v any) error {
	if f != "yaml" {
		indent := "  "
		if f == "jsonl" {
			indent = ""
		}
		return printJSON(w, v, indent)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	y, err := yaml.JSONToYAML(b)
	if err != nil {
		return err
	}
	_, err = w.Write(y)
	return err
}

func printJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// tableBuilder gathers rows that are printed together.
type tableBuilder struct {
	w     io.Writer
	names []string
	rows  [][]any
}

// newTable is a table without frames.
func newTable(w io.Writer, names ...string) *tableBuilder { return &tableBuilder{w: w, names: names} }

// AppendRow puts a row under the others.
func (s *tableBuilder) AppendRow(cells []any) { s.rows = append(s.rows, cells) }

// Render prints it. Nothing is cut off at the edge of a terminal: what does not fit beside stands under its row. A file or
// a pipe has no edge.
func (s *tableBuilder) Render() {
	if _, ok := terminalWidth(s.w); ok {
		_ = printTable(s.w, s.names, s.rows) // like everything that is only for the eye
		return
	}
	fmt.Fprintln(s.w, layoutColumns(s.names, s.rows))
}

// layoutColumns lays rows out side by side.
func layoutColumns(names []string, rows [][]any) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateColumns: false, DrawBorder: false, SeparateHeader: false}
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = strings.Repeat(" ", gutter)
	t.SetStyle(style)
	header := make(table.Row, len(names))
	for i, n := range names {
		header[i] = strings.ToUpper(n)
	}
	t.AppendHeader(header)
	for _, row := range rows {
		t.AppendRow(row)
	}
	lines := strings.Split(t.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// terminalWidth is the width of the terminal behind w, if there is one.
func terminalWidth(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// thousands writes a number as people read it.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural is `1 slice`, `2 slices`.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "h") {
		return thousands(n) + " " + noun + "es"
	}
	return thousands(n) + " " + noun + "s"
}

// printIndented shows JSON for people.
func printIndented(w io.Writer, raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "  ", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "  %s\n", b.Bytes())
	return err
}
