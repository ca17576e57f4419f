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
	if i = d.start(i, 0); i < 0 {
		return -1
	}
	for len(d.open) > 0 {
		if i = d.next(i); i < 0 {
			if d.isItem == nil {
				return -1
			}
			if i = d.skip(); i < 0 {
				return -1
			}
		}
	}
	return i
}

// next walks what begins at i inside of an element.
func (d *Doc) next(i int) int {
	b, parent := d.text, d.open[len(d.open)-1]
	switch {
	case i >= len(b):
		return d.fail(CutOff, i)
	case b[i] != '<':
		return d.characters(i, parent)
	case i+1 >= len(b):
		return d.fail(CutOff, i)
	case b[i+1] == '/':
		return d.close(i)
	case b[i+1] == '!' && has(b, i, "<!--"):
		return d.comment(i, parent)
	case b[i+1] == '!' && has(b, i, "<![CDATA["):
		return d.cdata(i, parent)
	case b[i+1] == '?':
		return d.instruction(i, parent)
	}
	return d.start(i, parent)
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
	if i-from > math.MaxUint16 || i < len(b) && b[i] == ':' {
		return -1
	}
	n.local = uint16(i - from)
	return i
}

// start walks the tag at i that begins an element, or is all of it.
func (d *Doc) start(i int, parent uint32) int {
	b, from := d.text, i
	n := node{kind: Element, from: uint32(from), parent: parent}
	if i = d.name(&n, i+1); i < 0 {
		return d.fail(BadTag, from)
	}
	at := d.add(n)
	d.open = append(d.open, at)
	if len(d.open) > maxDepth {
		return d.fail(TooDeep, from)
	}
	for {
		if i = spaces(b, i); i >= len(b) {
			return d.fail(CutOff, i)
		}
		switch b[i] {
		case '>':
			return i + 1
		case '/':
			if !has(b, i, "/>") {
				return d.fail(BadTag, from)
			}
			d.nodes[at].to, d.nodes[at].end = uint32(i+2), uint32(len(d.nodes))
			d.open = d.open[:len(d.open)-1]
			return i + 2
		}
		if i = d.attribute(i, at); i < 0 {
			return -1
		}
	}
}

// close walks the tag at i that ends the innermost open element.
func (d *Doc) close(i int) int {
	b, from, top := d.text, i, d.open[len(d.open)-1]
	n := &d.nodes[top]
	name := d.fullName(top)
	i += 2
	if rest := b[i:min(len(b), i+len(name))]; len(rest) < len(name) && bytes.HasPrefix(name, rest) {
		return d.fail(CutOff, from)
	} else if !bytes.Equal(rest, name) {
		return d.fail(BadEnd, from)
	}
	if i = spaces(b, i+len(name)); i >= len(b) {
		return d.fail(CutOff, from)
	}
	if b[i] != '>' {
		return d.fail(BadEnd, from)
	}
	n.to, n.end = uint32(i+1), uint32(len(d.nodes))
	d.open = d.open[:len(d.open)-1]
	return i + 1
}

// attribute walks the attribute at i.
func (d *Doc) attribute(i int, parent uint32) int {
	b, at := d.text, i
	n := node{kind: Attribute, parent: parent, plain: true}
	if i = d.name(&n, i); i < 0 {
		return d.fail(BadTag, at)
	}
	if i = spaces(b, i); i >= len(b) || b[i] != '=' {
		return d.fail(BadTag, at)
	}
	if i = spaces(b, i+1); i >= len(b) || b[i] != '"' && b[i] != '\'' {
		return d.fail(BadTag, at)
	}
	quote, broad := b[i], false
	i++
	for n.from = uint32(i); ; i++ {
		for i < len(b) && inValue[b[i]] == ordinary {
			i++
		}
		if i >= len(b) {
			return d.fail(CutOff, at)
		}
		switch c := b[i]; {
		case c == quote:
			if n.to = uint32(i); broad && !utf8.Valid(b[n.from:n.to]) {
				return d.fail(BadText, at)
			}
			d.add(n)
			return i + 1
		case c == '"' || c == '\'':
		case c == '\r':
			n.plain = false
		case c == '&':
			end, _ := reference(b, i)
			if end < 0 {
				return d.fail(BadText, i)
			}
			n.plain, i = false, end-1
		case c == '<':
			return d.fail(BadTag, at)
		case c == 0xEF && noCharacter(b, i) || c < utf8.RuneSelf:
			return d.fail(BadText, i)
		default:
			broad = true
		}
	}
}

// characters walks the text at i, up to the next tag.
func (d *Doc) characters(i int, parent uint32) int {
	b := d.text
	n := node{kind: Text, from: uint32(i), parent: parent, plain: true}
	broad := false
	for ; ; i++ {
		if i = run(b, i); i >= len(b) {
			return d.fail(CutOff, i)
		}
		switch c := b[i]; {
		case inText[c] == ordinary: // a tab, or the end of a line
		case c == '<':
			if n.to = uint32(i); broad && !utf8.Valid(b[n.from:n.to]) {
				return d.fail(BadText, int(n.from))
			}
			d.add(n)
			return i
		case c == ']':
			if has(b, i, "]]>") {
				return d.fail(BadText, i)
			}
		case c == '\r':
			n.plain = false
		case c == '&':
			end, _ := reference(b, i)
			if end < 0 {
				return d.fail(BadText, i)
			}
			n.plain, i = false, end-1
		case c == 0xEF && noCharacter(b, i) || c < utf8.RuneSelf:
			return d.fail(BadText, i)
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
		return d.fail(CutOff, i)
	}
	inside := d.text[from : from+length]
	if !utf8.Valid(inside) {
		return d.fail(BadText, i)
	}
	n := node{kind: CDATA, from: uint32(from), to: uint32(from + length), parent: parent, plain: true}
	for j, c := range inside {
		switch {
		case c == '\r':
			n.plain = false
		case inText[c] == never || c == 0xEF && noCharacter(inside, j):
			return d.fail(BadText, from+j)
		}
	}
	d.add(n)
	return from + length + len("]]>")
}

// comment walks the comment at i.
func (d *Doc) comment(i int, parent uint32) int {
	from := i + len("<!--")
	length := bytes.Index(d.text[from:], []byte("--"))
	if length < 0 {
		return d.fail(CutOff, i)
	}
	if !has(d.text, from+length, "-->") {
		return d.fail(BadText, from+length)
	}
	d.add(node{kind: Comment, from: uint32(from), to: uint32(from + length), parent: parent, plain: true})
	return from + length + len("-->")
}

// instruction walks the instruction for others at i. What it says is not looked at, also where it says that this is
// XML: in which charset a text is written is the business of Decode.
func (d *Doc) instruction(i int, parent uint32) int {
	from := i
	n := node{kind: Instruction, parent: parent, plain: true}
	if i = d.name(&n, i+2); i < 0 || n.prefix > 0 {
		return d.fail(BadTag, from)
	}
	i = spaces(d.text, i)
	length := bytes.Index(d.text[i:], []byte("?>"))
	if length < 0 {
		return d.fail(CutOff, from)
	}
	n.from, n.to = uint32(i), uint32(i+length)
	d.add(n)
	return i + length + len("?>")
}

// doctype walks the DOCTYPE at i. It may name a grammar, which is never fetched, and declare nothing.
func (d *Doc) doctype(i int, before bool) int {
	if !before || !has(d.text, i+2, doctypeWord) {
		return d.fail(Declares, i)
	}
	end := doctype(d.text, i+2)
	if end < 0 {
		return d.fail(Declares, i)
	}
	return end
}
