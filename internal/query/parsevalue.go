package query

import (
	"fmt"
	"slices"
	"strings"

	"patra"
)

// valuePrefix are what may stand before a value.
type valuePrefix struct {
	match  Match // "" where the field decides
	token  bool
	exact  bool // case matters
	quoted bool
}

// value reads a word or quoted text with its marks. at is where its clause begins.
func (p *parser) value(field string, at int) Node {
	var m valuePrefix
	if p.tok.is("=") || p.tok.is("~") || p.tok.is("#") {
		m.match = map[string]Match{"=": MatchExact, "~": MatchAny}[p.tok.text]
		m.token = p.tok.text == "#"
		p.advance(true)
	}
	if !p.halted && p.tok.is("^") {
		m.exact = true
		p.advance(true)
	}
	if p.halted {
		return All()
	}
	text := p.tok.text
	m.quoted = p.tok.kind == tokString
	if p.tok.kind != tokString && p.tok.kind != tokWord || p.tok.kind == tokWord && keywords[text] {
		p.unexpected("a word or a quoted text")
		return All()
	}
	if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\n\r\t") || len(text) > maxText {
		p.halt(p.tok.at, fmt.Sprintf("the value is empty, longer than %d bytes, or holds a line end or tab", maxText), "write the words in between the quotes")
		return All()
	}
	p.advance(false)
	if !p.halted && p.tok.is("*") && p.tok.glue {
		if m.match != "" || m.token {
			p.halt(p.tok.at, "a value has one mark: = ~ # before it or * after it", "write the value in quotes to search for the character")
			return All()
		}
		m.match = MatchPrefix
		p.advance(false)
		if next := p.tok; !p.halted && next.glue && next.kind != tokEnd && !next.is(")") {
			p.halt(next.at, "* stands at the end of a word only", "write the value in quotes to search for the character")
			return All()
		}
	}
	return p.clause(field, text, m, at)
}

// clause decides by the field's type what a value asks for.
func (p *parser) clause(field, text string, m valuePrefix, at int) Node {
	f, known := p.fields[field]
	if !known {
		f = Field{Type: TypeText}
	}
	switch {
	case m.token || f.Type == TypeToken && m.match == "" && !m.exact:
		if known && f.Type != TypeToken || m.exact {
			p.typed(at, field, f, "an entry of a vocabulary")
		}
		return Token(field, text)
	case f.Type == TypeToken:
		p.typed(at, field, f, "a text")
		return All()
	case f.Type == TypeText || f.Type == TypeKeyword:
		n := Term(field, text, m.match)
		n.CaseSensitive = m.exact || f.CaseSensitive
		if n.Match == "" {
			n.Match = plainMatch(f.Type, m.quoted)
		}
		return n
	case m.match != "" || m.exact:
		p.typed(at, field, f, "a text")
		return All()
	}
	// A day or a number on its own is the range that holds just that.
	b, t := p.bound(field, f, text, at)
	if b == nil {
		return All()
	}
	b.Kind = Closed
	same := *b
	return Range(field, t, b, &same)
}

// plainMatch is how a value without marks is compared.
func plainMatch(t FieldType, quoted bool) Match {
	switch {
	case t == TypeKeyword:
		return MatchExact
	case quoted:
		return MatchPhrase
	}
	return MatchAny
}

func (p *parser) typed(at int, field string, f Field, asked string) {
	p.fail(at, CodeFieldType, fmt.Sprintf("%s is a field of type %s and cannot be asked for %s", field, f.Type, asked), typeHints[f.Type])
}

var typeHints = map[FieldType]string{
	TypeText:     `write field:word or field:"some words"`,
	TypeKeyword:  "write field:value or field:[value, value]",
	TypeToken:    "write field:entry or field:(entry OR entry)",
	TypeDate:     "write field:[2026-01-01 TO 2026-01-31]",
	TypeDateTime: "write field:[2026-01-01T00:00:00Z TO 2026-02-01T00:00:00Z}",
	TypeNumber:   "write field:[1 TO 10]",
}

