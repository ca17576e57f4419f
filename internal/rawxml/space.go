package rawxml

import "bytes"

// space is a prefix, or none, and what it was declared to mean.
type space struct{ prefix, means []byte }

// xmlSpace is what the prefix xml means, without anybody saying so.
const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// declare notes the prefix that an attribute declares, if it does. It is refused where a prefix could be taken for another.
func (d *Doc) declare(at uint32) bool {
	n := &d.nodes[at]
	prefix, local := d.prefix(at), d.local(at)
	s := space{means: d.text[n.from:n.to]}
	switch {
	case string(prefix) == "xmlns":
		if s.prefix = local; len(s.means) == 0 || string(local) == "xml" {
			return false
		}
	case string(local) != "xmlns":
		return true
	case n.prefix > 0:
		return false
	}
	if !n.plain || string(s.means) == xmlSpace || string(s.means) == "xmlns" || string(s.prefix) == "xmlns" {
		return false
	}
	d.scope = append(d.scope, s)
	for _, k := range d.known {
		same := bytes.Equal(k.prefix, s.prefix)
		if bytes.Equal(k.means, s.means) {
			return same
		}
		if same && len(s.prefix) > 0 {
			return false
		}
	}
	d.known = append(d.known, s)
	return true
}

// declared reports whether all prefixes of an element and its attributes are declared.
func (d *Doc) declared(at uint32) bool {
	if d.nodes[at].prefix > 0 && !d.inScope(d.prefix(at)) {
		return false
	}
	for a := at + 1; a < uint32(len(d.nodes)); a++ {
		if d.nodes[a].prefix == 0 {
			continue
		}
		if p := d.prefix(a); string(p) != "xmlns" && string(p) != "xml" && !d.inScope(p) {
			return false
		}
	}
	return true
}

func (d *Doc) inScope(prefix []byte) bool {
	for _, s := range d.scope {
		if bytes.Equal(s.prefix, prefix) {
			return true
		}
	}
	return false
}
