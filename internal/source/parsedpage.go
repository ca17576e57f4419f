package source

import (
	"iter"

	"patra"
	"patra/internal/rawjson"
	"patra/internal/rawxml"
)

// parsedPage is a page whose items need not be walked again: the page was walked, and they with it. All copies of a page share
// one; where there is none the items stand alone.
type parsedPage struct {
	doc      *document // of JSON; nil: it was given back
	items    []rawjson.Node
	xml      *xmlDocument  // of XML; nil: it was given back
	elements []rawxml.Node // the root: this item must stand alone
}

// release gives the document of a page back.
func (w *parsedPage) release() {
	if w == nil {
		return
	}
	if w.doc != nil {
		release(w.doc)
	}
	if w.xml != nil {
		release(w.xml)
	}
	*w = parsedPage{}
}

// Records reads the items of a page one after the other, as Item does. One reader at a time may do so, and the page is
// done with afterwards; its items stay.
func (p *Program) Records(page *Page, observedAt patra.Instant) iter.Seq2[patra.Observation, error] {
	return func(yield func(patra.Observation, error) bool) {
		defer page.walked.release()
		for i := range page.Items {
			if !yield(p.itemAt(page, i, observedAt)) {
				return
			}
		}
	}
}

// itemAt reads an item where it stands, if it can.
func (p *Program) itemAt(page *Page, i int, observedAt patra.Instant) (patra.Observation, error) {
	w, raw := page.walked, page.Items[i]
	switch {
	case w != nil && w.doc != nil:
		w.doc.turn(w.items[i])
		return p.item(raw, w.doc, observedAt)
	case w != nil && w.xml != nil && w.elements[i] != rawxml.Root:
		w.xml.turn(w.elements[i])
		return p.item(raw, w.xml, observedAt)
	}
	return p.Item(raw, observedAt)
}
