package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"patra"
)

// DefaultField is where words without a field are looked for.
const DefaultField = "text"

// Codes of problems in the text form.
const (
	CodeSyntax       = "QUERY_SYNTAX"
	CodeUnknownField = "UNKNOWN_FIELD"
	CodeFieldType    = "FIELD_TYPE"
)

// Parse reads the text form. The fields say what a word means: an entry of a vocabulary, a whole value, a number; with
// nil every name is a field and every word is text.
//
//	cancer "heart failure"          both, in the field text
//	title:heart  title:heart*       a word, the start of a word
//	title:"heart failure"           a phrase
//	title:="Heart failure"          the whole value; ^ after : or = tells case apart
//	title:~"heart failure"          any of the words
//	mesh:#Humans                    an entry of a vocabulary (# is implied where the field is one)
//	type:[article, book]            one of these values
//	year:[2000 TO 2010}  year:[* TO 2010]   a range; [ ] include their end, { } do not
//	abstract:*  *                   has a value; everything
//	a AND b, a b, a OR b, NOT a, -a, (a), title:(a OR b)
//
// AND binds tighter than OR. The error is patra.Problems, each with its place.
func Parse(text string, fields Fields) (Node, error) {
	p := &parser{lexer: lexer{text: text}, fields: fields}
	if bad := badByte(text); len(text) > maxBytes || bad >= 0 {
		p.fail(max(bad, 0), CodeSyntax, fmt.Sprintf("the query is longer than %d bytes, or holds bytes that are not text", maxBytes), "write it in UTF-8 without control characters")
		return Node{}, p.found
	}
	p.advance(false)
	if p.tok.kind == tokEnd {
		p.fail(0, CodeSyntax, "the query is empty", "write * for everything")
		return Node{}, p.found
	}
	n := p.or("")
	if !p.halted && p.tok.kind != tokEnd {
		p.unexpected("AND, OR or the end of the query")
	}
	if len(p.found) > 0 {
		return Node{}, p.found
	}
	if err := n.Validate(); err != nil {
		p.fail(0, CodeSyntax, err.Error(), "ask a smaller question")
		return Node{}, p.found
	}
	return n, nil
}

// badByte finds what no query holds; line ends and tabs are blanks.
func badByte(text string) int {
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) {
			return i
		}
	}
	return -1
}

// parser reads by recursive descent. After a problem of syntax it halts, because what follows is guesswork; after a
// problem with a field it goes on, so that all of them are reported at once.
type parser struct {
	lexer
	tok    token
	fields Fields
	found  patra.Problems
	halted bool
	depth  int
}

func (p *parser) advance(value bool) {
	if p.halted {
		return
	}
	if p.tok = p.next(value); p.tok.kind == tokBad {
		p.halt(p.tok.at, p.tok.text, `write \" and \\ inside quotes`)
	}
}

// or reads operands; group is the field that they belong to inside field:( ).
func (p *parser) or(group string) Node {
	if p.depth++; p.depth > maxDepth+1 {
		p.halt(p.tok.at, fmt.Sprintf("the query is nested deeper than %d levels", maxDepth), "use fewer brackets")
	}
	defer func() { p.depth-- }()
	args := []Node{p.and(group)}
	for !p.halted && p.tok.is("OR") {
		p.advance(false)
		args = append(args, p.and(group))
	}
	if len(args) == 1 {
		return args[0]
	}
	return Or(args...)
}

func (p *parser) and(group string) Node {
	args := []Node{p.unary(group)}
	for !p.halted && p.tok.kind != tokEnd && !p.tok.is("OR") && !p.tok.is(")") {
		switch {
		case p.tok.is("AND"):
			p.advance(false)
		case p.tok.glue: // *heart is no wildcard, and must not pass for two operands
			p.halt(p.tok.at, fmt.Sprintf("%q stands next to what comes before it", p.tok.text), "put a blank or AND between them, or both in quotes")
			return All()
		}
		args = append(args, p.unary(group))
	}
	if len(args) == 1 {
		return args[0]
	}
	return And(args...)
}

