package rawxml

import "bytes"

// Space is a prefix, or none, and what it was declared to mean.
type Space struct{ Prefix, Means []byte }

// xmlSpace is what the prefix xml means, without anybody saying so.
const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// declare notes the prefix that an attribute declares, if it does. It is refused where a prefix could be taken for another.
func (d *Doc) declare(at uint32) bool {
	n := &d.nodes[at]
	prefix, local := d.prefix(at), d.local(at)
	s := Space{Means: d.text[n.from:n.to]}
	switch {
	case string(prefix) == "xmlns":
		if s.Prefix = local; len(s.Means) == 0 || string(local) == "xml" {
			return false
		}
	case string(local) != "xmlns":
		return true
	case n.prefix > 0:
		return false
	}
	return n.plain && d.enter(s)
}

// enter adds what was declared to what is in scope, or refuses it.
func (d *Doc) enter(s Space) bool {
	if string(s.Means) == xmlSpace || string(s.Means) == "xmlns" || string(s.Prefix) == "xmlns" {
		return false
	}
	d.scope = append(d.scope, s)
	for _, k := range d.known {
		same := bytes.Equal(k.Prefix, s.Prefix)
		if bytes.Equal(k.Means, s.Means) {
			return same
		}
		if same && len(s.Prefix) > 0 {
			return false
		}
	}
	d.known = append(d.known, s)
	return true
}

// declared reports whether all prefixes of an element and its attributes, which are the last nodes, are declared.
func (d *Doc) declared(at uint32) bool {
	if d.nodes[at].prefix > 0 && !d.inScope(d.prefix(at)) {
		return false
	}
	for a := at + 1; a < uint32(len(d.nodes)); a++ {
		if !d.attributeDeclared(a) {
			return false
		}
	}
	return true
}

func (d *Doc) attributeDeclared(at uint32) bool {
	if d.nodes[at].prefix == 0 {
		return true
	}
	p := d.prefix(at)
	return string(p) == "xmlns" || string(p) == "xml" || d.inScope(p)
}

func (d *Doc) inScope(prefix []byte) bool {
	for _, s := range d.scope {
		if bytes.Equal(s.Prefix, prefix) {
			return true
		}
	}
	return false
}