// brackets reads a range or a list of values; the token after the first value tells which.
func (p *parser) brackets(field string, at int) Node {
	open := p.tok.text
	p.advance(true)
	first, ok := p.endpoint()
	switch {
	case !ok:
		return All()
	case p.tok.is("TO"):
		return p.rangeOf(field, open, first, at)
	case open == "[" && (p.tok.is(",") || p.tok.is("]")) && first.kind != tokPunct:
		return p.list(field, first, at)
	}
	p.unexpected("TO")
	return All()
}

// endpoint reads a word, a quoted text or * and moves on.
func (p *parser) endpoint() (token, bool) {
	if p.halted {
		return token{}, false
	}
	t := p.tok
	if t.kind != tokWord && t.kind != tokString && !t.is("*") || t.kind == tokWord && keywords[t.text] {
		p.unexpected("a value")
		return t, false
	}
	p.advance(true)
	return t, !p.halted
}

func (p *parser) list(field string, first token, at int) Node {
	values := []string{first.text}
	for p.tok.is(",") {
		p.advance(true)
		t, ok := p.endpoint()
		if !ok {
			return All()
		}
		if t.kind == tokPunct {
			p.halt(t.at, "* is not a value of a list", "write it in quotes to search for the character")
			return All()
		}
		values = append(values, t.text)
	}
	if i := slices.IndexFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" || strings.ContainsAny(v, "\n\r\t") }); i >= 0 {
		p.halt(at, "a value of the list is empty or holds a line end or tab", "write every value in one line")
	}
	p.expect("]")
	if f, ok := p.fields[field]; ok && !slices.Contains(typeOps[f.Type], OpIn) {
		p.typed(at, field, f, "a list of values")
	}
	return In(field, values...)
}

func (p *parser) rangeOf(field, open string, first token, at int) Node {
	p.advance(true)
	last, ok := p.endpoint()
	if !ok {
		return All()
	}
	if !p.tok.is("]") && !p.tok.is("}") {
		p.unexpected("] or }")
		return All()
	}
	closing := p.tok.text
	p.advance(false)
	f, known := p.fields[field]
	if known && f.Type != "" && !slices.Contains(typeOps[f.Type], OpRange) {
		p.typed(at, field, f, "a range")
		return All()
	}
	if first.kind == tokPunct && last.kind == tokPunct {
		return Exists(field) // a range without ends holds whatever has a value
	}
	n := Node{Op: OpRange, Field: field}
	ends := []struct {
		tok  token
		into **Bound
		kind BoundKind
	}{{first, &n.From, kindOf(open == "[")}, {last, &n.To, kindOf(closing == "]")}}
	for _, end := range ends {
		if end.tok.kind == tokPunct {
			continue
		}
		b, t := p.bound(field, f, end.tok.text, end.tok.at)
		if b == nil {
			return All()
		}
		b.Kind = end.kind
		if n.From != nil && t != n.Range {
			p.fail(end.tok.at, CodeFieldType, "the ends of the range are of different kinds", "write both as days, both as times or both as numbers")
			return All()
		}
		*end.into, n.Range = b, t
	}
	return n
}

func kindOf(closed bool) BoundKind {
	if closed {
		return Closed
	}
	return Open
}

// bound reads one end of a range. A day means the whole day, a time that very moment, so that the kind of the range
// follows from how its ends are written.
func (p *parser) bound(field string, f Field, text string, at int) (*Bound, RangeType) {
	number, notNumber := parseNumber(text)
	moment, notMoment := patra.ParseInstant(text)
	switch {
	case notNumber == nil && (f.Type == "" || f.Type == TypeNumber):
		return &Bound{Number: &number}, RangeNumber
	case f.Type == TypeNumber:
		p.fail(at, CodeFieldType, fmt.Sprintf("%s: %v", field, notNumber), typeHints[f.Type])
		return nil, ""
	case notMoment != nil:
		p.fail(at, CodeFieldType, fmt.Sprintf("%s: %v", field, notMoment), "days are written 2026-01-31")
		return nil, ""
	case len(text) == len("2006-01-02"):
		return &Bound{Value: moment}, RangeDate
	}
	return &Bound{Value: moment}, ""
}
