package source

import (
	"sync"

	"patra/internal/rawjson"
)

// document is one JSON item: its text, walked once. What the paths of a source ask for is found in the bytes.
type document struct {
	rawjson.Doc
	whole any  // the item as a tree
	made  bool // whether somebody needed that
	room  []byte
}

var documents = sync.Pool{New: func() any { return &document{} }}

// openJSON makes a document of an item. It is given back with release.
func openJSON(item []byte) (*document, error) {
	d := documents.Get().(*document)
	d.whole, d.made = nil, false
	if err := d.Reset(item); err != nil {
		documents.Put(d)
		_, said := tree(item) // which says where
		return nil, firstOf(said, err)
	}
	return d, nil
}

// release gives a document back. Nothing that was found in it points into it.
func release(doc any) {
	switch d := doc.(type) {
	case *document:
		d.whole = nil
		documents.Put(d)
	case *xmlDocument:
		clear(d.given)
		d.Forget()
		d.item, d.whole, d.given, d.parts = nil, nil, d.given[:0], d.parts[:0]
		xmlDocuments.Put(d)
	}
}

// tree is the item as the library of paths wants it.
func (d *document) tree() any {
	if !d.made {
		d.whole, d.made = d.Root().Value(), true
	}
	return d.whole
}

// at finds the member at the path.
func (p namePath) at(n rawjson.Node) (rawjson.Node, bool) {
	for _, name := range p {
		var found bool
		if n, found = n.Member(name); !found {
			return rawjson.Node{}, false
		}
	}
	return n, true
}

// canonical is what the item says, without what is volatile: names sorted, number literals untouched.
func (d *document) canonical(volatile []namePath) []byte {
	var without []rawjson.Node
	for _, p := range volatile {
		if n, found := p.at(d.Root()); found {
			without = append(without, n)
		}
	}
	d.room = d.Root().Canonical(d.room[:0], without...)
	return d.room
}
