package rawxml

// Partial makes what was walked of a text before it was refused a document, so that it can be asked who it was.
// Elements whose ends were not reached have no text of their own: it may go on. It reports whether there is anything.
func (d *Doc) Partial() bool {
	if len(d.nodes) == 0 {
		return false
	}
	for _, at := range d.open {
		d.nodes[at].to, d.nodes[at].end = uint32(len(d.text)), uint32(len(d.nodes))
		for c := d.First(at); c < d.nodes[at].end; c = d.nodes[c].end {
			if k := d.nodes[c].kind; k == Text || k == CDATA {
				d.nodes[c].kind = Comment
			}
		}
	}
	return true
}
