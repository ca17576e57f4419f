package source

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// collapse puts one space between words. Almost all texts are so already, and are left as they are.
func collapse(s string) string {
	if collapsed(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

const (
	each   = 0x0101010101010101
	high   = 0x80 * each
	spaces = ' ' * each
)

// collapsed reports whether there are single spaces between the words of a text, and nothing else that is a space.
func collapsed(s string) bool {
	if s == "" {
		return true
	}
	if s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	i, before := 0, uint64(0) // before: whether the byte before is a space
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 | uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if w&high != 0 || (w-spaces)&^w&high != 0 { // there is more than ASCII, or a control character
			if !calm(s, i, i+8) {
				return false
			}
		}
		x := w ^ spaces
		is := ^((x&^high + ^uint64(high)) | x) & high // the highest bit of each byte that is a space
		if is&(is<<8|before) != 0 {
			return false
		}
		before = is >> 56
	}
	for ; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] == ' ' || !calm(s, i, i+1) { // the first is none
			return false
		}
	}
	return true
}

// calm reports whether no character that begins in a part of a text is a space, but for spaces themselves.
func calm(s string, from, to int) bool {
	for i := from; i < to; i++ {
		switch c := s[i]; {
		case c >= '\t' && c <= '\r':
			return false
		case c == 0xC2 || c >= 0xE1 && c <= 0xE3: // as all longer spaces begin
			if r, _ := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(r) {
				return false
			}
		}
	}
	return true
}
