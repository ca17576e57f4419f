package rawjson

// Remember makes an object of the document quick to ask: its members are listed once, and not walked at every question. The
// one that was remembered before is so no longer. Nothing else is remembered.
func (d *Doc) Remember(n Node) {
	if d.of = 0; n.Kind() != Object {
		return
	}
	d.members = d.appendMembers(d.members[:0], n.at)
	d.of = n.at + 1
}

// appendMembers appends the members of an object.
func (d *Doc) appendMembers(to []entry, at uint32) []entry {
	for key, end := at+1, d.nodes[at].end; key < end; key = d.nodes[key+1].end {
		to = append(to, entry{d.begins(key), key})
	}
	return to
}

// remembered finds a member of the object that is remembered. Of two with the same name the last counts.
func (d *Doc) remembered(name string) (Node, bool) {
	begins := beginsOf(name)
	for i := len(d.members) - 1; i >= 0; i-- {
		if m := &d.members[i]; m.begins == begins && d.named(m.key, name) {
			return Node{d, m.key + 1}, true
		}
	}
	return Node{}, false
}

// named reports whether the name at a node is this one.
func (d *Doc) named(at uint32, name string) bool {
	if is := &d.nodes[at]; is.plain {
		return string(d.text[is.from+1:is.to-1]) == name
	}
	return d.meaning(at) == name
}

// beginsOf is how a name begins, as begins has it.
func beginsOf(name string) (b uint64) {
	if len(name) >= 8 {
		return uint64(name[0])<<56 | uint64(name[1])<<48 | uint64(name[2])<<40 | uint64(name[3])<<32 | uint64(name[4])<<24 | uint64(name[5])<<16 | uint64(name[6])<<8 | uint64(name[7])
	}
	for i := range len(name) {
		b |= uint64(name[i]) << (56 - 8*i)
	}
	return b
}
