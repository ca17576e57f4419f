package rawjson

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// entry is a member of an object that is being written.
type entry struct {
	begins uint64 // how its name begins
	key    uint32
}

// Canonical appends the value with sorted names, without spaces, with one spelling for every string, and with numbers as they
// were written. Values that are in without are left out, where they are members of objects. Repeated tells afterwards whether a key
// occurs twice in one object, which is found on the way: members are sorted anyway.
func (n Node) Canonical(b []byte, without ...Node) []byte {
	n.doc.twice = 0
	return n.doc.canonical(b, n.at, without)
}

func (d *Doc) canonical(b []byte, at uint32, without []Node) []byte {
	is := &d.nodes[at]
	if is.settled && !anyInside(without, at, is.end) {
		return append(b, d.text[is.from:is.to]...)
	}
	switch is.kind {
	case String:
		return d.canonicalString(b, at)
	case Array:
		b = append(b, '[')
		for e := at + 1; e < is.end; e = d.nodes[e].end {
			if e > at+1 {
				b = append(b, ',')
			}
			b = d.canonical(b, e, without)
		}
		return append(b, ']')
	}
	return d.canonicalObject(b, at, without)
}

// anyInside reports whether one of some values is inside of the one at a node that ends before another.
func anyInside(values []Node, at, end uint32) bool {
	for i := range values {
		if at < values[i].at && values[i].at < end {
			return true
		}
	}
	return false
}

func (d *Doc) canonicalObject(b []byte, at uint32, without []Node) []byte {
	from := len(d.sort)
	if d.of == at+1 {
		d.sort = append(d.sort, d.members...)
	} else {
		d.sort = d.appendMembers(d.sort, at)
	}
	members := d.sort[from:]
	d.order(members)
	b = append(b, '{')
	first := true
	for i := range members {
		m := d.sort[from+i] // what is inside may have moved the list
		if i+1 < len(members) && d.sameName(m, d.sort[from+i+1]) {
			d.twice = m.key
			continue // the last of a name counts
		}
		if slices.ContainsFunc(without, func(n Node) bool { return n.at == m.key+1 }) {
			if key := d.repeated(m.key+1, 0); key != 0 {
				d.twice = key
			}
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(d.canonicalString(b, m.key), ':')
		b = d.canonical(b, m.key+1, without)
	}
	d.sort = d.sort[:from]
	return append(b, '}')
}

// few is how many members are sorted one by one.
const few = 40

// order sorts members by name, and those of the same name as they stand.
func (d *Doc) order(members []entry) {
	if len(members) > few {
		slices.SortFunc(members, d.compare)
		return
	}
	for i := 1; i < len(members); i++ {
		m, at := members[i], i
		for ; at > 0 && (m.begins < members[at-1].begins || m.begins == members[at-1].begins && d.compare(m, members[at-1]) < 0); at-- {
			members[at] = members[at-1]
		}
		members[at] = m
	}
}

func (d *Doc) compare(x, y entry) int {
	if x.begins != y.begins {
		return cmp.Compare(x.begins, y.begins)
	}
	return cmp.Or(d.compareNames(x.key, y.key), cmp.Compare(x.key, y.key))
}

func (d *Doc) sameName(x, y entry) bool {
	return x.begins == y.begins && d.compareNames(x.key, y.key) == 0
}

func (d *Doc) compareNames(x, y uint32) int {
	p, q := &d.nodes[x], &d.nodes[y]
	if p.plain && q.plain {
		return bytes.Compare(d.text[p.from+1:p.to-1], d.text[q.from+1:q.to-1])
	}
	return strings.Compare(d.meaning(x), d.meaning(y))
}

// begins is how a name begins, as a number: of two names that begin differently the smaller one has the smaller number. What
// is not there counts as nothing, and so whoever finds two the same has to look at the whole names.
func (d *Doc) begins(key uint32) uint64 {
	is := &d.nodes[key]
	name := d.text[is.from+1 : is.to-1]
	if !is.plain {
		d.said = appendMeaning(d.said[:0], name)
		name = d.said
	} else if at := int(is.from) + 1; at+8 <= len(d.text) {
		all := binary.BigEndian.Uint64(d.text[at:])
		if len(name) < 8 {
			all = all >> (64 - 8*len(name)) << (64 - 8*len(name))
		}
		return all
	}
	var room [8]byte
	copy(room[:], name)
	return binary.BigEndian.Uint64(room[:])
}

// canonicalString appends a string; one that has one spelling only is copied.
func (d *Doc) canonicalString(b []byte, at uint32) []byte {
	is := &d.nodes[at]
	raw := d.text[is.from:is.to]
	if is.settled {
		return append(b, raw...)
	}
	if !is.wide || utf8.Valid(raw) && !separated(raw) {
		if all, ok := appendUnescaped(b, raw); ok {
			return all
		}
	}
	d.said = appendMeaning(d.said[:0], raw[1:len(raw)-1])
	return appendString(b, d.said)
}

// appendUnescaped appends a string in which nothing has two spellings but slashes, which need no escape; it is not ok if
// there are characters that are written as numbers.
func appendUnescaped(b, raw []byte) (_ []byte, ok bool) {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return append(b, raw...), true
		}
		switch raw[at+1] {
		case 'u':
			return nil, false
		case '/':
			b = append(append(b, raw[:at]...), '/')
		default:
			b = append(b, raw[:at+2]...)
		}
		raw = raw[at+2:]
	}
}
