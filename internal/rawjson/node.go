package rawjson

import (
	"encoding/json"
	"iter"
)

// Node is a value in a document.
type Node struct {
	doc *Doc
	at  uint32
}

// Root is the whole value.
func (d *Doc) Root() Node { return Node{d, 0} }

// Kind is what the value is.
func (n Node) Kind() Kind { return n.is().kind }

func (n Node) is() *node { return &n.doc.nodes[n.at] }

// Bytes are the value as it was sent.
func (n Node) Bytes() []byte { return n.doc.text[n.is().from:n.is().to] }

// Member finds a member of an object. Of two with the same name the last counts.
func (n Node) Member(name string) (found Node, ok bool) {
	if n.Kind() != Object {
		return Node{}, false
	}
	if n.doc.of == n.at+1 {
		return n.doc.remembered(name)
	}
	nodes, text, end := n.doc.nodes, n.doc.text, n.is().end
	for at := n.at + 1; at < end; at = nodes[at+1].end {
		if is := &nodes[at]; is.plain && (int(is.to-is.from) != len(name)+2 || string(text[is.from+1:is.to-1]) != name) {
			continue
		} else if !is.plain && n.doc.meaning(at) != name {
			continue
		}
		found, ok = Node{n.doc, at + 1}, true
	}
	return found, ok
}

// Element finds an element of a list; one below zero is counted from its end.
func (n Node) Element(i int) (Node, bool) {
	if n.Kind() != Array {
		return Node{}, false
	}
	if i < 0 {
		for range n.Elements() {
			i++
		}
		if i < 0 {
			return Node{}, false
		}
	}
	for e := range n.Elements() {
		if i == 0 {
			return e, true
		}
		i--
	}
	return Node{}, false
}

// Elements are the elements of a list; nothing else has any.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Array {
			return
		}
		nodes, end := n.doc.nodes, n.is().end
		for at := n.at + 1; at < end; at = nodes[at].end {
			if !yield(Node{n.doc, at}) {
				return
			}
		}
	}
}

// AppendElements appends the elements of a list.
func (n Node) AppendElements(to []Node) []Node {
	for e := range n.Elements() {
		to = append(to, e)
	}
	return to
}

// meaning is what the string at a node says.
func (d *Doc) meaning(at uint32) string {
	is := &d.nodes[at]
	if is.plain {
		return string(d.text[is.from+1 : is.to-1])
	}
	return string(appendMeaning(nil, d.text[is.from+1:is.to-1]))
}

// Text is what a string says; nothing else says anything.
func (n Node) Text() string {
	if n.Kind() != String {
		return ""
	}
	return n.doc.meaning(n.at)
}

// Value is the value as the standard library would decode it, with numbers as they were written.
func (n Node) Value() any { return n.ValueWith(Node{}, nil) }

// ValueWith is the value, with something else in place of a value inside it.
func (n Node) ValueWith(inside Node, instead any) any {
	if n == inside {
		return instead
	}
	switch n.Kind() {
	case False:
		return false
	case True:
		return true
	case Number:
		return json.Number(n.Bytes())
	case String:
		return n.doc.meaning(n.at)
	case Array:
		all := []any{}
		for e := range n.Elements() {
			all = append(all, e.ValueWith(inside, instead))
		}
		return all
	case Object:
		nodes, end := n.doc.nodes, n.is().end
		all := map[string]any{}
		for at := n.at + 1; at < end; at = nodes[at+1].end {
			all[n.doc.meaning(at)] = Node{n.doc, at + 1}.ValueWith(inside, instead)
		}
		return all
	}
	return nil
}
