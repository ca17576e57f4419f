package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// ordinary are the bytes of a string that mean themselves and stand alone: no quotes, no escapes, no control characters, and
// nothing beyond ASCII.
var ordinary = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// run gives the place of the first byte from i on that is not ordinary, or the end of the text.
func run(b []byte, i int) int {
	const each = 0x0101010101010101
	for ; i+8 <= len(b); i += 8 {
		// Eight bytes at once: the highest bit of each is set where it is not ordinary. What is borrowed from a byte above makes
		// mistakes behind the first such byte only.
		w := binary.LittleEndian.Uint64(b[i:])
		if odd := (w | (w - ' '*each) | ((w ^ '"'*each) - each) | ((w ^ '\\'*each) - each)) & (0x80 * each); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && ordinary[b[i]] {
		i++
	}
	return i
}

// string walks the string at i and gives the place behind it, or -1.
func (d *Doc) string(i int) int {
	b, from, escaped, wide := d.text, i, false, false
	for i++; ; {
		if i = run(b, i); i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == '"':
			n := node{kind: String, plain: !escaped, wide: wide, settled: !escaped, from: uint32(from), to: uint32(i + 1), end: uint32(len(d.nodes)) + 1}
			if wide && !escaped {
				n.plain = utf8.Valid(b[from+1 : i])
				n.settled = n.plain && !separated(b[from+1:i])
			}
			d.nodes = append(d.nodes, n)
			return i + 1
		case c == '\\':
			escaped = true
			if i = escape(b, i+1); i < 0 {
				return -1
			}
		case c < 0x20:
			return -1
		default:
			wide = true
			for i++; i < len(b) && b[i] >= utf8.RuneSelf; i++ {
			}
		}
	}
}

// separated reports whether a text may have a line or paragraph separator, which are always escaped.
func separated(raw []byte) bool {
	return bytes.Contains(raw, []byte("\xe2\x80\xa8")) || bytes.Contains(raw, []byte("\xe2\x80\xa9"))
}

// escape gives the place behind the escape whose letter is at i, or -1.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return -1
		}
		for _, c := range b[i+1 : i+5] {
			if ('0' > c || c > '9') && ('a' > c || c > 'f') && ('A' > c || c > 'F') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

// number gives the place behind the number at i, or -1.
func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i = digits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i
}

// digits gives the place behind at least one digit, or -1.
func digits(b []byte, i int) int {
	from := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}
