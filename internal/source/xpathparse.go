package source

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lookupOf is nil for an expression that is left to the library, which has found it to be an XPath.
func lookupOf(text string) *xpathExpr {
	p := &xpathParser{text: text}
	l := p.value()
	if p.skip(); p.lost || p.at < len(p.text) || l.literal() {
		return nil
	}
	return &l
}

// xpathParser reads an expression from left to right. It is lost where it meets something that it does not know.
type xpathParser struct {
	text   string
	at     int
	lost   bool
	inside bool // a condition
}

func (p *xpathParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take goes on behind a text, if it is the next.
func (p *xpathParser) take(next string) bool {
	p.skip()
	if p.lost || !strings.HasPrefix(p.text[p.at:], next) {
		return false
	}
	p.at += len(next)
	return true
}

func (p *xpathParser) need(next string) {
	if !p.take(next) {
		p.lost = true
	}
}

// word takes a name, and must not be asked where there may be none.
func (p *xpathParser) word() string {
	p.skip()
	from := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'; !letter && (p.at == from || c != '-' && c != '.' && (c < '0' || c > '9')) {
			break
		}
	}
	switch word := p.text[from:p.at]; word {
	case "", "and", "or", "div", "mod":
		p.lost = true
		return ""
	default:
		return word
	}
}

// called is the name of the function that is called next, or nothing.
func (p *xpathParser) called() string {
	p.skip()
	rest := p.text[p.at:]
	name, _, found := strings.Cut(rest, "(")
	if name = strings.TrimRight(name, " "); !found || name == "text" || strings.ContainsAny(name, " /@*[]|=!.,:'\"") {
		return ""
	}
	return name
}

func (p *xpathParser) open(name string) {
	p.need(name)
	p.need("(")
}

// literal takes a text in quotes.
func (p *xpathParser) literal() string {
	p.skip()
	if p.at >= len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		p.lost = true
		return ""
	}
	text, _, closed := strings.Cut(p.text[p.at+1:], p.text[p.at:p.at+1])
	if !closed {
		p.lost = true
		return ""
	}
	p.at += len(text) + 2
	return text
}

// value takes a text, a function, or a union of paths.
func (p *xpathParser) value() (l xpathExpr) {
	p.skip()
	if p.lost || p.at >= len(p.text) {
		p.lost = true
		return l
	}
	if c := p.text[p.at]; c == '\'' || c == '"' {
		return xpathExpr{text: p.literal()}
	}
	if name := p.called(); name != "" {
		return p.function(name)
	}
	for {
		l.paths = append(l.paths, p.path())
		if !p.take("|") {
			break
		}
	}
	for _, path := range l.paths {
		if len(l.paths) > 1 && path[len(path)-1].test == isText { // the library knows texts apart by what they say
			p.lost = true
		}
	}
	return l
}

func (p *xpathParser) function(name string) xpathExpr {
	l := xpathExpr{call: name}
	p.open(name)
	for first := true; !p.lost && (first || p.take(",")); first = false {
		l.args = append(l.args, p.value())
	}
	p.need(")")
	if p.lost || !l.known() {
		p.lost = true
	}
	return l
}

// known reports whether a function is one that can be called here, and prepares it.
func (l *xpathExpr) known() bool {
	literals := 0
	for i := range l.args {
		if l.args[i].literal() {
			literals++
		}
	}
	first := &l.args[0]
	switch count := len(l.args); l.call {
	case "normalize-space", "string":
		return count == 1 && literals == 0 && first.call != "not"
	case "not":
		return count == 1 && first.paths != nil
	case "string-join":
		return count == 2 && first.paths != nil && l.args[1].literal()
	case "substring-after", "substring-before":
		return count == 2 && literals == 1 && !first.literal() && first.call != "not"
	case "concat": // a condition in one part moves the library away from where the next begins
		return count >= 2 && (count-literals <= 1 || !l.conditional()) && !l.calls("not")
	case "replace":
		if count != 3 || literals != 2 || first.literal() || first.call == "not" {
			return false
		}
		var err error
		if l.like, err = regexp.Compile(l.args[1].text); err != nil {
			return false
		}
		l.text = l.args[2].text
		for i := l.like.NumSubexp(); i > 0; i-- {
			l.text = strings.ReplaceAll(l.text, fmt.Sprintf("$%d", i), fmt.Sprintf("${%d}", i))
		}
		return true
	}
	return false
}

func (l *xpathExpr) calls(name string) bool {
	for i := range l.args {
		if l.args[i].call == name {
			return true
		}
	}
	return false
}

