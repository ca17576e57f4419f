package source

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"patra/internal/strictyaml"
)

// xpathParser reads an expression from left to right. It keeps the first thing that it does not know.
type xpathParser struct {
	text   string
	at     int
	err    error
	inside bool // a condition
}

// fail notes what is not known at a place, and the nearest form that is.
func (p *xpathParser) fail(what, instead string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s (at character %d); %s", what, p.at+1, instead)
	}
}

// unexpected says what stands where something else should, as far as that is a form that others know.
func (p *xpathParser) unexpected() {
	rest := p.text[p.at:]
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(rest, w) })
	}
	switch {
	case rest == "":
		p.fail("it ends too early", "a path is names with / between, such as header/identifier")
	case begins("<", ">", "+", "-"), begins("div ", "mod "):
		p.fail("nothing is computed or compared by size",
			"conditions compare with = and !=, or with starts-with, ends-with and contains")
	case begins("("):
		p.fail("brackets do not hold paths together", "write each path out, with | between: a/b | a/c")
	case begins("$"):
		p.fail("there are no variables", "write the path itself")
	case begins("["):
		p.fail("no condition can stand here", "conditions follow the name of an element: title[@lang='en']")
	case begins("]", ")", "'", `"`, ",", "=", "!"):
		p.fail(fmt.Sprintf("%q is not expected", rest[:1]), "see that all brackets and quotes are closed")
	default:
		p.fail(fmt.Sprintf("%q is not expected", rest[:min(len(rest), 20)]),
			"a path is names with / between, such as header/identifier")
	}
}

func (p *xpathParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take goes on behind a text, if it is the next.
func (p *xpathParser) take(next string) bool {
	p.skip()
	if p.err != nil || !strings.HasPrefix(p.text[p.at:], next) {
		return false
	}
	p.at += len(next)
	return true
}

// ahead reports whether a text is the next.
func (p *xpathParser) ahead(next string) bool {
	p.skip()
	return strings.HasPrefix(p.text[p.at:], next)
}

func (p *xpathParser) need(next string) {
	if !p.take(next) {
		p.unexpected()
	}
}

// word takes a name. Any character beyond ASCII may be part of one.
func (p *xpathParser) word() string {
	p.skip()
	from := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
		if !letter && (p.at == from || c != '-' && c != '.' && (c < '0' || c > '9')) {
			break
		}
	}
	switch word := p.text[from:p.at]; word {
	case "", "and", "or", "div", "mod":
		p.at = from
		p.unexpected()
		return ""
	default:
		return word
	}
}

// called is the name of the function that is called next, or nothing.
func (p *xpathParser) called() string {
	p.skip()
	name, _, found := strings.Cut(p.text[p.at:], "(")
	name = strings.TrimRight(name, " ")
	if !found || name == "text" || name == "node" || strings.ContainsAny(name, " /@*[]|=!.,:'\"<>+$") {
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
		p.fail("a text in quotes should stand here", "paths are compared with texts: @lang='en'")
		return ""
	}
	text, _, closed := strings.Cut(p.text[p.at+1:], p.text[p.at:p.at+1])
	if !closed {
		p.fail("the quotes are not closed", "close them")
		return ""
	}
	p.at += len(text) + 2
	return text
}

