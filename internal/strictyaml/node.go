package strictyaml

import "github.com/goccy/go-yaml/ast"

// kind is the shape of a node.
type kind int

const (
	null    kind = iota // nothing was written, or ~, or null
	scalar              // one text
	mapping             // keys with values
	list                // items
	unread              // an alias: already a problem, so nothing more is said about it
)

// String names the shape as a message does.
func (k kind) String() string {
	switch k {
	case scalar:
		return "a single value"
	case mapping:
		return "a mapping"
	case list:
		return "a list"
	}
	return "nothing"
}

// node is a value of the document, freed from the many node types of the YAML library.
type node struct {
	kind      kind
	line, col int
	text      string  // of a scalar
	quoted    bool    // a scalar in quotes or a text block is text, whatever it looks like
	secret    bool    // rewritten, perhaps with a secret: never shown
	entries   []entry // of a mapping
	items     []*node // of a list
	raw       ast.Node
}

// entry is one key of a mapping with its value.
type entry struct {
	key       string
	line, col int
	value     *node
}

// place is where a value stands, as a problem names it.
type place struct {
	path      string
	line, col int
}

func (n *node) place(path string) place { return place{path: path, line: n.line, col: n.col} }

// at is the place of the entry's value below parent. Anything but a scalar is named by its key: a nested mapping
// begins a line later, where nobody would look for it.
func (e entry) at(parent string) place {
	path := Join(parent, e.key)
	if e.value.kind == scalar {
		return e.value.place(path)
	}
	return place{path: path, line: e.line, col: e.col}
}

// child follows one step of a path from n, which stands at p.
func (n *node) child(p place, s step) (*node, place, bool) {
	if s.index >= 0 {
		if n.kind != list || s.index >= len(n.items) {
			return nil, p, false
		}
		item := n.items[s.index]
		return item, item.place(Index(p.path, s.index)), true
	}
	for _, e := range n.entries {
		if e.key == s.key {
			return e.value, e.at(p.path), true
		}
	}
	return nil, p, false
}

func (n *node) rewrite(path string, fn func(path, text string) (string, bool)) {
	for _, e := range n.entries {
		e.value.rewrite(Join(path, e.key), fn)
	}
	for i, item := range n.items {
		item.rewrite(Index(path, i), fn)
	}
	if n.kind != scalar {
		return
	}
	switch text, ok := fn(path, n.text); {
	case !ok:
		n.kind = unread
	case text != n.text:
		n.text, n.secret = text, true
	}
}
