package source

import (
	"fmt"
	"regexp"
	"strconv"
)

// xpathExpr is an XPath of our subset, ready to be followed in the bytes of an item; docs/writing-a-source.md has its
// grammar. A union gives what its first path finds, then what the second finds, and each node once.
type xpathExpr struct {
	call  string // a function, or none
	args  []xpathExpr
	text  string         // of a literal
	like  *regexp.Regexp // of replace
	paths []elements     // of a union, or of one path
	twice bool           // a node may be found more than once
}

// parseXPath reads an XPath, or says what of it is not known here and how it can be written.
func parseXPath(text string) (path, error) {
	if text == "" {
		return path{}, fmt.Errorf("an empty text is not an XPath")
	}
	p := &xpathParser{text: text}
	l := p.value()
	if p.skip(); p.err == nil && p.at < len(p.text) {
		p.unexpected()
	}
	if p.err == nil && l.literal() {
		p.fail("a text is no path", "write the path of what is meant")
	}
	if p.err != nil {
		return path{}, fmt.Errorf("%s is not an XPath that is known here: %w", strconv.Quote(text), p.err)
	}
	return path{text: text, xpath: &l}, nil
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
