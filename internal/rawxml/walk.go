package rawxml

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// add appends a node, and gives its place.
func (d *Doc) add(n node) uint32 {
	at := uint32(len(d.nodes))
	n.end = at + 1
	d.nodes = append(d.nodes, n)
	return at
}

// element walks the element at i and everything inside it, and gives the place behind it, or -1.
func (d *Doc) element(i int) int {
	b := d.text
	if i = d.start(i, 0); i < 0 {
		return -1
	}
	for len(d.open) > 0 {
		if i >= len(b) {
			return -1
		}
		parent := d.open[len(d.open)-1].at
		switch {
		case b[i] != '<':
			i = d.characters(i, parent)
		case i+1 >= len(b):
			return -1
		case b[i+1] == '/':
			i = d.close(i)
		case b[i+1] == '!' && has(b, i, "<!--"):
			i = d.comment(i, parent)
		case b[i+1] == '!' && has(b, i, "<![CDATA["):
			i = d.cdata(i, parent)
		case b[i+1] == '?':
			i = d.instruction(i, parent)
		default:
			i = d.start(i, parent)
		}
		if i < 0 {
			return -1
		}
	}
	return i
}

// name reads a name with or without a prefix into a node, and gives the place behind it, or -1.
func (d *Doc) name(n *node, i int) int {
	b, from := d.text, i
	n.name = uint32(i)
	if i = ncName(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == ':' {
		prefix := i - from
		from = i + 1
		if i = ncName(b, from); i < 0 || prefix > math.MaxUint16 {
			return -1
		}
		n.prefix = uint16(prefix)
	}
	if i-from > math.MaxUint16 || i < len(b) && (b[i] == ':' || b[i] >= utf8.RuneSelf) {
		return -1
	}
	n.local = uint16(i - from)
	return i
}

// start walks the tag at i that begins an element, or is all of it.
func (d *Doc) start(i int, parent uint32) int {
	b, from := d.text, i
	if !has(b, i, "<") || len(d.open) >= maxDepth {
		return -1
	}
	n := node{kind: Element, from: uint32(from), parent: parent}
	if i = d.name(&n, i+1); i < 0 {
		return -1
	}
	at := d.add(n)
	if n.prefix > 0 && !d.names {
		d.spaced = append(d.spaced, at)
	}
	scope := len(d.scope)
	for {
		before := i
		if i = spaces(b, i); i >= len(b) {
			return -1
		}
		switch {
		case b[i] == '>':
			if d.names && !d.declared(at) {
				return -1
			}
			d.open = append(d.open, frame{at, scope})
			return i + 1
		case b[i] == '/':
			if !has(b, i, "/>") || d.names && !d.declared(at) {
				return -1
			}
			d.scope = d.scope[:scope]
			d.nodes[at].to, d.nodes[at].end = uint32(i+2), uint32(len(d.nodes))
			return i + 2
		case before == i:
			return -1
		}
		if i = d.attribute(i, at); i < 0 {
			return -1
		}
	}
}

// close walks the tag at i that ends the innermost open element.
func (d *Doc) close(i int) int {
	b, top := d.text, d.open[len(d.open)-1]
	n := &d.nodes[top.at]
	name := b[n.name:d.nameEnd(top.at)]
	i += 2
	if i+len(name) >= len(b) || !bytes.Equal(b[i:i+len(name)], name) {
		return -1
	}
	if i = spaces(b, i+len(name)); i >= len(b) || b[i] != '>' {
		return -1
	}
	n.to, n.end = uint32(i+1), uint32(len(d.nodes))
	d.open, d.scope = d.open[:len(d.open)-1], d.scope[:top.scope]
	return i + 1
}

// attribute walks the attribute at i.
func (d *Doc) attribute(i int, parent uint32) int {
	b := d.text
	n := node{kind: Attribute, parent: parent, plain: true}
	if i = d.name(&n, i); i < 0 {
		return -1
	}
	if i = spaces(b, i); i >= len(b) || b[i] != '=' {
		return -1
	}
	if i = spaces(b, i+1); i >= len(b) || b[i] != '"' && b[i] != '\'' {
		return -1
	}
	quote, broad := b[i], false
	i++
	for n.from = uint32(i); ; i++ {
		for i < len(b) && inValue[b[i]] == ordinary {
			i++
		}
		if i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case c == quote:
			if n.to = uint32(i); broad && !utf8.Valid(b[n.from:n.to]) {
				return -1
			}
			at := d.add(n)
			if d.names && !d.declare(at) {
				return -1
			}
			if !d.names && (n.prefix > 0 || string(d.local(at)) == "xmlns") {
				d.spaced = append(d.spaced, at)
			}
			return i + 1
		case c == '"' || c == '\'':
		case c == '\r':
			n.plain = false
		case c == '&':
			end, _ := reference(b, i)
			if end < 0 {
				return -1
			}
			n.plain, i = false, end-1
		case c == 0xEF && noCharacter(b, i) || c < utf8.RuneSelf:
			return -1
		default:
			broad = true
		}
	}
}

