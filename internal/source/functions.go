package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"patra/internal/rawjson"
)

type function func(v any, args []string) (any, error)

// textFunction makes one text of another, or none.
type textFunction func(s string, args []string) (string, bool)

// Functions whose values are left where they stand.
const (
	callDateParts = "dateParts"
	callFirst     = "first"
	callList      = "list"
)

type listFunction func(values []any, args []string) (out []any, list bool, err error)

// textFunctions work on one text.
var textFunctions = map[string]struct {
	args  int
	apply textFunction
}{
	"lower":    {0, func(s string, _ []string) (string, bool) { return strings.ToLower(s), true }},
	"upper":    {0, func(s string, _ []string) (string, bool) { return strings.ToUpper(s), true }},
	"trim":     {0, func(s string, _ []string) (string, bool) { return strings.TrimSpace(s), true }},
	"collapse": {0, func(s string, _ []string) (string, bool) { return collapse(s), true }},
	"text":     {0, func(s string, _ []string) (string, bool) { return s, true }},
	"cut":      {1, func(s string, a []string) (string, bool) { return strings.TrimPrefix(s, a[0]), true }},
	"prefix":   {1, func(s string, a []string) (string, bool) { return a[0] + s, true }},
	"replace":  {2, func(s string, a []string) (string, bool) { return strings.ReplaceAll(s, a[0], a[1]), true }},
	"after":    {1, func(s string, a []string) (string, bool) { return afterLast(s, a[0]), true }},
	"nonempty": {0, func(s string, _ []string) (string, bool) { return s, strings.TrimSpace(s) != "" }},
}

// functions is the allow-list. Each is total, does no I/O and is bounded by its input.
var functions = func() map[string]struct {
	args  int
	apply function
} {
	all := map[string]struct {
		args  int
		apply function
	}{
		"markup":      {0, markup},
		"number":      {0, toNumber},
		callDateParts: {0, dateParts},
		"list":        {0, nil}, // on the whole list, below
		"first":       {0, nil},
		"last":        {0, nil},
		"count":       {0, nil},
		"distinct":    {0, nil},
		"join":        {1, nil},
		"split":       {1, nil},
	}
	for name, f := range textFunctions { // which are called one after the other, in calls of their own
		all[name] = struct {
			args  int
			apply function
		}{f.args, nil}
	}
	return all
}()

// listFunctions work on all values at once, and say whether a list comes out.
var listFunctions = map[string]listFunction{
	callList:   func(v []any, _ []string) ([]any, bool, error) { return v, true, nil },
	callFirst:  func(v []any, _ []string) ([]any, bool, error) { return v[:min(len(v), 1)], false, nil },
	"last":     func(v []any, _ []string) ([]any, bool, error) { return v[max(len(v)-1, 0):], false, nil },
	"count":    func(v []any, _ []string) ([]any, bool, error) { return []any{len(v)}, false, nil },
	"distinct": distinct,
	"join":     join,
	"split":    split,
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// asText is a value that functions on texts take.
func asText(v any) (string, error) {
	s, ok := textOf(v)
	if _, isNumber := v.(json.Number); !ok || isNumber {
		return "", fmt.Errorf("expected text, found %s", kindOf(v))
	}
	return s, nil
}

// afterLast is what stands behind the last separator, or the whole text where there is none.
func afterLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

// markup keeps the tags inside an element: `H<sub>2</sub>O` is not `H2O`.
func markup(v any, _ []string) (any, error) {
	n, ok := v.(*xmlNode)
	if !ok {
		return nil, fmt.Errorf("expected an element, found %s", kindOf(v))
	}
	return n.markup(), nil
}

func toNumber(v any, _ []string) (any, error) {
	s, ok := textOf(v)
	if !ok {
		return nil, fmt.Errorf("expected a number, found %s", kindOf(v))
	}
	s = strings.TrimSpace(s)
	if _, err := strconv.ParseFloat(s, 64); err != nil || !json.Valid([]byte(s)) {
		return nil, fmt.Errorf("%q is no number", s)
	}
	return json.Number(s), nil
}

// dateParts turns {"date-parts": [[2024, 3]]} into "2024-03".
func dateParts(v any, _ []string) (any, error) {
	var parts []string
	if n, is := v.(rawjson.Node); is && n.Kind() == rawjson.Object {
		var room [3]string
		parts = partsAt(n, room[:0])
	} else {
		object, ok := asMap(v)
		if !ok {
			return nil, fmt.Errorf("expected an object with date-parts, found %s", kindOf(v))
		}
		parts = partsIn(object)
	}
	if len(parts) == 0 {
		return nil, nil
	}
	var room [32]byte
	b := room[:0]
	for i, part := range parts {
		value, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("date part %s is no whole number", part)
		}
		if i > 0 {
			b = append(b, '-')
		}
		b = appendPadded(b, value, []int{4, 2, 2}[i])
	}
	return string(b), nil
}

