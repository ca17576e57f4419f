package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// gutter is what stands between two columns.
const gutter = 2

// printTable prints rows side by side as far as they fit the terminal, or a page where there is none. Columns that are empty
// in every row give way first; then what does not fit stands under its row, from the last column on.
func printTable(w io.Writer, names []string, rows [][]any) error {
	width, ok := terminalWidth(w)
	if !ok {
		width = pageWidth
	}
	for _, row := range rows {
		for i, cell := range row {
			if s := fmt.Sprint(cell); strings.ContainsAny(s, "\n\t") {
				row[i] = strings.Join(strings.Fields(s), " ")
			}
		}
	}
	widths := widthsOf(names, rows)
	if fitting(widths, width) < len(names) {
		names, rows = withoutEmpty(names, rows)
		widths = widthsOf(names, rows)
	}
	n := fitting(widths, width)
	first := make([][]any, len(rows))
	for i, row := range rows {
		first[i] = row[:n]
	}
	for i, line := range strings.Split(layoutColumns(names[:n], first), "\n") {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		if below := under(names[n:], rows[i-1][n:], min(width, pageWidth)); below != "" {
			if _, err := fmt.Fprintln(w, below); err != nil {
				return err
			}
		}
	}
	return nil
}

func widthsOf(names []string, rows [][]any) []int {
	widths := make([]int, len(names))
	for i, name := range names {
		widths[i] = utf8.RuneCountInString(name)
		for _, row := range rows {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(fmt.Sprint(row[i])))
		}
	}
	return widths
}

// fitting is how many columns fit side by side; one always does.
func fitting(widths []int, width int) int {
	at := 0
	for i, w := range widths {
		if at += w; at > width && i > 0 {
			return i
		}
		at += gutter
	}
	return len(widths)
}

// withoutEmpty leaves out columns that say nothing.
func withoutEmpty(names []string, rows [][]any) (some []string, cells [][]any) {
	cells = make([][]any, len(rows))
	for i, name := range names {
		empty := true
		for _, row := range rows {
			empty = empty && fmt.Sprint(row[i]) == ""
		}
		if empty {
			continue
		}
		some = append(some, name)
		for j, row := range rows {
			cells[j] = append(cells[j], row[i])
		}
	}
	return some, cells
}

// plainly are columns of sentences: nobody needs to be told which one it is.
var plainly = []string{"why", "detail", "error", "last error", "reason", "says"}

// under is what stands under a row.
func under(names []string, cells []any, width int) string {
	var said []string
	for i, cell := range cells {
		switch s := fmt.Sprint(cell); {
		case s == "":
		case slices.Contains(plainly, names[i]):
			said = append(said, s)
		default:
			said = append(said, strings.TrimSpace(names[i]+" "+s))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Repeat(" ", gutter) + wrappedTo(broken(strings.Join(said, ", "), width-gutter), gutter, width)
}

// broken cuts words that are longer than a line.
func broken(s string, width int) string {
	words := strings.Fields(s)
	for i, word := range words {
		if r := []rune(word); len(r) > width {
			var parts []string
			for ; len(r) > width; r = r[width:] {
				parts = append(parts, string(r[:width]))
			}
			words[i] = strings.Join(append(parts, string(r)), " ")
		}
	}
	return strings.Join(words, " ")
}
