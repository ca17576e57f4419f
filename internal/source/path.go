package source

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

func parsePath(text string) (*jsonpath.Path, error) {
	p, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a JSONPath: %w", strconv.Quote(text), err)
	}
	return p, nil
}

// namePath is a path of member names. Such a path can be followed through raw bytes, so that a page is not turned
// into a tree just to find its items.
type namePath []string

func parseNamePath(text string) (namePath, error) {
	p, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	var names namePath
	for _, seg := range p.Query().Segments() {
		sel := seg.Selectors()
		name, ok := sel[0].(spec.Name)
		if !ok || len(sel) != 1 || seg.IsDescendant() {
			return nil, fmt.Errorf("%s does not consist of member names only", strconv.Quote(text))
		}
		names = append(names, string(name))
	}
	return names, nil
}

// raw finds the bytes at the path; found is false when a member is missing or its parent is no object.
func (p namePath) raw(body json.RawMessage) (value json.RawMessage, found bool) {
	for _, name := range p {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			return nil, false
		}
		if body, found = members[name]; !found {
			return nil, false
		}
	}
	return body, true
}

// remove deletes the member at the path from a tree, if it is there.
func (p namePath) remove(tree any) {
	for i, name := range p {
		members, ok := tree.(map[string]any)
		if !ok {
			return
		}
		if i == len(p)-1 {
			delete(members, name)
			return
		}
		tree = members[name]
	}
}