// value takes a text, a function, or a union of paths.
func (p *xpathParser) value() (l xpathExpr) {
	if p.skip(); p.err != nil || p.at >= len(p.text) {
		p.unexpected()
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
	l.twice = len(l.paths) > 1 || l.paths[0].deep() > 1
	return l
}

// deep is how often a path goes on to everything inside.
func (p elements) deep() (n int) {
	for _, s := range p {
		if s.axis == toInside {
			n++
		}
	}
	return n
}

// xpathFunctions are the functions that make a value, and xpathTests those of conditions.
var (
	xpathFunctions = []string{
		"concat", "normalize-space", "not", "replace", "string", "string-join", "substring-after", "substring-before",
	}
	xpathTests = []string{"contains", "ends-with", "local-name", "not", "starts-with"}
)

// insteadOf are forms that are nearest to functions of XPath that are not known here.
var insteadOf = map[string]string{
	"count":           "in a mapping write the path | count",
	"distinct-values": "in a mapping write the path | distinct",
	"last":            "in a mapping write the path | last",
	"lower-case":      "in a mapping write the path | lower",
	"matches":         "write starts-with, ends-with or contains",
	"name":            "write the name of the element, or local-name()",
	"number":          "in a mapping write the path | number",
	"position":        "write the number alone: author[1]",
	"tokenize":        "in a mapping write the path | split(' ')",
	"translate":       "in a mapping write the path | replace('x', 'y')",
	"upper-case":      "in a mapping write the path | upper",
}

// noFunction says what there is in place of a function that is not known.
func (p *xpathParser) noFunction(name string, known []string) {
	instead, ok := insteadOf[name]
	if near, similar := strictyaml.Nearest(name, known); !ok && similar {
		instead, ok = "did you mean "+near+"?", true
	}
	if !ok {
		instead = "known are " + strings.Join(known, ", ")
	}
	p.fail(fmt.Sprintf("the function %s is not known here", name), instead)
}

func (p *xpathParser) function(name string) xpathExpr {
	l := xpathExpr{call: name}
	if !slices.Contains(xpathFunctions, name) {
		p.noFunction(name, xpathFunctions)
		return l
	}
	p.open(name)
	for first := true; p.err == nil && (first || p.take(",")); first = false {
		l.args = append(l.args, p.value())
	}
	p.need(")")
	if p.err == nil {
		p.check(&l)
	}
	return l
}

// check refuses a function that is called with something else than it takes, and prepares it.
func (p *xpathParser) check(l *xpathExpr) {
	literals := 0
	for i := range l.args {
		if l.args[i].literal() {
			literals++
		}
	}
	first, count := &l.args[0], len(l.args)
	ok, form := false, ""
	switch l.call {
	case "normalize-space", "string":
		ok, form = count == 1 && literals == 0 && first.call != "not", "(path)"
	case "not":
		ok, form = count == 1 && first.paths != nil, "(path)"
	case "string-join":
		ok, form = count == 2 && first.paths != nil && l.args[1].literal(), "(path, 'text')"
	case "substring-after", "substring-before":
		ok, form = count == 2 && literals == 1 && l.args[1].literal() && first.call != "not", "(path, 'text')"
	case "concat":
		isNot := func(a xpathExpr) bool { return a.call == "not" }
		ok, form = count >= 2 && !slices.ContainsFunc(l.args, isNot), "(path, 'text', path)"
	case "replace":
		form = "(path, 'pattern', 'text')"
		if ok = count == 3 && literals == 2 && !first.literal() && first.call != "not"; ok {
			p.pattern(l)
		}
	}
	if !ok {
		p.fail(l.call+" does not take this", "write "+l.call+form)
	}
}

// pattern compiles the pattern of replace.
func (p *xpathParser) pattern(l *xpathExpr) {
	var err error
	if l.like, err = regexp.Compile(l.args[1].text); err != nil {
		p.fail(fmt.Sprintf("%q is no regular expression", l.args[1].text), "write one of RE2, such as 'v[0-9]+$'")
		return
	}
	l.text = l.args[2].text
	for i := l.like.NumSubexp(); i > 0; i-- {
		l.text = strings.ReplaceAll(l.text, fmt.Sprintf("$%d", i), fmt.Sprintf("${%d}", i))
	}
}

// path takes a location path. One from the root is one from here: the root is where a search begins.
func (p *xpathParser) path() (all elements) {
	anywhere := p.take("//")
	if root := anywhere || p.take("/"); root && p.inside {
		p.fail("a path from the root cannot stand in a condition", "write it from the element that the condition is about")
	}
	for p.err == nil {
		s := p.step(len(all) == 0 && !anywhere)
		if anywhere {
			p.anywhere(&s)
		}
		all = append(all, s)
		if anywhere = p.take("//"); !anywhere && !p.take("/") {
			break
		}
		if s.axis == toAttribute || s.axis == toAncestor || s.test == isText {
			p.fail("nothing can follow an attribute, a text or an ancestor", "end the path there")
		}
	}
	if len(all) == 0 {
		return elements{xpathStep{}}
	}
	return all
}

// anywhere makes a step look at everything inside.
func (p *xpathParser) anywhere(s *xpathStep) {
	switch {
	case p.inside:
		p.fail("// cannot stand in a condition", "write the names between, or * for any of them")
	case s.axis != toChild:
		p.fail("after // an element should stand", "write //name, or //name/@attribute")
	case s.number > 0:
		p.fail("what stands at any depth has no number", "in a mapping write the path | first")
	}
	s.axis = toInside
}

// axes are refused with what is nearest to them.
var axes = []struct{ begins, instead string }{
	{"..", "begin the path further out"},
	{"parent::", "begin the path further out"},
	{"following", "name the element by what it is, with a condition"},
	{"preceding", "name the element by what it is, with a condition"},
	{"descendant", "write //"},
	{"namespace::", "prefixes are compared as they are written"},
	{"attribute::", "write @"},
	{"ancestor", "it can begin a path in a condition: [ancestor::group]"},
	{"node()", "write * for any element, or text()"},
}

func (p *xpathParser) noAxis() bool {
	for _, a := range axes {
		if !p.ahead(a.begins) {
			continue
		}
		near := p.text[p.at:min(len(p.text), p.at+len(a.begins)+20)] // following-sibling:: begins so, too
		if a.begins == ".." || strings.HasSuffix(a.begins, "()") || strings.Contains(near, "::") {
			p.fail(fmt.Sprintf("%q is not known here", a.begins), a.instead)
			return true
		}
	}
	return false
}

// step takes one step of a path.
func (p *xpathParser) step(first bool) (s xpathStep) {
	switch {
	case p.inside && first && p.take("ancestor::"):
		s.axis = toAncestor
	case p.noAxis():
		return s
	case first && p.take("."):
		if p.ahead("[") {
			p.fail("a condition cannot follow a point", "write self::*[...], or the condition on the step before")
		}
		return xpathStep{axis: toSelf, test: isNode}
	case p.take("@"):
		s.axis = toAttribute
	case p.take("self::"):
		s.axis = toSelf
	case p.take("child::"):
	}
	p.test(&s)
	p.conditions(&s)
	// As sources look for elements that others may name a prefix for.
	if s.test == isElement && s.number == 0 && len(s.conds) > 0 && s.conds[0].kind == ifCalled {
		s.test, s.local, s.conds = isCalled, s.conds[0].text, s.conds[1:]
	}
	return s
}

// test takes what a step looks for.
func (p *xpathParser) test(s *xpathStep) {
	if p.take("*") {
		if s.test = isElement; s.axis == toAttribute {
			p.fail("@* is not known here", "name the attribute: @lang")
		}
		return
	}
	switch s.local, s.test = p.word(), isNamed; {
	case p.err != nil:
	case p.at < len(p.text) && p.text[p.at] == ':':
		p.at++
		if s.prefix = s.local; p.ahead("*") {
			p.fail("any element of a prefix cannot be asked for", "name the element: "+s.prefix+":title")
			return
		}
		if s.local = p.word(); s.axis == toAttribute && s.prefix == "xmlns" {
			p.fail("declarations of prefixes cannot be asked for", "name another attribute")
		}
	case p.take("("):
		p.need(")")
		if s.local != "text" || s.axis != toChild {
			p.fail("only text() is known in a path", "name an element, or end the path with text()")
		}
		s.test = isText
	}
}

// conditions takes the conditions of a step.
func (p *xpathParser) conditions(s *xpathStep) {
	for p.take("[") {
		switch {
		case p.inside:
			p.fail("a condition cannot stand in another one", "write [a and b], or a path: [a/b='x']")
		case s.axis == toAttribute || s.test == isText:
			p.fail("an attribute or a text has no condition", "write the condition on its element: a[@b='x']/@b")
		}
		if p.err != nil {
			return
		}
		if p.skip(); p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			p.number(s)
		} else {
			if s.number > 0 {
				p.fail("a number stands last among conditions", "write [condition][1]")
			}
			p.inside = true
			s.conds = append(s.conds, p.either())
			p.inside = false
		}
		p.need("]")
	}
}

// number takes the number of an element among those that fit.
func (p *xpathParser) number(s *xpathStep) {
	length := strings.IndexByte(p.text[p.at:], ']')
	n, err := strconv.Atoi(strings.TrimSpace(p.text[p.at : p.at+max(length, 0)]))
	switch {
	case err != nil || n < 1 || n > 1000:
		p.fail("a number is between 1 and 1000", "write [1] for the first")
	case s.axis != toChild || s.number > 0:
		p.fail("a number cannot stand here", "it follows the name of an element: author[1]")
	}
	if p.err == nil {
		s.number, p.at = n, p.at+length
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
		p.unexpected()
	}
	return true
}

func (p *xpathParser) one() (c cond) {
	if p.err != nil {
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
		p.noFunction(name, xpathTests)
	}
	return c
}
