package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patra/internal/rawjson"
	"patra/internal/strictyaml"
)

// mapping reads one field from an item: a path, then an object template or none, then functions.
//
//	$.DOI | lower
//	$.author[*] {given: $.given, family: $.family}
//	AuthorList/Author {family: LastName, given: ForeName} | list
//
// It is not a programming language: there are no loops, no variables and no I/O, so it always ends.
type mapping struct {
	path   path
	object []slot
	calls  []call
	many   bool // the path may find several
	asis   bool // what is found is written as it stands there
	list   bool // and in XML all of it, and not the first only
}

// slot is one entry of an object template.
type slot struct {
	name  string
	label []byte // the name as it stands before its value
	path  path
}

// call is a function with its arguments.
type call struct {
	name  string
	fn    function // on one value
	text  textFunction
	whole listFunction
	args  []string
}

// parseMapping compiles the text of one field.
func parseMapping(format, text string) (*mapping, error) {
	parts := splitOutside(text, '|')
	if format == formatXML { // in XPath a bar between paths is a union; our functions are words
		if err := misspelt(parts[1:]); err != nil {
			return nil, err
		}
		parts = joinUnions(parts)
	}
	head := strings.TrimSpace(parts[0])
	m := &mapping{}
	if open := indexOutside(head, '{'); open >= 0 {
		end := strings.LastIndexByte(head, '}')
		if end < open {
			return nil, fmt.Errorf("the object in %q is not closed", text)
		}
		if after := strings.TrimSpace(head[end+1:]); after != "" {
			return nil, fmt.Errorf("only functions can follow an object, and %q is none; known: %s", strings.TrimLeft(after, "| "), strings.Join(functionNames(), ", "))
		}
		if err := m.parseObject(format, head[open+1:end]); err != nil {
			return nil, err
		}
		head = strings.TrimSpace(head[:open])
	}
	var err error
	if m.path, err = parsePath(format, head); err != nil {
		return nil, err
	}
	for _, part := range parts[1:] {
		c, err := parseCall(part)
		if err != nil {
			return nil, err
		}
		m.calls = append(m.calls, c)
	}
	m.many = m.path.many()
	m.asis = len(m.calls) == 0 && m.path.walk != nil && m.path.walk.whole() && !m.twice()
	simple := m.path.xpath.simple() && !slices.ContainsFunc(m.object, func(s slot) bool { return !s.path.xpath.simple() })
	if simple && !m.twice() {
		switch {
		case len(m.calls) == 0 || len(m.calls) == 1 && m.calls[0].name == callFirst:
			m.asis = true
		case len(m.calls) == 1 && m.calls[0].name == callList:
			m.asis, m.list = true, true
		}
	}
	return m, nil
}

// twice reports whether two entries of the object have the same name.
func (m *mapping) twice() bool {
	for i := 1; i < len(m.object); i++ {
		if m.object[i].name == m.object[i-1].name {
			return true
		}
	}
	return false
}

// misspelt refuses a single word that is nearly a function: as a path of a union it would find nothing, and nobody would miss
// what the function should have done.
func misspelt(parts []string) error {
	for _, part := range parts {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "(")
		if _, isFunction := functions[name]; isFunction || !aWord.MatchString(name) {
			continue
		}
		// One letter more or less is a slip; date is not dateParts.
		if near, ok := strictyaml.Nearest(name, functionNames()); ok && len(near)-len(name) <= 1 && len(name)-len(near) <= 1 {
			return fmt.Errorf("%q is not a function; did you mean %s? An element of this name is written ./%s", name, near, name)
		}
	}
	return nil
}

// aWord could be meant as a function, which begin with a small letter.
var aWord = regexp.MustCompile(`^[a-z][A-Za-z]*$`)

// joinUnions puts parts together again that are not the call of a function.
func joinUnions(parts []string) []string {
	out := parts[:1:1]
	for _, part := range parts[1:] {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "(")
		if _, isFunction := functions[name]; isFunction || len(out) > 1 {
			out = append(out, part)
		} else {
			out[0] += "|" + part
		}
	}
	return out
}

func (m *mapping) parseObject(format, text string) error {
	for _, entry := range splitOutside(text, ',') {
		name, path, ok := strings.Cut(entry, ":")
		if !ok {
			return fmt.Errorf("%q is not `name: path`", strings.TrimSpace(entry))
		}
		p, err := parsePath(format, strings.TrimSpace(path))
		if err != nil {
			return err
		}
		m.object = append(m.object, slot{strings.TrimSpace(name), append(rawjson.AppendString(nil, strings.TrimSpace(name)), ':'), p})
	}
	slices.SortStableFunc(m.object, func(a, b slot) int { return strings.Compare(a.name, b.name) })
	return nil
}

