package source

import (
	"errors"

	"patra"
	"patra/internal/rawjson"
	"patra/internal/rawxml"
)

// document is one JSON item: its text, walked once, or a part of the text of its page. What the paths of a source ask for is
// found in the bytes.
type document struct {
	rawjson.Doc
	root  rawjson.Node // the item
	whole any          // the item as a tree
	made  bool         // whether somebody needed that
	room  []byte
	found []rawjson.Node // what the last question found
	below []rawjson.Node // and the last one below a node
}

var documents pool[document]

// openJSON makes a document of an item. It is given back with release. An item that cannot be read gives a Fault.
func openJSON(item []byte) (*document, error) {
	d := documents.get()
	if err := d.Reset(item); err != nil && !errors.Is(err, rawjson.ErrTooDeep) { // limits refuses what is too deep
		release(d)
		return nil, dataFault(patra.CodeBadBody, "", "the item is no JSON")
	}
	d.turn(d.Root())
	return d, nil
}

// turn makes this the document of another item in its text.
func (d *document) turn(item rawjson.Node) {
	d.root, d.whole, d.made = item, nil, false
	d.Remember(item) // most paths begin there
}

// release gives a document back. Nothing that was found in it points into it.
func release(doc any) {
	switch d := doc.(type) {
	case *document:
		d.whole = nil
		if cap(d.room) > most {
			d.room = nil
		}
		documents.put(d, d.Forget(most)+cap(d.room))
	case *xmlDocument:
		clear(d.given)
		d.sent, d.text, d.fixed, d.given, d.parts = nil, nil, rawxml.Repaired{}, d.given[:0], d.parts[:0]
		if cap(d.room) > most {
			d.room = nil
		}
		xmlDocuments.put(d, d.Forget(most)+cap(d.room))
	}
}

// tree is the item as the library of paths wants it.
func (d *document) tree() any {
	if !d.made {
		d.whole, d.made = d.root.Value(), true
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
	var few [4]rawjson.Node
	without := few[:0]
	for _, p := range volatile {
		if n, found := p.at(d.root); found {
			without = append(without, n)
		}
	}
	d.room = d.root.Canonical(d.room[:0], without...)
	return d.room
}
