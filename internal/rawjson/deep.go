package rawjson

// skip goes over a list or an object that nests too deeply to be read: its strings are whole, and its brackets are as
// many as they should be. Nothing else is known of it.
func (d *Doc) skip(i int) int {
	b, from, level := d.text, i, 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			level++
		case '}', ']':
			if level--; level == 0 {
				d.leaf(Deep, from, i+1)
				d.deep = true
				return i + 1
			}
		}
	}
	return -1
}

// DeepOutside reports whether something that is not read stands outside of a value.
func (d *Doc) DeepOutside(n Node) bool {
	if !d.deep {
		return false
	}
	for at := range d.nodes {
		if d.nodes[at].kind == Deep && (n.doc == nil || uint32(at) < n.at || uint32(at) >= n.is().end) {
			return true
		}
	}
	return false
}

// Deeper reports whether values stand inside each other more often than that, the value itself included.
func (n Node) Deeper(most int) bool {
	if n.doc.deepest <= most {
		return false
	}
	var ends []uint32
	nodes := n.doc.nodes
	for at, end := n.at, n.is().end; at < end; at++ {
		for len(ends) > 0 && ends[len(ends)-1] <= at {
			ends = ends[:len(ends)-1]
		}
		switch nodes[at].kind {
		case Deep:
			return true
		case Array, Object:
			if ends = append(ends, nodes[at].end); len(ends) > most {
				return true
			}
		}
	}
	return false
}
