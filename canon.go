package patra

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical writes a value of ours as RFC 8785 JSON: sorted keys, one spelling for every number and string.
// It is for our own values only; other people's JSON keeps its number literals (see the source package).
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("canonical JSON: more than one value")
	}
	return appendCanonical(nil, tree)
}

// Hash is the lower-case hex SHA-256 of the canonical form. A value of ours that has none is a defect.
func Hash(v any) string {
	b, err := Canonical(v)
	if err != nil {
		panic(err)
	}
	return HashBytes(b)
}

// HashBytes is the lower-case hex SHA-256 of b.
func HashBytes(b []byte) string {
	sum := sha256.Sum256(b)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

func appendCanonical(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		return appendNumber(b, v)
	case []any:
		return appendArray(b, v)
	case map[string]any:
		return appendObject(b, v)
	}
	return nil, fmt.Errorf("canonical JSON: unexpected %T", v)
}

func appendArray(b []byte, items []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendCanonical(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, object map[string]any) (_ []byte, err error) {
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y string) int {
		return slices.Compare(utf16.Encode([]rune(x)), utf16.Encode([]rune(y)))
	})
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		if b, err = appendCanonical(b, object[k]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendNumber writes the shortest form that reads back as the same double, as ECMAScript does; the encoder
// of the standard library has that very rule. An integer that a double cannot hold is refused, not rounded.
func appendNumber(b []byte, n json.Number) ([]byte, error) {
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: number %s: %w", n, err)
	}
	if !strings.ContainsAny(n.String(), ".eE") {
		if whole, err := n.Int64(); err != nil || whole > 1<<53 || whole < -1<<53 {
			return nil, fmt.Errorf("canonical JSON: integer %s is beyond 2^53; write it as a string", n)
		}
	}
	if f == 0 {
		return append(b, '0'), nil // also for -0
	}
	text, err := json.Marshal(f)
	return append(b, text...), err
}

// appendString escapes only what RFC 8785 escapes.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
