package export

import (
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// boundBytes is how much of a text is kept of the smallest and the largest of each page. They are all held in memory until
// the end of the file, and written there: the library would hold each of them whole, however long.
const boundBytes = 16

// boundedType is a type of texts whose pages have short bounds.
type boundedType struct{ parquet.Type }

// NewColumnIndexer implements parquet.Type.
func (b boundedType) NewColumnIndexer(int) parquet.ColumnIndexer {
	return boundedIndexer{b.Type.NewColumnIndexer(boundBytes)}
}

// boundedIndexer notes the bounds of pages.
type boundedIndexer struct{ parquet.ColumnIndexer }

// highest is above everything that anybody writes.
var highest = strings.Repeat(string(utf8.MaxRune), boundBytes/utf8.UTFMax)

// IndexPage implements parquet.ColumnIndexer. A column whose bounds are left out has none here, and the library would note
// that all of its texts are empty: who believes that skips pages that he wants. It could be anything, so that is what is noted.
func (b boundedIndexer) IndexPage(values, nulls int64, least, greatest parquet.Value) {
	if values > nulls {
		low, high := "", highest
		if !least.IsNull() && !greatest.IsNull() {
			low, high = below(string(least.ByteArray())), above(string(greatest.ByteArray()))
		}
		least, greatest = parquet.ByteArrayValue([]byte(low)), parquet.ByteArrayValue([]byte(high))
	}
	b.ColumnIndexer.IndexPage(values, nulls, least, greatest)
}

// start is the beginning of a text that leaves room for one character more.
func start(text string) string {
	n := boundBytes - utf8.UTFMax
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// below is a short text that is not above a text.
func below(text string) string {
	if len(text) <= boundBytes {
		return text
	}
	return start(text)
}

// above is a short text that is not below a text: its beginning with the last character that can be raised.
func above(text string) string {
	if len(text) <= boundBytes {
		return text
	}
	runes := []rune(start(text))
	for i := len(runes) - 1; i >= 0; i-- {
		next := runes[i] + 1
		if next == 0xD800 { // what follows are halves of characters, and no text has those
			next = 0xE000
		}
		if next <= utf8.MaxRune {
			return string(runes[:i]) + string(next)
		}
	}
	return text
}
