package source

import (
	"iter"

	"patra"
	"patra/internal/rawjson"
)

// walked is a page whose items need not be walked again: the page was walked, and they with it. All copies of a page share
// one; where there is none the items stand alone.
type walked struct {
	doc   *document // nil: it was given back
	items []rawjson.Node
}

// release gives the document of a page back.
func (w *walked) release() {
	if w == nil || w.doc == nil {
		return
	}
	release(w.doc)
	*w = walked{}
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
	w := page.walked
	if w == nil || w.doc == nil {
		return p.Item(page.Items[i], observedAt)
	}
	w.doc.turn(w.items[i])
	return p.item(page.Items[i], w.doc, observedAt)
}
