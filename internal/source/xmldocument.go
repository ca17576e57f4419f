package source

import (
	"bytes"

	"github.com/antchfx/xmlquery"

	"patra/internal/rawxml"
)

// xmlDocument is one XML item: its text, walked once. What the paths of a source ask for is found in the bytes.
type xmlDocument struct {
	rawxml.Doc
	text   []byte // of the item, or of its page
	item   []byte
	whole  *xmlquery.Node // the item as a tree, if somebody needed that
	found  []rawxml.Node
	around []rawxml.Node // where the template of an object is filled in
	seen   []uint64
	room   []byte
	given  []any     // what was found, as others were given it
	parts  []xmlNode // and what that points to
}

// xmlNode is a part of an item.
type xmlNode struct {
	doc *xmlDocument
	at  rawxml.Node
}

var xmlDocuments pool[xmlDocument]

// openXML makes a document of an item; nil if it is one that others must look at. It is given back with release.
func openXML(item []byte) *xmlDocument {
	d := xmlDocuments.get()
	if d.Reset(item) != nil {
		release(d)
		return nil
	}
	d.text, d.item, d.whole = item, item, nil
	return d
}

// turn makes this the document of another item of its page.
func (d *xmlDocument) turn(n rawxml.Node, item []byte) {
	d.Turn(n)
	clear(d.given)
	d.item, d.whole, d.given, d.parts = item, nil, d.given[:0], d.parts[:0]
}

// span is where the item stands in the text, with what stands around it if it stands alone.
func (d *xmlDocument) span() (from, to int) {
	if d.Top() == rawxml.Root {
		return 0, len(d.text)
	}
	return d.Span(d.Top())
}

// tree is the item as the library of paths wants it.
func (d *xmlDocument) tree() *xmlquery.Node {
	if d.whole == nil {
		d.whole, _ = treeOf(d.item) // whatever was walked here is a tree there
	}
	return d.whole
}

// treeOf makes a tree of an item.
func treeOf(item []byte) (*xmlquery.Node, error) {
	doc, err := xmlquery.Parse(bytes.NewReader(item))
	if err != nil {
		return nil, err
	}
	return rootOf(doc), nil
}

// values are nodes as others are given them, until release: attributes as text, the rest where it stands.
func (d *xmlDocument) values(found []rawxml.Node) []any {
	if len(found) == 0 {
		return nil
	}
	d.given, d.parts = roomFor(d.given, len(found)), roomFor(d.parts, len(found))
	from := len(d.given)
	for _, n := range found {
		if d.Kind(n) == rawxml.Attribute {
			d.given = append(d.given, d.Text(n))
			continue
		}
		d.parts = append(d.parts, xmlNode{d, n})
		d.given = append(d.given, &d.parts[len(d.parts)-1])
	}
	return d.given[from:len(d.given):len(d.given)]
}

// roomFor is a list with room for so many more, which does not move what is in use.
func roomFor[T any](list []T, more int) []T {
	if len(list)+more <= cap(list) {
		return list
	}
	return make([]T, 0, max(128, 2*more))
}

// tree is the same part of the item in its tree.
func (n *xmlNode) tree() *xmlquery.Node {
	if n.at == n.doc.Top() {
		return n.doc.tree()
	}
	parent := xmlNode{n.doc, n.doc.Parent(n.at)}
	found := parent.tree().FirstChild
	for c := n.doc.First(parent.at); c != n.at; c = n.doc.End(c) {
		found = found.NextSibling
	}
	return found
}

// text is all the text inside a part of an item.
func (n *xmlNode) text() string { return n.doc.Text(n.at) }
