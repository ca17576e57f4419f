package source

import (
	"encoding/json"
	"slices"
)

// span is a stretch of bytes.
type span struct{ from, to int }

// member finds the value of a member of the object at s in a valid JSON text. Walking bytes is many times faster than
// making a tree of a page just to find its items, and the items stay as they were sent.
func member(b []byte, s span, name string) (span, bool) {
	i := skipSpace(b, s.from)
	if i >= s.to || b[i] != '{' {
		return span{}, false
	}
	for i = skipSpace(b, i+1); b[i] != '}'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		end := skipString(b, i)
		key := span{i, end}
		i = skipSpace(b, skipSpace(b, end)+1) // past the colon
		value := span{i, skipValue(b, i)}
		if sameKey(b[key.from:key.to], name) {
			return value, true
		}
		i = value.to
	}
	return span{}, false
}

// elements lists the values of the array at s; ok is false when there is no array.
func elements(b []byte, s span) (all []span, ok bool) {
	i := skipSpace(b, s.from)
	if i >= s.to || b[i] != '[' {
		return nil, false
	}
	for i = skipSpace(b, i+1); b[i] != ']'; i = skipSpace(b, i) {
		if b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		value := span{i, skipValue(b, i)}
		all = append(all, value)
		i = value.to
	}
	return all, true
}

// sameKey compares a quoted key with a name.
func sameKey(quoted []byte, name string) bool {
	if inner := quoted[1 : len(quoted)-1]; !slices.Contains(inner, '\\') {
		return string(inner) == name
	}
	var key string
	return json.Unmarshal(quoted, &key) == nil && key == name
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString gives the end of the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue gives the end of the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ' ' && b[i] != '\n' && b[i] != '\t' && b[i] != '\r' {
		i++
	}
	return i
}
