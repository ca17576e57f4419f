package rawxml

import (
	"bytes"
	"unicode/utf8"
)

// Node is the place of a node in a document. The root element is the first.
type Node = uint32

// Root is the element around all others.
const Root Node = 0

// Kind is what a node is.
func (d *Doc) Kind(n Node) Kind { return d.nodes[n].kind }

// Len is how many nodes there are.
func (d *Doc) Len() int { return len(d.nodes) }

// Parent is the element around a node. That of the root is the root.
func (d *Doc) Parent(n Node) Node { return d.nodes[n].parent }

// End is the node behind everything inside a node; if it is before the End of the parent, it is the next beside it.
func (d *Doc) End(n Node) Node { return d.nodes[n].end }

// First is the first node inside an element, behind its attributes; if there is none it is the End.
func (d *Doc) First(n Node) Node {
	end := d.nodes[n].end
	for n++; n < end && d.nodes[n].kind == Attribute; n++ {
	}
	return n
}

// Bytes are an element as it was sent, and what is inside of anything else.
func (d *Doc) Bytes(n Node) []byte { return d.text[d.nodes[n].from:d.nodes[n].to] }

// Span is where an element stands in the text.
func (d *Doc) Span(n Node) (from, to int) { return int(d.nodes[n].from), int(d.nodes[n].to) }

// Inside is what stands between the tags of an element, and what is inside of anything else.
func (d *Doc) Inside(n Node) []byte {
	if d.nodes[n].kind != Element {
		return d.Bytes(n)
	}
	whole := d.Bytes(n)
	tag := int(d.nameEnd(n) - d.nodes[n].from)
	if last := d.First(n) - 1; last > n { // the value of an attribute may have what ends a tag
		tag = int(d.nodes[last].to-d.nodes[n].from) + 1
	}
	from := tag + bytes.IndexByte(whole[tag:], '>') + 1
	return whole[from:max(from, bytes.LastIndex(whole, []byte("</")))]
}

// Named reports whether a node has this name.
func (d *Doc) Named(n Node, prefix, local string) bool {
	is := &d.nodes[n]
	if int(is.local) != len(local) || int(is.prefix) != len(prefix) {
		return false
	}
	if is.prefix == 0 {
		return string(d.text[is.name:is.name+uint32(is.local)]) == local
	}
	return string(d.prefix(n)) == prefix && string(d.local(n)) == local
}

// Called reports whether a node has this name, whatever its prefix is.
func (d *Doc) Called(n Node, local string) bool {
	return int(d.nodes[n].local) == len(local) && string(d.local(n)) == local
}

// NextNamed is the first element of this name among the nodes that stand beside each other from n on; end if
// there is none before it.
func (d *Doc) NextNamed(n, end Node, prefix, local string) Node {
	for n < end {
		is := &d.nodes[n]
		if int(is.local) == len(local) && int(is.prefix) == len(prefix) && is.kind == Element && d.Named(n, prefix, local) {
			return n
		}
		n = is.end
	}
	return end
}

// NextCalled is the same, whatever its prefix is.
func (d *Doc) NextCalled(n, end Node, local string) Node {
	for n < end {
		is := &d.nodes[n]
		if int(is.local) == len(local) && is.kind == Element && string(d.local(n)) == local {
			return n
		}
		n = is.end
	}
	return end
}

// Local is the name of a node without a prefix.
func (d *Doc) Local(n Node) []byte { return d.local(n) }

// Prefix is the prefix of a node.
func (d *Doc) Prefix(n Node) []byte { return d.prefix(n) }

func (d *Doc) prefix(n Node) []byte {
	is := &d.nodes[n]
	return d.text[is.name : is.name+uint32(is.prefix)]
}

func (d *Doc) local(n Node) []byte {
	end := d.nameEnd(n)
	return d.text[end-uint32(d.nodes[n].local) : end]
}

// fullName is the name of a node with its prefix.
func (d *Doc) fullName(n Node) []byte { return d.text[d.nodes[n].name:d.nameEnd(n)] }

// nameEnd is the place behind the name of a node.
func (d *Doc) nameEnd(n Node) uint32 {
	is := &d.nodes[n]
	end := is.name + uint32(is.local)
	if is.prefix > 0 {
		end += uint32(is.prefix) + 1
	}
	return end
}

// AppendText appends what a node says: the value of an attribute, or all the text inside.
func (d *Doc) AppendText(b []byte, n Node) []byte {
	switch is := &d.nodes[n]; is.kind {
	case Element:
		for at := d.First(n); at < is.end; at++ {
			if k := d.nodes[at].kind; k == Text || k == CDATA {
				b = d.AppendText(b, at)
			}
		}
	case Attribute, Text, CDATA:
		raw := d.text[is.from:is.to]
		if is.plain {
			return append(b, raw...)
		}
		return appendMeaning(b, raw, is.kind != CDATA)
	}
	return b
}

// Plain is what a node says if that stands in one piece in the text, as it does almost always.
func (d *Doc) Plain(n Node) (said []byte, ok bool) {
	is := &d.nodes[n]
	if is.kind == Element {
		first := d.First(n)
		switch {
		case first == is.end:
			return nil, true
		case first+1 != is.end || d.nodes[first].kind != Text:
			return nil, false
		}
		is = &d.nodes[first]
	}
	if !is.plain || is.kind == Comment || is.kind == Instruction {
		return nil, false
	}
	return d.text[is.from:is.to], true
}

// Text is what a node says.
func (d *Doc) Text(n Node) string {
	if said, ok := d.Plain(n); ok {
		return string(said)
	}
	var room [512]byte
	return string(d.AppendText(room[:0], n))
}

// Says reports whether a node says this.
func (d *Doc) Says(n Node, text string) bool {
	if said, ok := d.Plain(n); ok {
		return string(said) == text
	}
	var room [256]byte
	return string(d.AppendText(room[:0], n)) == text
}

// appendMeaning appends what a walked text means: its references are resolved, and its lines end in one way.
func appendMeaning(b, raw []byte, references bool) []byte {
	lines := bytes.IndexByte(raw, '\r') >= 0
	for len(raw) > 0 {
		at := bytes.IndexByte(raw, '&') // which is quicker than to look for both
		if lines {
			at = bytes.IndexAny(raw, "&\r")
		}
		if at < 0 {
			break
		}
		b, raw = append(b, raw[:at]...), raw[at:]
		switch {
		case raw[0] == '\r':
			b = append(b, '\n')
			if raw = raw[1:]; len(raw) > 0 && raw[0] == '\n' {
				raw = raw[1:]
			}
		case !references:
			b, raw = append(b, '&'), raw[1:]
		default:
			end, r := reference(raw, 0)
			b, raw = utf8.AppendRune(b, r), raw[end:]
		}
	}
	return append(b, raw...)
}
