package registry

import (
	"maps"
	"slices"
)

// Difference is a field that two things say differently. Nil: one of them does not say it.
type Difference struct {
	Path string `json:"path"`
	A    any    `json:"a"`
	B    any    `json:"b"`
}

// Diff compares two files or two specs field by field. The items of lists are compared by their place.
func Diff(a, b any) ([]Difference, error) {
	x, err := toTree(a)
	if err != nil {
		return nil, err
	}
	y, err := toTree(b)
	if err != nil {
		return nil, err
	}
	left, right := leaves(x, true), leaves(y, true)
	paths := slices.Sorted(maps.Keys(left))
	for path := range right {
		if _, ok := left[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	found := []Difference{}
	for _, path := range paths {
		if !same(left[path], right[path]) {
			found = append(found, Difference{Path: path, A: left[path], B: right[path]})
		}
	}
	return found, nil
}
