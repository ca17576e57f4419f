package rawxml

import "bytes"

// skip goes on behind what is broken: the outermost open element that is an item becomes one that is skipped. Outside
// of all items an end tag of nothing is passed over; anything else there is a document that cannot be read.
func (d *Doc) skip() int {
	if d.fault.Reason == TooManyBroken {
		return -1
	}
	for depth, at := range d.open {
		if depth == 0 || !d.isItem(d, at, depth+1) {
			continue
		}
		to := d.boundary(at, d.open[depth-1])
		if d.searched > mostSearched*len(d.text) {
			return d.fail(TooManyBroken, to)
		}
		if to == len(d.text) {
			return d.fail(CutOff, to)
		}
		if to < 0 { // it is broken for the reason that was found
			return -1
		}
		if d.broken++; d.broken > maxBroken {
			return d.fail(TooManyBroken, to)
		}
		d.nodes, d.open = d.nodes[:at+1], d.open[:depth]
		n := &d.nodes[at]
		n.kind, n.to, n.end = Broken, uint32(to), at+1
		return to
	}
	return d.strayEnd()
}

// strayEnd goes on behind an end tag of an element that is not open.
func (d *Doc) strayEnd() int {
	at := d.fault.At
	if d.fault.Reason != BadEnd {
		return -1
	}
	for _, n := range d.open {
		if tagAt(d.text, at, "</", d.fullName(n)) {
			return -1
		}
	}
	length := bytes.IndexByte(d.text[at:], '>')
	if length < 0 {
		return d.fail(CutOff, at)
	}
	d.strays++
	return at + length + 1
}

// boundary is the place where a broken element ends: behind the end tag that balances its own tag. Where there is none
// before its parent ends, it ends where the next element of its name begins. Where there is no such element either,
// nothing says what of the rest belongs to it, such as the way on to the next page: -1. It is the length of the text if
// the parent does not end. The bytes are searched without regard to what they are part of: what is broken has no
// structure.
func (d *Doc) boundary(at, parent uint32) int {
	b, name, around := d.text, d.fullName(at), d.fullName(parent)
	level, next := 1, -1
	from := int(d.nodes[at].from)
	i := from + 1
	defer func() { d.searched += i - from }()
	for ; ; i++ {
		step := bytes.IndexByte(b[i:], '<')
		if step < 0 {
			i = len(b)
			return i
		}
		i += step
		switch {
		case tagAt(b, i, "</", name):
			if level--; level == 0 {
				if end := bytes.IndexByte(b[i:], '>'); end >= 0 {
					return i + end + 1
				}
				return len(b)
			}
		case tagAt(b, i, "<", name):
			if next < 0 {
				next = i
			}
			if end := bytes.IndexAny(b[i+1:], "<>"); end < 0 || b[i+end] != '/' {
				level++
			}
		case tagAt(b, i, "</", around):
			return next
		}
	}
}

// tagAt reports whether a tag of this name begins at i.
func tagAt(b []byte, i int, begin string, name []byte) bool {
	if !has(b, i, begin) || !bytes.HasPrefix(b[i+len(begin):], name) {
		return false
	}
	behind := i + len(begin) + len(name)
	return behind < len(b) && bytes.IndexByte([]byte(" \t\r\n/>"), b[behind]) >= 0
}
