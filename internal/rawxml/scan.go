package rawxml

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// What a byte is inside a text.
const (
	ordinary byte = iota // it means itself
	wide                 // a part of a longer character
	special              // it is looked at
	never                // it cannot be there
)

// classes are what bytes are inside texts, in values of attributes (where quotes are looked at) and in names.
var inText, inValue, inName = func() (text, value, name [256]byte) {
	for c := range 256 {
		switch {
		case c >= utf8.RuneSelf:
			text[c] = wide
		case strings.IndexByte("<&]\r", byte(c)) >= 0:
			text[c] = special
		case c < 0x20 && c != '\t' && c != '\n':
			text[c] = never
		}
		value[c] = text[c]
		name[c] = never
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_':
			name[c] = ordinary
		case '0' <= c && c <= '9' || c == '-' || c == '.':
			name[c] = special // not at its beginning
		case c >= utf8.RuneSelf:
			name[c] = wide
		}
	}
	value['"'], value['\''], value[']'] = special, special, ordinary
	text[0xEF], value[0xEF] = special, special // two that begin so are no characters
	return text, value, name
}()

// run gives the place of the first byte from i on that is not ordinary in a text, or of some that are, or the end.
func run(b []byte, i int) int {
	const each = 0x0101010101010101
	for ; i+8 <= len(b); i += 8 {
		// Eight bytes at once: the highest bit of each is set where it is looked at. What is borrowed from a byte above
		// makes mistakes behind the first such byte only.
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := (w | (w - ' '*each) | ((w ^ '<'*each) - each) | ((w ^ '&'*each) - each) | ((w ^ ']'*each) - each)) & (0x80 * each); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && inText[b[i]] == ordinary {
		i++
	}
	return i
}

func has(b []byte, i int, prefix string) bool {
	return i+len(prefix) <= len(b) && string(b[i:i+len(prefix)]) == prefix
}

// spaces gives the place behind spaces.
func spaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// ncName gives the place behind a name without a prefix, or -1. Any character beyond ASCII may be part of one.
func ncName(b []byte, i int) int {
	from := i
	if i >= len(b) || inName[b[i]] != ordinary && inName[b[i]] != wide {
		return -1
	}
	beyond := byte(0)
	for ; i < len(b) && inName[b[i]] != never; i++ {
		beyond |= b[i]
	}
	if beyond >= utf8.RuneSelf && !utf8.Valid(b[from:i]) {
		return -1
	}
	return i
}

// noCharacter reports whether a character begins here that no document may have: U+FFFE or U+FFFF.
func noCharacter(b []byte, i int) bool {
	return i+2 < len(b) && b[i+1] == 0xBF && b[i+2] >= 0xBE
}

// bom is what a text may begin with.
const bom = "\ufeff"

// doctypeWord begins the name of a grammar.
const doctypeWord = "DOCTYPE"

// doctype gives the place behind the DOCTYPE at i, which has a name and may declare nothing, or -1.
func doctype(b []byte, i int) int {
	word := i + len(doctypeWord)
	if i = spaces(b, word); i == word || i >= len(b) || b[i] == '>' {
		return -1
	}
	var quote byte
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case quote != 0: // an address may have brackets
			if c == quote {
				quote = 0
			}
		case c == '[' || c == '<':
			return -1
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return -1
}

// reference gives the place behind the reference at i, and the character that it stands for, or -1.
func reference(b []byte, i int) (int, rune) {
	rest := b[i+1 : min(len(b), i+12)]
	end := bytes.IndexByte(rest, ';')
	if end < 0 {
		return -1, 0
	}
	switch string(rest[:end]) {
	case "lt":
		return i + 4, '<'
	case "gt":
		return i + 4, '>'
	case "amp":
		return i + 5, '&'
	case "apos":
		return i + 6, '\''
	case "quot":
		return i + 6, '"'
	}
	if end < 2 || rest[0] != '#' {
		return -1, 0
	}
	r, base := rune(0), rune(10)
	digits := rest[1:end]
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	if len(digits) == 0 || len(digits) > 7 {
		return -1, 0
	}
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case base == 16 && 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case base == 16 && 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1, 0
		}
		r = r*base + rune(c)
	}
	if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || !utf8.ValidRune(r) || r == 0xFFFE || r == 0xFFFF {
		return -1, 0
	}
	return i + 1 + end + 1, r
}