// characters walks the text at i, up to the next tag.
func (d *Doc) characters(i int, parent uint32) int {
	b := d.text
	n := node{kind: Text, from: uint32(i), parent: parent, plain: true}
	if has(b, i, "![") { // which others take for what follows a <
		return -1
	}
	broad := false
	for ; ; i++ {
		if i = run(b, i); i >= len(b) {
			return -1
		}
		switch c := b[i]; {
		case inText[c] == ordinary: // a tab, or the end of a line
		case c == '<':
			if n.to = uint32(i); broad && !utf8.Valid(b[n.from:n.to]) {
				return -1
			}
			d.add(n)
			return i
		case c == ']':
			if has(b, i, "]]>") {
				return -1
			}
		case c == '\r':
			n.plain = false
		case c == '&':
			end, _ := reference(b, i)
			if end < 0 {
				return -1
			}
			n.plain, i = false, end-1
		case c == 0xEF && noCharacter(b, i) || c < utf8.RuneSelf:
			return -1
		default:
			broad = true
			for i+1 < len(b) && inText[b[i+1]] == wide {
				i++
			}
		}
	}
}

// cdata walks the CDATA section at i.
func (d *Doc) cdata(i int, parent uint32) int {
	from := i + len("<![CDATA[")
	length := bytes.Index(d.text[from:], []byte("]]>"))
	if length < 0 {
		return -1
	}
	inside := d.text[from : from+length]
	if !utf8.Valid(inside) {
		return -1
	}
	n := node{kind: CDATA, from: uint32(from), to: uint32(from + length), parent: parent, plain: true}
	for i, c := range inside {
		switch {
		case c == '\r':
			n.plain = false
		case inText[c] == never || c == 0xEF && noCharacter(inside, i):
			return -1
		}
	}
	d.add(n)
	return from + length + len("]]>")
}

// comment walks the comment at i.
func (d *Doc) comment(i int, parent uint32) int {
	from := i + len("<!--")
	length := bytes.Index(d.text[from:], []byte("--"))
	if length < 0 || !has(d.text, from+length, "-->") {
		return -1
	}
	d.add(node{kind: Comment, from: uint32(from), to: uint32(from + length), parent: parent, plain: true})
	return from + length + len("-->")
}

// instruction walks the instruction for others at i.
func (d *Doc) instruction(i int, parent uint32) int {
	n := node{kind: Instruction, parent: parent, plain: true}
	i = d.name(&n, i+2)
	if i < 0 || n.prefix > 0 || string(d.text[n.name:i]) == "xml" {
		return -1
	}
	i = spaces(d.text, i)
	length := bytes.Index(d.text[i:], []byte("?>"))
	if length < 0 {
		return -1
	}
	n.from, n.to = uint32(i), uint32(i+length)
	d.add(n)
	return i + length + len("?>")
}
