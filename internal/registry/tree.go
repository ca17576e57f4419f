package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"patra"
	"patra/internal/strictyaml"
)

// tree is a value as JSON sees it. Numbers keep their spelling.
type tree = map[string]any

func toTree(v any) (tree, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return parseTree(b)
}

func parseTree(b []byte) (tree, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var t tree
	if err := dec.Decode(&t); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return t, nil
}

// cut takes the object at path out of t; nil if there is none.
func cut(t tree, path []string) tree {
	for i, key := range path {
		next, ok := t[key].(tree)
		if !ok {
			return nil
		}
		if i == len(path)-1 {
			delete(t, key)
		}
		t = next
	}
	return t
}

// wrap puts t at path of an otherwise empty tree.
func wrap(path []string, t tree) tree {
	for _, key := range slices.Backward(path) {
		t = tree{key: t}
	}
	return t
}

// overlay lays above over below, field by field; a list is one value.
func overlay(below, above tree) tree {
	out := maps.Clone(below)
	if out == nil {
		out = tree{}
	}
	for key, value := range above {
		upper, isUpper := value.(tree)
		lower, isLower := out[key].(tree)
		if isUpper && isLower {
			value = overlay(lower, upper)
		}
		out[key] = value
	}
	return out
}

// leaves are the single values of a tree by their paths. With items, a list is taken apart; else it is one value.
func leaves(t tree, items bool) map[string]any {
	found := map[string]any{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case tree:
			for key, value := range v {
				walk(strictyaml.Join(path, key), value)
			}
		case []any:
			if !items {
				found[path] = v
				return
			}
			for i, item := range v {
				walk(strictyaml.Index(path, i), item)
			}
		default:
			found[path] = v
		}
	}
	walk("", t)
	return found
}

// same compares two values by what they mean, not by how a number is spelled.
func same(a, b any) bool {
	x, errX := patra.Canonical(a)
	y, errY := patra.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
