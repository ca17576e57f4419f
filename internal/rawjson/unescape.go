package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescaped is what a letter behind a backslash stands for, but for the u.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendMeaning appends what stands between the quotes of a string that was walked. What is no text becomes U+FFFD, as the
// standard library has it: bytes that are no UTF-8, and halves of pairs.
func appendMeaning(b, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] != 'u':
			b = append(b, unescaped[raw[i+1]])
			i += 2
		case c == '\\':
			r := hex4(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				half := rune(-1)
				if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					half = hex4(raw[i+2:])
				}
				if r = utf16.DecodeRune(r, half); r != utf8.RuneError {
					i += 6
				}
			}
			b = utf8.AppendRune(b, r)
		case c < utf8.RuneSelf:
			from := i
			for i++; i < len(raw) && ordinary[raw[i]]; i++ {
			}
			b = append(b, raw[from:i]...)
		default:
			r, size := utf8.DecodeRune(raw[i:])
			b = utf8.AppendRune(b, r)
			i += size
		}
	}
	return b
}

// hex4 reads four digits of a walked text.
func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
