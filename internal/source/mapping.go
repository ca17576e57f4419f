package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
)

// mapping reads one field from an item: a path, then an object template or none, then functions.
//
//	$.DOI | lower
//	$.author[*] {given: $.given, family: $.family}
type mapping struct {
	path   *jsonpath.Path
	many   bool // the path may select several nodes, so the field is a list
	object []member
	funcs  []function
}

// member is one entry of an object template.
type member struct {
	name string
	path *jsonpath.Path
}

type function func(any) (any, error)

// functions is the allow-list. Each is total, does no I/O and is bounded by its input.
var functions = map[string]function{
	"lower":     lower,
	"trim":      trim,
	"dateParts": dateParts,
}

// parseMapping compiles the text of one field.
func parseMapping(text string) (*mapping, error) {
	parts := splitOutside(text, '|')
	head := strings.TrimSpace(parts[0])
	m := &mapping{}
	if open := indexOutside(head, '{'); open >= 0 {
		if !strings.HasSuffix(head, "}") {
			return nil, fmt.Errorf("the object in %q is not closed", text)
		}
		if err := m.parseObject(head[open+1 : len(head)-1]); err != nil {
			return nil, err
		}
		head = strings.TrimSpace(head[:open])
	}
	path, err := parsePath(head)
	if err != nil {
		return nil, err
	}
	m.path, m.many = path, path.Query().Singular() == nil
	for _, name := range parts[1:] {
		fn, ok := functions[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("function %q is not known; known: dateParts, lower, trim", strings.TrimSpace(name))
		}
		m.funcs = append(m.funcs, fn)
	}
	return m, nil
}

func (m *mapping) parseObject(text string) error {
	for _, entry := range splitOutside(text, ',') {
		name, path, ok := strings.Cut(entry, ":")
		if !ok {
			return fmt.Errorf("%q is not `name: path`", strings.TrimSpace(entry))
		}
		p, err := parsePath(strings.TrimSpace(path))
		if err != nil {
			return err
		}
		m.object = append(m.object, member{strings.TrimSpace(name), p})
	}
	return nil
}

// read applies the mapping to an item; nil means that the item has no such field.
func (m *mapping) read(item any) (any, error) {
	nodes := []any(m.path.Select(item))
	for i, n := range nodes {
		if m.object != nil {
			nodes[i] = m.shape(n)
		}
	}
	if !m.many {
		if len(nodes) == 0 {
			return nil, nil
		}
		return m.apply(nodes[0])
	}
	out := make([]any, 0, len(nodes))
	for _, n := range nodes {
		v, err := m.apply(n)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

func (m *mapping) apply(v any) (_ any, err error) {
	for _, fn := range m.funcs {
		if v == nil {
			return nil, nil
		}
		if v, err = fn(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (m *mapping) shape(node any) any {
	out := map[string]any{}
	for _, mem := range m.object {
		if found := mem.path.Select(node); len(found) > 0 && found[0] != nil {
			out[mem.name] = found[0]
		}
	}
	return out
}

func lower(v any) (any, error) { return onText(v, strings.ToLower) }
func trim(v any) (any, error)  { return onText(v, strings.TrimSpace) }

func onText(v any, fn func(string) string) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("expected text, found %s", kindOf(v))
	}
	return fn(s), nil
}

// dateParts turns {"date-parts": [[2024, 3]]} into "2024-03".
func dateParts(v any) (any, error) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("expected an object with date-parts, found %s", kindOf(v))
	}
	outer, _ := object["date-parts"].([]any)
	if len(outer) == 0 {
		return nil, nil
	}
	inner, _ := outer[0].([]any)
	var parts []string
	for i, p := range inner[:min(3, len(inner))] {
		n, ok := p.(json.Number)
		if !ok {
			break
		}
		value, err := strconv.Atoi(n.String())
		if err != nil {
			return nil, fmt.Errorf("date part %s is no whole number", n)
		}
		parts = append(parts, fmt.Sprintf([]string{"%04d", "%02d", "%02d"}[i], value))
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return strings.Join(parts, "-"), nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "an object"
}

// splitOutside cuts at sep where it stands outside quotes, brackets and braces.
func splitOutside(text string, sep byte) []string {
	var parts []string
	for {
		at := indexOutside(text, sep)
		if at < 0 {
			return append(parts, text)
		}
		parts = append(parts, text[:at])
		text = text[at+1:]
	}
}

func indexOutside(text string, want byte) int {
	var quote byte
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == want && depth == 0:
			return i
		case c == '\'' || c == '"':
			quote = c
		case slices.Contains([]byte("[({"), c):
			depth++
		case slices.Contains([]byte("])}"), c):
			depth--
		}
	}
	return -1
}
