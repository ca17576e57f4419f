package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// ValidText reports whether a string means text: whether it is UTF-8, and has no half of a pair of surrogates. Text gives U+FFFD in
// the place of what is none. What is no string is valid.
func (n Node) ValidText() bool {
	is := n.is()
	return is.kind != String || is.plain || validText(n.doc.text[is.from+1:is.to-1], is.wide)
}

// AllValidText reports whether all strings of the value mean text, and the names of its members. It does not look inside of except.
func (n Node) AllValidText(except Node) bool {
	for at := n.at; at < n.is().end; at++ {
		if at == except.at && at != 0 {
			at = except.is().end - 1
			continue
		}
		if !(Node{n.doc, at}).ValidText() {
			return false
		}
	}
	return true
}

// validText is ValidText for what stands between the quotes of a string that was walked.
func validText(raw []byte, wide bool) bool {
	if wide && !utf8.Valid(raw) {
		return false
	}
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return true
		}
		if raw[at+1] != 'u' {
			raw = raw[at+2:]
			continue
		}
		r := hex4(raw[at+2:])
		raw = raw[at+6:]
		if !utf16.IsSurrogate(r) {
			continue
		}
		if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' || utf16.DecodeRune(r, hex4(raw[2:])) == utf8.RuneError {
			return false
		}
		raw = raw[6:]
	}
}
