package source

import (
	"bytes"
	"slices"
	"strings"

	"patra/internal/rawxml"
)

// find gives everything that a lookup finds below a node.
func (l *xpathExpr) find(d *xmlDocument, n rawxml.Node) []any {
	switch l.call {
	case "":
		return d.values(l.nodes(d, n))
	case "not":
		return []any{len(l.args[0].nodes(d, n)) == 0}
	}
	return []any{l.string(d, n)}
}

// nodes are what the paths of a lookup find. They are valid until the next question.
func (l *xpathExpr) nodes(d *xmlDocument, n rawxml.Node) []rawxml.Node {
	found := d.found[:0]
	for _, p := range l.paths {
		p.each(&d.Doc, n, func(n rawxml.Node) bool {
			found = append(found, n)
			return true
		})
	}
	if l.twice && len(found) > 1 {
		found = d.once(found)
	}
	d.found = found
	return found
}

// once leaves out what was found before.
func (d *xmlDocument) once(found []rawxml.Node) []rawxml.Node {
	top := d.Top()
	words := int(d.End(top)-top)/64 + 1
	d.seen = slices.Grow(d.seen[:0], words)[:words]
	clear(d.seen)
	kept := found[:0]
	for _, n := range found {
		word, bit := &d.seen[(n-top)/64], uint64(1)<<((n-top)%64)
		if *word&bit == 0 {
			*word |= bit
			kept = append(kept, n)
		}
	}
	return kept
}

// string is a lookup as text: what the first node says, or what a function makes of it.
func (l *xpathExpr) string(d *xmlDocument, n rawxml.Node) string {
	switch l.call {
	case "":
		if l.literal() {
			return l.text
		}
		if found := l.nodes(d, n); len(found) > 0 {
			return d.Text(found[0])
		}
		return ""
	case "normalize-space":
		return strings.Join(strings.Fields(l.args[0].string(d, n)), " ")
	case "string":
		return l.args[0].string(d, n)
	case "string-join":
		var b strings.Builder
		for i, n := range l.args[0].nodes(d, n) {
			if i > 0 {
				b.WriteString(l.args[1].text)
			}
			b.WriteString(d.Text(n))
		}
		return b.String()
	case "substring-after", "substring-before":
		before, after, found := strings.Cut(l.args[0].string(d, n), l.args[1].text)
		switch {
		case !found || l.args[1].text == "":
			return ""
		case l.call == "substring-after":
			return after
		}
		return before
	case "replace":
		return l.like.ReplaceAllString(l.args[0].string(d, n), l.text)
	}
	var b strings.Builder // concat
	for i := range l.args {
		b.WriteString(l.args[i].string(d, n))
	}
	return b.String()
}

// each goes to everything that a path finds below a node, as long as it is wanted.
func (p elements) each(d *rawxml.Doc, n rawxml.Node, yield func(rawxml.Node) bool) bool {
	if len(p) == 0 {
		return yield(n)
	}
	s := &p[0]
	switch s.axis {
	case toSelf:
		return !s.fits(d, n) || p[1:].each(d, n, yield)
	case toAncestor:
		for n != d.Top() {
			if n = d.Parent(n); s.fits(d, n) && !yield(n) {
				return false
			}
		}
	case toAttribute:
		if d.Kind(n) != rawxml.Element {
			return true
		}
		for a, end := n+1, d.End(n); a < end && d.Kind(a) == rawxml.Attribute; a++ {
			if d.Named(a, s.prefix, s.local) && !yield(a) {
				return false
			}
		}
	case toInside:
		for c, end := d.First(n), d.End(n); c < end; c++ {
			if s.fits(d, c) && !p[1:].each(d, c, yield) {
				return false
			}
		}
	default:
		return p.child(d, n, yield)
	}
	return true
}

func (p elements) child(d *rawxml.Doc, n rawxml.Node, yield func(rawxml.Node) bool) bool {
	s, number := &p[0], 0
	for c, end := d.First(n), d.End(n); ; c = d.End(c) {
		if c = s.next(d, c, end); c >= end {
			return true
		}
		if number++; s.number > 0 && number != s.number {
			continue
		}
		if !p[1:].each(d, c, yield) {
			return false
		}
	}
}

// next is the first node that fits among those that stand beside each other, from one on and before another, or that one.
func (s *xpathStep) next(d *rawxml.Doc, c, end rawxml.Node) rawxml.Node {
	for ; c < end; c = d.End(c) {
		switch s.test { // most nodes have another name
		case isNamed:
			c = d.NextNamed(c, end, s.prefix, s.local)
		case isCalled:
			c = d.NextCalled(c, end, s.local)
		default:
			if s.fits(d, c) {
				return c
			}
			continue
		}
		if c >= end || s.allowed(d, c) {
			return c
		}
	}
	return end
}

// some reports whether a path finds anything.
func (p elements) some(d *rawxml.Doc, n rawxml.Node) bool {
	return !p.each(d, n, func(rawxml.Node) bool { return false })
}

// fits reports whether a node is what a step looks for.
func (s *xpathStep) fits(d *rawxml.Doc, n rawxml.Node) bool {
	kind := d.Kind(n)
	switch s.test {
	case isNode:
		return true
	case isText: // spaces between elements are none
		return kind == rawxml.CDATA || kind == rawxml.Text && strings.TrimSpace(d.Text(n)) != ""
	case isNamed:
		if !d.Named(n, s.prefix, s.local) {
			return false
		}
	case isCalled:
		if !d.Called(n, s.local) {
			return false
		}
	}
	return kind == rawxml.Element && s.allowed(d, n)
}

// allowed reports whether a node fulfils all conditions.
func (s *xpathStep) allowed(d *rawxml.Doc, n rawxml.Node) bool {
	for i := range s.conds {
		if !s.conds[i].holds(d, n) {
			return false
		}
	}
	return true
}

// holds reports whether a node fulfils a condition.
func (c *cond) holds(d *rawxml.Doc, n rawxml.Node) bool {
	switch c.kind {
	case ifThere:
		return c.path.some(d, n)
	case ifEqual, ifOther:
		return !c.path.each(d, n, func(n rawxml.Node) bool {
			return d.Says(n, c.text) != (c.kind == ifEqual)
		})
	case ifCalled, ifCalledOther:
		return d.Called(n, c.text) == (c.kind == ifCalled)
	case ifNot:
		return !c.of[0].holds(d, n)
	case ifAnd:
		return c.of[0].holds(d, n) && c.of[1].holds(d, n)
	case ifOr:
		return c.of[0].holds(d, n) || c.of[1].holds(d, n)
	}
	holds := false
	c.path.each(d, n, func(n rawxml.Node) bool {
		holds = c.part(d, n)
		return false // the first decides
	})
	return holds
}

// part reports whether what a node says begins or ends with a text, or has it inside. Mostly it need not be copied for that.
func (c *cond) part(d *rawxml.Doc, n rawxml.Node) bool {
	said, plain := d.Plain(n)
	if !plain {
		said = []byte(d.Text(n))
	}
	switch c.kind {
	case ifStarts:
		return len(said) >= len(c.text) && string(said[:len(c.text)]) == c.text
	case ifEnds:
		return len(said) >= len(c.text) && string(said[len(said)-len(c.text):]) == c.text
	}
	return bytes.Contains(said, c.inside)
}
