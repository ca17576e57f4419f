// Package rawjson reads JSON where it stands: a text is walked once, strictly, and what is asked of it is answered from its
// bytes, without a tree of maps and lists being made first.
//
// It says of every text what the standard library says of it: which ones are valid, which of two members of the same name
// counts (the last), what a string means. It never changes a text, and never keeps one longer than its document. It also says where
// the standard library repairs what it reads: where a string is no valid text, and where an object has a key twice.
package rawjson

import (
	"errors"
	"math"
	"slices"
)

// Kind is what a value is.
type Kind byte

// The kinds.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
	Deep // a list or an object that nests too deeply to be read
)

// node is a value, or the name of a member, which stands before its value.
type node struct {
	from, to uint32 // the bytes of it
	end      uint32 // the node after everything inside it
	kind     Kind
	plain    bool // of a string: what stands between the quotes is what it means
	wide     bool // of a string: there is more than ASCII in it
	settled  bool // it stands there as Canonical writes it
}

// Doc is one JSON text.
type Doc struct {
	text  []byte
	nodes []node
	sort  []entry
	said  []byte

	members []entry // of the object that is asked most
	of      uint32  // the node behind which it is; 0: there is none

	deepest int  // how deep values stand inside each other
	deep    bool // some are not read for that

	twice uint32 // the name of a member that an object has twice, of what was written last; 0: there is none
}

// maxDepth is how deep values may stand inside each other: as deep as the standard library reads.
const maxDepth = 10000

// bytesOfNode is how large a node is.
const bytesOfNode = 16

// bytesPerNode is how long a node is in the texts that providers send, at least.
const bytesPerNode = 24

// ErrTooDeep means that values nest too deeply to be read: each of them is a node of the kind Deep. All others can be asked.
var ErrTooDeep = errors.New("its values nest too deeply")

var errInvalid = errors.New("it is no valid JSON value")

// Parse walks a text, which must be one whole value and must not change afterwards.
func Parse(text []byte) (*Doc, error) {
	d := &Doc{}
	return d, d.Reset(text)
}

// Forget lets go of the text, and of room for more than most bytes. It gives the room that is left.
func (d *Doc) Forget(most int) (left int) {
	d.text, d.nodes, d.of = nil, d.nodes[:0], 0
	if cap(d.nodes)*bytesOfNode > most {
		d.nodes = nil
	}
	return cap(d.nodes) * bytesOfNode
}

// Reset makes this the document of another text. What was found in the former one is not valid any more.
func (d *Doc) Reset(text []byte) error {
	d.text, d.nodes, d.of, d.deepest, d.deep = text, d.nodes[:0], 0, 0, false
	if uint64(len(text)) >= math.MaxUint32 {
		return errors.New("it is too long")
	}
	d.nodes = slices.Grow(d.nodes, len(text)/bytesPerNode)
	i := d.value(space(text, 0), 0)
	if i < 0 || space(text, i) != len(text) {
		d.nodes = d.nodes[:0]
		return errInvalid
	}
	if d.deep {
		return ErrTooDeep
	}
	return nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// value walks the value at i and gives the place behind it, or -1.
func (d *Doc) value(i, depth int) int {
	b := d.text
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return d.string(i)
	case c == '{':
		return d.object(i, depth+1)
	case c == '[':
		return d.array(i, depth+1)
	case c == '-' || '0' <= c && c <= '9':
		end := number(b, i)
		d.leaf(Number, i, end)
		return end
	case c == 't':
		return d.word(i, "true", True)
	case c == 'f':
		return d.word(i, "false", False)
	case c == 'n':
		return d.word(i, "null", Null)
	}
	return -1
}

func (d *Doc) leaf(k Kind, from, to int) {
	d.nodes = append(d.nodes, node{kind: k, from: uint32(from), to: uint32(max(to, from)), end: uint32(len(d.nodes)) + 1, settled: true})
}

func (d *Doc) word(i int, word string, k Kind) int {
	if end := i + len(word); end <= len(d.text) && string(d.text[i:end]) == word {
		d.leaf(k, i, end)
		return end
	}
	return -1
}

func (d *Doc) array(i, depth int) int {
	if depth > d.deepest {
		if depth > maxDepth {
			return d.skip(i)
		}
		d.deepest = depth
	}
	b, at, settled := d.text, len(d.nodes), true
	d.leaf(Array, i, i)
	from := i + 1
	if i = space(b, from); i < len(b) && b[i] == ']' {
		return d.close(at, i+1, i == from)
	}
	for {
		settled = settled && i == from
		value := len(d.nodes)
		if i = d.value(i, depth); i < 0 {
			return -1
		}
		settled = settled && d.nodes[value].settled
		end := space(b, i)
		if end >= len(b) {
			return -1
		}
		settled = settled && i == end
		switch b[end] {
		case ',':
			from = end + 1
			i = space(b, from)
		case ']':
			return d.close(at, end+1, settled)
		default:
			return -1
		}
	}
}

func (d *Doc) object(i, depth int) int {
	if depth > d.deepest {
		if depth > maxDepth {
			return d.skip(i)
		}
		d.deepest = depth
	}
	b, at, settled := d.text, len(d.nodes), true
	d.leaf(Object, i, i)
	from := i + 1
	if i = space(b, from); i < len(b) && b[i] == '}' {
		return d.close(at, i+1, i == from)
	}
	var before uint64 // how the name of the member before begins
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		settled = settled && i == from
		key := len(d.nodes)
		if i = d.string(i); i < 0 {
			return -1
		}
		colon := space(b, i)
		if colon >= len(b) || b[colon] != ':' {
			return -1
		}
		value := space(b, colon+1)
		if settled = settled && i == colon && value == colon+1; settled {
			// Only names that can be told apart by how they begin: the others are seldom, and are sorted later.
			begins := d.begins(uint32(key))
			settled = d.nodes[key].settled && (key == at+1 || before < begins)
			before = begins
		}
		if i = d.value(value, depth); i < 0 {
			return -1
		}
		settled = settled && d.nodes[key+1].settled
		end := space(b, i)
		if end >= len(b) {
			return -1
		}
		settled = settled && i == end
		switch b[end] {
		case ',':
			from = end + 1
			i = space(b, from)
		case '}':
			return d.close(at, end+1, settled)
		default:
			return -1
		}
	}
}

// close ends the list or object that began with the node at.
func (d *Doc) close(at, to int, settled bool) int {
	n := &d.nodes[at]
	n.to, n.end, n.settled = uint32(to), uint32(len(d.nodes)), settled
	return to
}
