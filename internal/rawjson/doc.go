// Package rawjson reads JSON where it stands: a text is walked once, strictly, and what is asked of it is answered from its
// bytes, without a tree of maps and lists being made first.
//
// It says of every text what the standard library says of it: which ones are valid, which of two members of the same name
// counts (the last), what a string means. It never changes a text, and never keeps one longer than its document.
package rawjson

import (
	"errors"
	"math"
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
)

// node is a value, or the name of a member, which stands before its value.
type node struct {
	from, to uint32 // the bytes of it
	end      uint32 // the node after everything inside it
	kind     Kind
	plain    bool // of a string: what stands between the quotes is what it means
}

// Doc is one JSON text.
type Doc struct {
	text  []byte
	nodes []node
	sort  []entry
	said  []byte
}

// maxDepth is how deep values may stand inside each other: as deep as the standard library reads.
const maxDepth = 10000

var errInvalid = errors.New("it is no valid JSON value")

// Parse walks a text, which must be one whole value and must not change afterwards.
func Parse(text []byte) (*Doc, error) {
	d := &Doc{}
	return d, d.Reset(text)
}

// Reset makes this the document of another text. What was found in the former one is not valid any more.
func (d *Doc) Reset(text []byte) error {
	d.text, d.nodes = text, d.nodes[:0]
	if uint64(len(text)) >= math.MaxUint32 {
		return errors.New("it is too long")
	}
	i := d.value(space(text, 0), 0)
	if i < 0 || space(text, i) != len(text) {
		d.nodes = d.nodes[:0]
		return errInvalid
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
	d.nodes = append(d.nodes, node{kind: k, from: uint32(from), to: uint32(max(to, from)), end: uint32(len(d.nodes)) + 1})
}

func (d *Doc) word(i int, word string, k Kind) int {
	if end := i + len(word); end <= len(d.text) && string(d.text[i:end]) == word {
		d.leaf(k, i, end)
		return end
	}
	return -1
}

func (d *Doc) array(i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	b, at := d.text, len(d.nodes)
	d.leaf(Array, i, i)
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return d.close(at, i+1)
	}
	for {
		if i = d.value(i, depth); i < 0 {
			return -1
		}
		var ended bool
		if i, ended = onward(b, i, ']'); ended {
			return d.close(at, i)
		} else if i < 0 {
			return -1
		}
	}
}

func (d *Doc) object(i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	b, at := d.text, len(d.nodes)
	d.leaf(Object, i, i)
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return d.close(at, i+1)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		if i = d.string(i); i < 0 {
			return -1
		}
		if i = space(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = d.value(space(b, i+1), depth); i < 0 {
			return -1
		}
		var ended bool
		if i, ended = onward(b, i, '}'); ended {
			return d.close(at, i)
		} else if i < 0 {
			return -1
		}
	}
}

// onward gives the place of the next value after the one that ends at i, or the place behind the list or object and true, or -1.
func onward(b []byte, i int, end byte) (next int, ended bool) {
	if i = space(b, i); i >= len(b) {
		return -1, false
	}
	switch b[i] {
	case ',':
		return space(b, i+1), false
	case end:
		return i + 1, true
	}
	return -1, false
}

// close ends the list or object that began with the node at.
func (d *Doc) close(at, to int) int {
	d.nodes[at].to, d.nodes[at].end = uint32(to), uint32(len(d.nodes))
	return to
}
