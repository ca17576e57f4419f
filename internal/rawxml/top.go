package rawxml

import "slices"

// Top is the element that is looked at: the root, or another one that was turned to.
func (d *Doc) Top() Node { return d.top }

// Turn looks at an element of the document as if it stood alone. It must be one that could.
func (d *Doc) Turn(n Node) { d.top = n }

// Alone reports whether an element means the same if it stands alone, in a document that was read with ResetNames: nothing in
// it has a prefix, or declares what names mean.
func (d *Doc) Alone(n Node) bool {
	at, _ := slices.BinarySearch(d.spaced, n)
	return !d.names && (at == len(d.spaced) || d.spaced[at] >= d.End(n))
}
