package source

import "regexp"

// xpathExpr is an XPath of the kind that sources are written with, ready to be followed in the bytes of an item. It finds what
// the library finds in a tree of the item, in the same order, as often: a union is one part after the other, and a path may
// find a node twice. Paths of any other kind are left to the library.
type xpathExpr struct {
	call  string // a function, or none
	args  []xpathExpr
	text  string         // of a literal
	like  *regexp.Regexp // of replace
	paths []elements     // of a union, or of one path
}

// elements is a location path.
type elements []xpathStep

// xpathStep is one step of a location path.
type xpathStep struct {
	axis          byte
	test          byte
	prefix, local string
	number        int // only the one with this number among those that fit; 0: all
	conds         []cond
}

// The axes, and what is looked for there.
const (
	toChild byte = iota
	toInside
	toAttribute
	toSelf
	toAncestor

	isNamed  byte = iota
	isCalled      // whatever its prefix is
	isElement
	isText
	isNode
)

// cond is a condition on a node.
type cond struct {
	kind   byte
	path   elements
	text   string
	inside []byte // the same, of ifContains
	of     []cond
}

// The kinds of conditions.
const (
	ifThere byte = iota
	ifEqual
	ifOther
	ifStarts
	ifEnds
	ifContains
	ifCalled
	ifCalledOther
	ifNot
	ifAnd
	ifOr
)

// literal reports whether a part of a lookup is a text.
func (l *xpathExpr) literal() bool { return l.call == "" && l.paths == nil }

// simple reports whether it finds nodes, and makes nothing of them.
func (l *xpathExpr) simple() bool { return l != nil && l.call == "" && !l.literal() }

// conditional reports whether there is a condition somewhere in it.
func (l *xpathExpr) conditional() bool {
	for _, p := range l.paths {
		for _, s := range p {
			if len(s.conds) > 0 || s.number > 0 || s.test == isCalled {
				return true
			}
		}
	}
	for i := range l.args {
		if l.args[i].conditional() {
			return true
		}
	}
	return false
}
