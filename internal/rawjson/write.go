package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends a string as the standard library writes it, without escapes for the sake of web pages.
func AppendString(b []byte, s string) []byte { return appendString(b, s) }

// AppendText is AppendString for bytes.
func AppendText(b, s []byte) []byte { return appendString(b, s) }

// AppendBytes appends a string with all its bytes as they are, also those that are no text: whoever reads it sees them.
func AppendBytes(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if ordinary[c] {
			for i++; i < len(s) && ordinary[s[i]]; i++ {
			}
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, '\\', 'b')
			case '\f':
				b = append(b, '\\', 'f')
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[from:i]...), `\ufffd`...)
			i++
			from = i
			continue
		}
		if r == '\u2028' || r == '\u2029' {
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, hexDigits[r&15])
			i += size
			from = i
			continue
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// Append appends a value as the standard library writes it, without escapes for the sake of web pages.
func Append(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		if v {
			return append(b, "true"...), nil
		}
		return append(b, "false"...), nil
	case string:
		return AppendString(b, v), nil
	case Node:
		return Append(b, v.Value())
	case []any:
		return appendList(b, v)
	case map[string]any:
		return appendObject(b, v)
	}
	return appendOther(b, v)
}

func appendList(b []byte, list []any) (_ []byte, err error) {
	if list == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = Append(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, object map[string]any) (_ []byte, err error) {
	if object == nil {
		return append(b, "null"...), nil
	}
	var room [32]string
	names := room[:0]
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, name), ':')
		if b, err = Append(b, object[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendOther leaves everything else to the standard library.
func appendOther(b []byte, v any) ([]byte, error) {
	var to bytes.Buffer
	enc := json.NewEncoder(&to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimSuffix(to.Bytes(), []byte("\n"))...), nil
}