// path takes a location path. One from the root is one from here: the root is where a search begins.
func (p *xpathParser) path() (all elements) {
	anywhere := p.take("//")
	if !anywhere {
		p.take("/")
	}
	if p.inside && p.text[max(p.at-1, 0)] == '/' {
		p.lost = true
	}
	for !p.lost {
		s := p.stride(len(all) == 0 && !anywhere)
		if anywhere {
			if s.axis != toChild || s.number > 0 || p.inside {
				p.lost = true
			}
			s.axis = toInside
		}
		all = append(all, s)
		if anywhere = p.take("//"); !anywhere && !p.take("/") {
			break
		}
		if s.axis == toAttribute || s.axis == toAncestor || s.test == isText {
			p.lost = true
		}
	}
	if len(all) == 0 {
		return elements{xpathStep{}}
	}
	return all
}

func (p *xpathParser) stride(first bool) (s xpathStep) {
	p.skip()
	switch rest := p.text[p.at:]; {
	case strings.HasPrefix(rest, ".."):
		p.lost = true
		return s
	case first && p.take("."):
		if p.take("[") {
			p.lost = true
		}
		return xpathStep{axis: toSelf, test: isNode}
	case p.take("@"):
		s.axis = toAttribute
	case p.take("self::"):
		s.axis = toSelf
	case p.take("child::"):
	case p.inside && first && p.take("ancestor::"):
		s.axis = toAncestor
	}
	if p.take("*") {
		s.test = isElement
	} else if s.local, s.test = p.word(), isNamed; p.at < len(p.text) && p.text[p.at] == ':' {
		p.at++
		if s.prefix, s.local = s.local, p.word(); s.local == "" || p.text[p.at-len(s.local)-1] != ':' || strings.HasPrefix(p.text[p.at:], ":") {
			p.lost = true
		}
	} else if p.take("(") {
		p.need(")")
		if s.local != "text" || s.axis != toChild {
			p.lost = true
		}
		s.test = isText
	}
	if s.axis == toAttribute && (s.test == isElement || s.prefix == "xmlns") {
		p.lost = true // an item that is read in its page lacks the declarations that it was given
	}
	p.conditions(&s)
	if s.test == isElement && len(s.conds) > 0 && s.conds[0].kind == ifCalled { // as sources look for elements that others may name a prefix for
		s.test, s.local, s.conds = isCalled, s.conds[0].text, s.conds[1:]
	}
	return s
}

func (p *xpathParser) conditions(s *xpathStep) {
	for p.take("[") {
		if p.inside || s.axis == toAttribute || s.test == isText {
			p.lost = true
			return
		}
		if p.skip(); p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			end := strings.IndexByte(p.text[p.at:], ']')
			n, err := strconv.Atoi(strings.TrimSpace(p.text[p.at : p.at+max(end, 0)]))
			if err != nil || n < 1 || n > 1000 || s.axis != toChild || len(s.conds) > 0 || s.number > 0 {
				p.lost = true
				return
			}
			s.number, p.at = n, p.at+end
		} else {
			if s.number > 0 {
				p.lost = true
			}
			p.inside = true
			s.conds = append(s.conds, p.either())
			p.inside = false
		}
		p.need("]")
	}
}

// either takes conditions of which one is enough.
func (p *xpathParser) either() cond {
	c := p.both()
	for p.operator("or") {
		c = cond{kind: ifOr, of: []cond{c, p.both()}}
	}
	return c
}

// both takes conditions of which all are needed.
func (p *xpathParser) both() cond {
	c := p.one()
	for p.operator("and") {
		c = cond{kind: ifAnd, of: []cond{c, p.one()}}
	}
	return c
}

// operator takes a word between conditions.
func (p *xpathParser) operator(word string) bool {
	if !p.take(word) {
		return false
	}
	if p.at >= len(p.text) || p.text[p.at] != ' ' {
		p.lost = true
	}
	return true
}

func (p *xpathParser) one() (c cond) {
	if p.lost {
		return c
	}
	switch name := p.called(); name {
	case "":
		c.path = p.path()
		switch {
		case p.take("!="):
			c.kind, c.text = ifOther, p.literal()
		case p.take("="):
			c.kind, c.text = ifEqual, p.literal()
		}
		return c
	case "not":
		p.open(name)
		c = cond{kind: ifNot, of: []cond{p.either()}}
		p.need(")")
	case "local-name":
		p.open(name)
		p.need(")")
		if c.kind = ifCalledOther; !p.take("!=") {
			p.need("=")
			c.kind = ifCalled
		}
		c.text = p.literal()
	case "starts-with", "ends-with", "contains":
		c.kind = map[string]byte{"starts-with": ifStarts, "ends-with": ifEnds, "contains": ifContains}[name]
		p.open(name)
		c.path = p.path()
		p.need(",")
		c.text = p.literal()
		c.inside = []byte(c.text)
		p.need(")")
	default:
		p.lost = true
	}
	return c
}
