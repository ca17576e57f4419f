package cli

import (
	"strings"
	"unicode/utf8"
)

// pageWidth is what fits every terminal.
const pageWidth = 80

// wrapped breaks a text between words so that it fits a page when it begins at a column.
func wrapped(text string, column int) string { return wrappedTo(text, column, pageWidth) }

// wrappedTo does the same for a page of another width.
func wrappedTo(text string, column, width int) string {
	var b strings.Builder
	at := column
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// stopped ends with a full stop, unless it ends a sentence already.
func stopped(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// sentence begins with a capital letter.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
