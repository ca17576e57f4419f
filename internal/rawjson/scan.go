package rawjson

import "unicode/utf8"

// ordinary are the bytes of a string that mean themselves and stand alone: no quotes, no escapes, no control characters, and
// nothing beyond ASCII.
var ordinary = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// string walks the string at i and gives the place behind it, or -1.
func (d *Doc) string(i int) int {
	b, from, escaped, wide := d.text, i, false, false
	for i++; ; {
		for i < len(b) && ordinary[b[i]] {
			i++
		}
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == '"':
			plain := !escaped && (!wide || utf8.Valid(b[from+1:i]))
			d.nodes = append(d.nodes, node{kind: String, plain: plain, from: uint32(from), to: uint32(i + 1), end: uint32(len(d.nodes)) + 1})
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
			i++
		}
	}
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