// appendPadded appends a number with zeros before it.
func appendPadded(b []byte, value, width int) []byte {
	if value < 0 {
		return fmt.Appendf(b, "%0*d", width, value)
	}
	for limit := 10; width > 1; width-- {
		if value < limit {
			b = append(b, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(b, int64(value), 10)
}

// partsIn are the numbers of the first date in a tree.
func partsIn(object map[string]any) (parts []string) {
	outer, _ := object["date-parts"].([]any)
	if len(outer) == 0 {
		return nil
	}
	inner, _ := outer[0].([]any)
	for _, p := range inner[:min(3, len(inner))] {
		n, ok := p.(json.Number)
		if !ok {
			break
		}
		parts = append(parts, n.String())
	}
	return parts
}

// partsAt are the same at a node.
func partsAt(object rawjson.Node, parts []string) []string {
	outer, found := object.Member("date-parts")
	if !found {
		return nil
	}
	inner, found := outer.Element(0)
	if !found {
		return nil
	}
	for p := range inner.Elements() {
		if len(parts) == 3 || p.Kind() != rawjson.Number {
			break
		}
		parts = append(parts, string(p.Bytes()))
	}
	return parts
}

func texts(values []any) ([]string, error) {
	var out []string
	for _, v := range values {
		s, ok := textOf(v)
		if !ok {
			return nil, fmt.Errorf("expected texts, found %s", kindOf(v))
		}
		out = append(out, s)
	}
	return out, nil
}

func join(values []any, args []string) ([]any, bool, error) {
	if len(values) == 0 {
		return nil, false, nil
	}
	var room [2048]byte
	b := room[:0]
	for i, v := range values {
		if i > 0 {
			b = append(b, args[0]...)
		}
		if n, is := v.(*xmlNode); is {
			b = n.doc.AppendText(b, n.at)
			continue
		}
		s, ok := textOf(v)
		if !ok {
			return nil, false, fmt.Errorf("expected texts, found %s", kindOf(v))
		}
		b = append(b, s...)
	}
	values[0] = string(b) // what was found is ours
	return values[:1], false, nil
}

func split(values []any, args []string) (out []any, list bool, err error) {
	if args[0] == "" {
		return nil, true, errors.New("the separator is empty")
	}
	all, err := texts(values)
	for _, s := range all {
		for part := range strings.SplitSeq(s, args[0]) {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out, true, err
}

func distinct(values []any, _ []string) (out []any, list bool, err error) {
	all, err := texts(values)
	for i, s := range all {
		if !slices.Contains(all[:i], s) {
			out = append(out, s)
		}
	}
	return out, true, err
}

// plain is a value as JSON can hold it: an element becomes its text.
func plain(v any) any {
	if n, ok := v.(*xmlNode); ok {
		return strings.TrimSpace(n.text())
	}
	return v
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case rawjson.Node:
		if v.Kind() == rawjson.Array {
			return "a list"
		}
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	case *xmlNode:
		return "an element"
	}
	return "an object"
}
