// Package rawxml reads XML where it stands: a text is walked once, strictly, and what is asked of it is answered from its
// bytes, without a tree being made first.
//
// It reads less than the standard library: what providers send, and nothing of which it is not sure. Whatever it reads means
// exactly what the standard library says it means; whatever it does not read is for others to read or to refuse.
package rawxml

import (
	"bytes"
	"errors"
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
	open  []frame
	scope []Space // the prefixes that are declared here
	known []Space // and those that were declared anywhere
	names bool    // whether prefixes are looked at

	top    Node   // the element that is looked at
	spaced []Node // where they are not looked at: what has a prefix, or declares one
}

// frame is an element whose end was not reached.
type frame struct {
	at    uint32
	scope int
}

// maxDepth is how deep elements may nest.
const maxDepth = 200

// bytesOfNode is how large a node is.
const bytesOfNode = 28

// bytesPerNode is how long a node is in the texts that providers send, at least.
const bytesPerNode = 20

// ErrUnsure is said of a text that is wrong, or that others should look at.
var ErrUnsure = errors.New("it is no plain XML document")

// Reset makes this the document of another text, which must not change afterwards. What was found in the former one is not
// valid any more. A prefix must mean the same wherever it is declared, and be the only one that does.
func (d *Doc) Reset(text []byte) error { return d.reset(text, true) }

// ResetNames is Reset for whoever asks only for local names: nobody looks at what prefixes mean.
func (d *Doc) ResetNames(text []byte) error { return d.reset(text, false) }

// Forget lets go of the text, and of room for more than most bytes. It gives the room that is left.
func (d *Doc) Forget(most int) (left int) {
	d.text, d.nodes = nil, d.nodes[:0]
	clear(d.scope[:cap(d.scope)]) // they are parts of the text
	clear(d.known[:cap(d.known)])
	if cap(d.nodes)*bytesOfNode > most {
		d.nodes = nil
	}
	return cap(d.nodes) * bytesOfNode
}

func (d *Doc) reset(text []byte, names bool) error {
	d.text, d.nodes, d.open, d.scope, d.known, d.names = text, d.nodes[:0], d.open[:0], d.scope[:0], d.known[:0], names
	d.top, d.spaced = Root, d.spaced[:0]
	if uint64(len(text)) < math.MaxUint32 {
		d.nodes = slices.Grow(d.nodes, len(text)/bytesPerNode)
		if d.document() {
			return nil
		}
	}
	d.nodes = d.nodes[:0]
	return ErrUnsure
}

// document walks the whole text: a prologue, one element, and nothing of weight behind it.
func (d *Doc) document() bool {
	i := 0
	if bytes.HasPrefix(d.text, []byte("\ufeff<")) {
		i = len("\ufeff")
	}
	if i = declaration(d.text, i); i < 0 {
		return false
	}
	if i = d.around(i, true); i < 0 {
		return false
	}
	if i = d.element(i); i < 0 {
		return false
	}
	return d.around(i, false) == len(d.text)
}

// around walks what may stand before and behind the root, of which nobody wants to know, and gives the place behind it, or -1.
func (d *Doc) around(i int, before bool) int {
	b, count := d.text, len(d.nodes)
	defer func() { d.nodes = d.nodes[:count] }()
	for {
		i = spaces(b, i)
		switch {
		case has(b, i, "<!--"):
			i = d.comment(i, 0)
		case has(b, i, "<?"):
			i = d.instruction(i, 0)
		case before && has(b, i, "<!DOCTYPE"):
			i = doctype(b, i+2)
		default:
			return i
		}
		if i < 0 {
			return -1
		}
	}
}
