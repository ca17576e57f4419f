package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a piece of the text form is.
type tokenKind int

const (
	tokEnd    tokenKind = iota
	tokWord             // a run of other characters, with what follows a colon but not the colon itself
	tokString           // between quotes; text is unescaped
	tokPunct            // one of ( ) [ ] { } , : and the marks = ~ # ^ * -
	tokBad              // text says why
)

type token struct {
	kind tokenKind
	text string
	at   int  // byte offset
	glue bool // no blank before it
}

// is reports whether the token is the given mark or keyword.
func (t token) is(text string) bool {
	return t.kind == tokPunct && t.text == text || t.kind == tokWord && t.text == text && keywords[text]
}

// keywords are upper case only, so that people can search for "and".
var keywords = map[string]bool{"AND": true, "OR": true, "NOT": true, "TO": true}

const brackets = "()[]{},"

// lexer cuts the text form into tokens.
type lexer struct {
	text string
	at   int
}

// next reads one token. A value may hold colons, as identifiers and addresses do; a bare word ends at its first one,
// because that is where a field ends.
func (l *lexer) next(value bool) token {
	start := l.at
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !unicode.IsSpace(r) {
			break
		}
		l.at += size
	}
	t := token{at: l.at, glue: l.at == start}
	if l.at == len(l.text) {
		return t
	}
	c := l.text[l.at]
	switch {
	case c == '"':
		t.kind, t.text = l.quoted()
	case strings.IndexByte(brackets+"=~#^*", c) >= 0, c == ':' && !value, c == '-' && !value:
		t.kind, t.text = tokPunct, string(c)
		l.at++
	default:
		t.kind, t.text = l.word(value)
	}
	return t
}

func (l *lexer) quoted() (tokenKind, string) {
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; c {
		case '"':
			l.at = i + 1
			return tokString, b.String()
		case '\\':
			if i++; i == len(l.text) || l.text[i] != '"' && l.text[i] != '\\' {
				l.at = min(i, len(l.text))
				return tokBad, `a backslash in quotes stands before " or \ only`
			}
			b.WriteByte(l.text[i])
		default:
			b.WriteByte(c)
		}
	}
	l.at = len(l.text)
	return tokBad, "the quote is not closed"
}

func (l *lexer) word(value bool) (tokenKind, string) {
	start := l.at
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if unicode.IsSpace(r) || strings.ContainsRune(brackets+`"*`, r) || r == ':' && !value {
			break
		}
		if r == '\\' {
			l.at += size
			return tokBad, "a backslash stands in quotes only"
		}
		l.at += size
	}
	return tokWord, l.text[start:l.at]
}
