package query_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
)

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// problems are what an error of this package is made of.
func problems(err error) patra.Problems {
	found, ok := errors.AsType[patra.Problems](err)
	if !ok || len(found) == 0 {
		panic(fmt.Sprintf("%v is not a list of problems", err))
	}
	return found
}

// places lists where the problems are, and their codes.
func places(err error) string {
	var out []string
	for _, p := range problems(err) {
		out = append(out, fmt.Sprintf("%d:%d %s", p.Line, p.Col, p.Code))
	}
	return strings.Join(out, ", ")
}
