package rawjson

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Repeated gives a key that occurs twice in one object of the value that Canonical wrote last, also in what was left out.
func (d *Doc) Repeated() (key Node, ok bool) { return Node{d, d.twice}, d.twice != 0 }

// Count is how many members of an object have a name. Only one that has exactly one means the same to all readers.
func (n Node) Count(name string) (count int) {
	if n.Kind() != Object {
		return 0
	}
	for at, end := n.at+1, n.is().end; at < end; at = n.doc.nodes[at+1].end {
		if n.doc.named(at, name) {
			count++
		}
	}
	return count
}

// RepeatedKey finds a key that occurs twice in one object of the value. It does not look inside of except.
func (n Node) RepeatedKey(except Node) (key Node, ok bool) {
	at := n.doc.repeated(n.at, except.at)
	return Node{n.doc, at}, at != 0
}

// repeated finds the node of a key that occurs twice in one object of the value at a node; 0 is none, since the first node of a
// document is its whole value. 0 stands for no exception too.
func (d *Doc) repeated(at, except uint32) uint32 {
	is := d.nodes[at]
	if at == except && except != 0 || is.settled { // what is settled has all its names in order, and each of them once
		return 0
	}
	switch is.kind {
	case Array:
		for e := at + 1; e < is.end; e = d.nodes[e].end {
			if key := d.repeated(e, except); key != 0 {
				return key
			}
		}
	case Object:
		if key := d.repeatedHere(at); key != 0 {
			return key
		}
		for key := at + 1; key < is.end; key = d.nodes[key+1].end {
			if below := d.repeated(key+1, except); below != 0 {
				return below
			}
		}
	}
	return 0
}

// repeatedHere finds a key that occurs twice among the members of an object.
func (d *Doc) repeatedHere(at uint32) (key uint32) {
	from := len(d.sort)
	d.sort = d.appendMembers(d.sort, at)
	members := d.sort[from:]
	d.order(members)
	for i := 1; i < len(members) && key == 0; i++ {
		if d.sameName(members[i-1], members[i]) {
			key = members[i].key
		}
	}
	d.sort = d.sort[:from]
	return key
}

// RepeatedMember finds a key that occurs twice among the members of an object, and does not look inside of them.
func (n Node) RepeatedMember() (key Node, ok bool) {
	if n.Kind() != Object || n.is().settled {
		return Node{}, false
	}
	at := n.doc.repeatedHere(n.at)
	return Node{n.doc, at}, at != 0
}

// plainName is a name that a path can show without quotes.
var plainName = regexp.MustCompile(`^[\w-]{1,40}$`)

// mostNamed is how much of a name is shown.
const mostNamed = 40

// Path is where a node, or the name of a member, stands inside of another: $.a.b[2]. Names that are long or odd are shown cut and
// quoted.
func (n Node) Path(inside Node) string {
	var b strings.Builder
	b.WriteByte('$')
	d, at := n.doc, inside.at
	for at != n.at {
		next, part := d.toward(at, n.at)
		if next == at {
			break // it does not stand there
		}
		b.WriteString(part)
		at = next
	}
	return b.String()
}

// toward is the part of the value at a node that a further node stands in, or is the name of, and how a path writes it.
func (d *Doc) toward(at, target uint32) (next uint32, part string) {
	switch is := d.nodes[at]; is.kind {
	case Array:
		i := 0
		for e := at + 1; e < is.end; e = d.nodes[e].end {
			if target < d.nodes[e].end {
				return e, fmt.Sprintf("[%d]", i)
			}
			i++
		}
	case Object:
		for key := at + 1; key < is.end; key = d.nodes[key+1].end {
			if target >= d.nodes[key+1].end {
				continue
			}
			next, name := key+1, d.meaning(key)
			if target == key {
				next = key
			}
			if plainName.MatchString(name) {
				return next, "." + name
			}
			return next, "[" + strconv.Quote(name[:min(len(name), mostNamed)]) + "]"
		}
	}
	return at, ""
}