func (p *parser) unary(group string) Node {
	negative := false
	for !p.halted && (p.tok.is("NOT") || p.tok.is("-")) {
		negative = !negative // two make none
		p.advance(false)
	}
	n := p.operand(group)
	if negative {
		return Not(n)
	}
	return n
}

func (p *parser) operand(group string) Node {
	switch {
	case p.halted:
		return All()
	case p.tok.is("("):
		p.advance(false)
		n := p.or(group)
		p.expect(")")
		return n
	case group != "":
		return p.value(group, p.tok.at)
	case p.tok.is("*"):
		p.advance(false)
		return All()
	case p.tok.kind == tokWord && !keywords[p.tok.text] && strings.HasPrefix(p.text[p.at:], ":"):
		return p.fielded()
	}
	if p.fields != nil {
		if _, ok := p.fields[DefaultField]; !ok && p.tok.kind != tokEnd && !strings.Contains(brackets, p.tok.text) {
			p.fail(p.tok.at, CodeUnknownField, "this source has no field "+DefaultField+" for words without a field", didYouMean("", p.fields, "fields"))
		}
	}
	return p.value(DefaultField, p.tok.at)
}

// fielded reads what follows `field:`.
func (p *parser) fielded() Node {
	field, at := p.tok.text, p.tok.at
	if !nameForm.MatchString(field) {
		p.halt(at, fmt.Sprintf("%q is not the name of a field", field), "put text that holds a colon in quotes")
		return All()
	}
	if p.fields != nil {
		if _, ok := p.fields[field]; !ok {
			p.fail(at, CodeUnknownField, "this source has no field "+field, didYouMean(field, p.fields, "fields"))
		}
	}
	p.advance(false) // the colon
	p.advance(true)
	switch {
	case p.halted:
		return All()
	case !p.tok.glue:
		p.halt(p.tok.at, "a blank follows "+field+":", "write the value next to the colon")
		return All()
	case p.tok.is("("):
		p.advance(false)
		n := p.or(field)
		p.expect(")")
		return n
	case p.tok.is("*"):
		p.advance(false)
		return Exists(field)
	case p.tok.is("["), p.tok.is("{"):
		return p.brackets(field, at)
	}
	return p.value(field, at)
}

// expect reads a mark that must come now.
func (p *parser) expect(mark string) {
	if p.halted {
		return
	}
	if !p.tok.is(mark) {
		p.unexpected(mark)
		return
	}
	p.advance(false)
}

func (p *parser) unexpected(wanted string) {
	got := fmt.Sprintf("%q", p.tok.text)
	if p.tok.kind == tokEnd {
		got = "the end"
	}
	hint := "check the brackets before it"
	if p.tok.kind == tokWord && keywords[p.tok.text] {
		hint = "write " + got + " in quotes to search for the word"
	}
	p.halt(p.tok.at, "expected "+wanted+", found "+got, hint)
}

func (p *parser) halt(at int, text, hint string) {
	if !p.halted {
		p.fail(at, CodeSyntax, text, hint)
		p.halted = true
	}
}

// fail notes a problem at a byte offset, and shows the place.
func (p *parser) fail(at int, code, text, hint string) {
	line, col, show := place(p.text, at)
	p.found = append(p.found, patra.Problem{Code: code, File: "query", Line: line, Col: col, Text: text, Hint: hint + show})
	p.halted = p.halted || len(p.found) >= 20 // nobody reads more, and finding the place of thousands takes long
}

// place finds line and column, both from 1, and draws a mark under the spot.
func place(text string, at int) (line, col int, show string) {
	at = min(at, len(text))
	line = strings.Count(text[:at], "\n") + 1
	start := strings.LastIndexByte(text[:at], '\n') + 1
	before := strings.ToValidUTF8(text[start:at], "?")
	col = utf8.RuneCountInString(before) + 1
	after, _, _ := strings.Cut(text[at:], "\n")
	lead, tail := []rune(before), []rune(strings.ToValidUTF8(after, "?"))
	lead, tail = lead[max(0, len(lead)-50):], tail[:min(len(tail), 30)] // what fits a terminal
	blank := func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	return line, col, "\n  " + strings.Map(blank, string(lead)+string(tail)) + "\n  " + strings.Repeat(" ", len(lead)) + "^"
}
