package rawjson

import (
	"bytes"
	"slices"
	"strings"
)

// entry is a member of an object that is being written.
type entry struct {
	name      string // what it says; empty for names that stand as they mean, which are compared where they stand
	key, node uint32
}

// Canonical appends the value with sorted names, without spaces, with one spelling for every string, and with numbers as they
// were written. Values that are in without are left out, where they are members of objects.
func (n Node) Canonical(b []byte, without ...Node) []byte {
	return n.doc.canonical(b, n.at, without)
}

func (d *Doc) canonical(b []byte, at uint32, without []Node) []byte {
	switch is := &d.nodes[at]; is.kind {
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
	case Object:
		return d.canonicalObject(b, at, without)
	default:
		return append(b, d.text[is.from:is.to]...)
	}
}

func (d *Doc) canonicalObject(b []byte, at uint32, without []Node) []byte {
	from, end := len(d.sort), d.nodes[at].end
	for key := at + 1; key < end; key = d.nodes[key+1].end {
		e := entry{key: key, node: key + 1}
		if !d.nodes[key].plain {
			e.name = d.meaning(key)
		}
		d.sort = append(d.sort, e)
	}
	members := d.sort[from:]
	slices.SortStableFunc(members, d.byName)
	b = append(b, '{')
	first := true
	for i := range members {
		m := d.sort[from+i] // what is inside may have moved the list
		if i+1 < len(members) && d.byName(m, d.sort[from+i+1]) == 0 || slices.ContainsFunc(without, func(n Node) bool { return n.at == m.node }) {
			continue // the last of a name counts
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(d.canonicalString(b, m.key), ':')
		b = d.canonical(b, m.node, without)
	}
	d.sort = d.sort[:from]
	return append(b, '}')
}

func (d *Doc) byName(x, y entry) int {
	p, q := &d.nodes[x.key], &d.nodes[y.key]
	switch {
	case p.plain && q.plain:
		return bytes.Compare(d.text[p.from+1:p.to-1], d.text[q.from+1:q.to-1])
	case p.plain:
		return strings.Compare(string(d.text[p.from+1:p.to-1]), y.name)
	case q.plain:
		return strings.Compare(x.name, string(d.text[q.from+1:q.to-1]))
	}
	return strings.Compare(x.name, y.name)
}

// canonicalString appends a string; one that has one spelling only is copied.
func (d *Doc) canonicalString(b []byte, at uint32) []byte {
	is := &d.nodes[at]
	if raw := d.text[is.from:is.to]; is.plain && !separated(raw) {
		return append(b, raw...)
	}
	d.said = appendMeaning(d.said[:0], d.text[is.from+1:is.to-1])
	return appendString(b, d.said)
}

// separated reports whether a text may have a line or paragraph separator, which are always escaped.
func separated(raw []byte) bool { return bytes.Contains(raw, []byte("\xe2\x80")) }
