// Package rawxml reads XML where it stands: a text is walked once, and what is asked of it is answered from its bytes,
// without a tree being made first.
//
// There are two ways to read. Reset is strict: the text is well-formed, or it is refused with a reason. Decode, Repair
// and Salvage are for the XML that providers send: they turn other charsets into UTF-8, replace what no document may
// have, and skip an element that is broken, so that those around it can be read. Each of them is a function of the
// bytes alone.
//
// A name is compared as it is written, with its prefix: what a prefix was declared to mean is not looked at.
package rawxml

import (
	"bytes"
	"math"
	"slices"
)

// Kind is what a node is.
type Kind byte

// The kinds.
const (
	Element Kind = iota
	Attribute
	Text
	CDATA
	Comment
	Instruction
	Broken // an element that was skipped: nothing is known of its inside
)

// node is a part of a text. The attributes of an element stand behind it, and its content behind them.
type node struct {
	from, to      uint32 // an element: all of it; anything else: what is inside
	name          uint32 // where its name begins
	end           uint32 // the node after everything inside it
	parent        uint32
	prefix, local uint16 // how long the two parts of its name are
	kind          Kind
	plain         bool // what stands there is what it means
}

// Doc is one XML document.
type Doc struct {
	text  []byte
	nodes []node
	open  []uint32 // the elements whose ends were not reached
	fault Error

	isItem   func(*Doc, Node, int) bool // of Salvage: whether an element that is broken may be skipped
	broken   int
	searched int // bytes, for the ends of what is broken
	outside  int // stretches of text outside of the root that were passed over
	strays   int // end tags of nothing that were

	top Node // the element that is looked at
}

// maxDepth is how deep elements may nest. Real pages stay below 30.
const maxDepth = 200

// maxBroken is how many elements of a text are skipped: one that has more is no page with a few broken records.
const maxBroken = 100

// mostSearched is how often, all in all, the length of a text is searched for the ends of what is broken in it.
const mostSearched = 20

// bytesOfNode is how large a node is.
const bytesOfNode = 28

// bytesPerNode is how long a node is in the texts that providers send, at least.
const bytesPerNode = 20

// Reset makes this the document of another text, which must be well-formed and in UTF-8, and must not change
// afterwards. What was found in the former one is not valid any more. The error is an *Error.
func (d *Doc) Reset(text []byte) error { return d.reset(text, nil) }

// Salvage is Reset for a text that was refused: elements that isItem names are skipped where they are broken, and are
// nodes of the kind Broken; text outside of the root and end tags of nothing are passed over. isItem is given an
// element and how deep it stands; the root is never skipped.
func (d *Doc) Salvage(text []byte, isItem func(*Doc, Node, int) bool) error {
	return d.reset(text, isItem)
}

// Turn looks at an element of the document as if it stood alone.
func (d *Doc) Turn(n Node) { d.top = n }

// Top is the element that is looked at: the root, or another one that was turned to.
func (d *Doc) Top() Node { return d.top }

// Forget lets go of the text, and of room for more than most bytes. It gives the room that is left.
func (d *Doc) Forget(most int) (left int) {
	d.text, d.nodes, d.isItem, d.fault = nil, d.nodes[:0], nil, Error{}
	if cap(d.nodes)*bytesOfNode > most {
		d.nodes = nil
	}
	return cap(d.nodes) * bytesOfNode
}

func (d *Doc) reset(text []byte, isItem func(*Doc, Node, int) bool) error {
	d.text, d.nodes, d.open, d.top, d.isItem = text, d.nodes[:0], d.open[:0], Root, isItem
	d.broken, d.searched, d.outside, d.strays, d.fault = 0, 0, 0, 0, Error{}
	if uint64(len(text)) >= math.MaxUint32 {
		return &Error{Reason: TooLong}
	}
	d.nodes = slices.Grow(d.nodes, len(text)/bytesPerNode)
	if d.document() {
		return nil
	}
	fault := d.fault
	return &fault
}

// document walks the whole text: a prologue, one element, and nothing of weight behind it.
func (d *Doc) document() bool {
	i := 0
	if has(d.text, 0, bom) {
		i = len(bom)
	}
	i = d.around(i, true)
	if i >= 0 && i >= len(d.text) {
		i = d.fail(Empty, i)
	}
	if i >= 0 {
		i = d.element(i)
	}
	if i >= 0 {
		i = d.around(i, false)
	}
	if i >= 0 && i < len(d.text) {
		return d.fail(TwoRoots, i) >= 0
	}
	return i >= 0
}

// around walks what may stand before and behind the root, of which no path asks, and gives the place behind it, or -1.
func (d *Doc) around(i int, before bool) int {
	b, count := d.text, len(d.nodes)
	defer func() { d.nodes = d.nodes[:count] }()
	for {
		i = spaces(b, i)
		switch {
		case i >= len(b):
			return i
		case has(b, i, "<!--"):
			i = d.comment(i, 0)
		case has(b, i, "<?"):
			i = d.instruction(i, 0)
		case has(b, i, "<!"):
			if i = d.doctype(i, before); i < 0 {
				return -1
			}
		case b[i] != '<':
			if d.isItem == nil {
				return d.fail(Outside, i)
			}
			d.outside++
			next := bytes.IndexByte(b[i:], '<')
			if next < 0 {
				return len(b)
			}
			i += next
		default:
			return i
		}
		if i < 0 {
			return -1
		}
	}
}
