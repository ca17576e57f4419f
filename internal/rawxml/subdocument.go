package rawxml

import "slices"

// Top is the element that is looked at: the root, or another one that was turned to.
func (d *Doc) Top() Node { return d.top }

// Turn looks at an element of the document as if it stood alone. It must be one that could.
func (d *Doc) Turn(n Node) { d.top = n }

// Alone reports whether Reset reads an element that stands alone, with some prefixes declared at the beginning of its tag. It
// means there what it means here then. The document must have been read with ResetNames, which looks at no prefix: only what
// has one, or declares one, is looked at now.
func (d *Doc) Alone(n Node, given ...Space) bool {
	d.open, d.scope, d.known = d.open[:0], d.scope[:0], d.known[:0]
	for _, s := range given {
		if len(s.Means) == 0 || string(s.Prefix) == "xml" || !d.enter(s) {
			return false
		}
	}
	at, _ := slices.BinarySearch(d.spaced, n)
	for end := d.End(n); at < len(d.spaced) && d.spaced[at] < end; {
		behind := at + 1
		e := d.elementOf(d.spaced[at])
		for behind < len(d.spaced) && d.elementOf(d.spaced[behind]) == e {
			behind++
		}
		if !d.tagDeclared(e, d.spaced[at:behind]) {
			return false
		}
		at = behind
	}
	return !d.names
}

// elementOf is the element whose tag a node is part of.
func (d *Doc) elementOf(n Node) Node {
	if d.nodes[n].kind == Attribute {
		return d.nodes[n].parent
	}
	return n
}

// tagDeclared enters an element, and reports whether its tag may declare what it does and has no prefix that is not declared.
// Of the tag those parts are given that have a prefix or declare one.
func (d *Doc) tagDeclared(e Node, spaced []Node) bool {
	for top := len(d.open) - 1; top >= 0 && d.End(d.open[top].at) <= e; top-- {
		d.scope, d.open = d.scope[:d.open[top].scope], d.open[:top]
	}
	d.open = append(d.open, frame{e, len(d.scope)})
	for _, n := range spaced {
		if n != e && !d.declare(n) {
			return false
		}
	}
	for _, n := range spaced {
		if n == e && !d.inScope(d.prefix(n)) || n != e && !d.attributeDeclared(n) {
			return false
		}
	}
	return true
}