// parseCall reads `name` or `name('text', 'text')`.
func parseCall(text string) (call, error) {
	text = strings.TrimSpace(text)
	name, rest, hasArgs := strings.Cut(text, "(")
	fn, ok := functions[name]
	if !ok {
		return call{}, fmt.Errorf("function %q is not known; known: %s", name, strings.Join(functionNames(), ", "))
	}
	c := call{name: name, fn: fn.apply, text: textFunctions[name].apply, whole: listFunctions[name]}
	if hasArgs {
		inside, closed := strings.CutSuffix(rest, ")")
		if !closed {
			return call{}, fmt.Errorf("the arguments of %s are not closed", name)
		}
		for _, arg := range splitOutside(inside, ',') {
			arg = strings.TrimSpace(arg)
			if len(arg) < 2 || (arg[0] != '\'' && arg[0] != '"') || arg[len(arg)-1] != arg[0] {
				return call{}, fmt.Errorf("an argument of %s is a quoted text, not %s", name, arg)
			}
			c.args = append(c.args, arg[1:len(arg)-1])
		}
	}
	if len(c.args) != fn.args {
		return call{}, fmt.Errorf("%s takes %d arguments, not %d", name, fn.args, len(c.args))
	}
	return c, nil
}

// read applies the mapping to an item; nil means that the item has no such field.
func (m *mapping) read(doc any) (any, error) {
	if m.object == nil {
		if len(m.calls) > 0 && m.calls[0].name == callDateParts { // which needs no map
			return m.finish(m.path.parts(doc))
		}
		return m.finish(m.path.find(doc))
	}
	values := m.path.parts(doc)
	for i, n := range values {
		values[i] = m.shape(n)
	}
	return m.finish(values)
}

// finish applies the functions: those that work on one value to each, those that work on the list to the list.
func (m *mapping) finish(values []any) (any, error) {
	list := m.many
	for calls := m.calls; len(calls) > 0; {
		c := &calls[0]
		var err error
		switch {
		case c.whole != nil:
			values, list, err = c.whole(values, c.args)
			calls = calls[1:]
		case c.text != nil:
			n := 1
			for n < len(calls) && calls[n].text != nil {
				n++
			}
			values, err = inTurn(calls[:n], values)
			calls = calls[n:]
		default:
			values, err = c.each(values)
			calls = calls[1:]
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return result(values, list), nil
}

// each applies a function to each value. What was found is ours, and is replaced.
func (c *call) each(values []any) ([]any, error) {
	kept := values[:0]
	for _, v := range values {
		if v == nil {
			continue
		}
		out, err := c.fn(v, c.args)
		if err != nil {
			return nil, err
		}
		if out != nil {
			kept = append(kept, out)
		}
	}
	return kept, nil
}

// inTurn applies functions on texts to each value, one after the other. Only the first of them can fail: what it gives is text.
func inTurn(calls []call, values []any) ([]any, error) {
	kept := values[:0]
next:
	for _, v := range values {
		if v == nil {
			continue
		}
		s, err := asText(v)
		if err != nil {
			return nil, err
		}
		for i := range calls {
			var some bool
			if s, some = calls[i].text(s, calls[i].args); !some {
				continue next
			}
		}
		kept = append(kept, s)
	}
	return kept, nil
}

// result is a list, or its only value. Elements of a document become their text.
func result(values []any, list bool) any {
	for i, v := range values {
		values[i] = plain(v)
	}
	switch {
	case len(values) == 0:
		return nil
	case !list:
		return values[0]
	}
	return values
}

// shape is an object with what is found of it at a node.
func (m *mapping) shape(node any) objectFields {
	out := make(objectFields, 0, len(m.object))
	for i := range m.object {
		mem := &m.object[i]
		if found := mem.path.find(node); len(found) > 0 && found[0] != nil {
			out = append(out, member{mem.name, plain(found[0])})
		}
	}
	return out
}

// splitOutside cuts at sep where it stands outside quotes, brackets and braces.
func splitOutside(text string, sep byte) []string {
	var parts []string
	for {
		at := indexOutside(text, sep)
		if at < 0 {
			return append(parts, text)
		}
		parts = append(parts, text[:at])
		text = text[at+1:]
	}
}

func indexOutside(text string, want byte) int {
	var quote byte
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == want && depth == 0:
			return i
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("[({", c) >= 0:
			depth++
		case strings.IndexByte("])}", c) >= 0:
			depth--
		}
	}
	return -1
}
