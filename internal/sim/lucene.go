package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// clause is the smallest part of a Lucene query: a word, a phrase or a range, perhaps in a field.
type clause struct {
	field  string // empty without one
	text   string
	bounds *bounds // of a range
}

// bounds are the ends of a range as they were written.
type bounds struct {
	from, to        string
	afterFrom, upTo bool // a curly bracket leaves the end out
}

// lucene reads a query: AND binds more tightly than OR, NOT most tightly, and clauses side by side must all hold. The
// clauses mean what the provider says they mean.
type lucene struct {
	rest    string
	meaning func(clause) (condition, error)
}

func parseLucene(query string, meaning func(clause) (condition, error)) (condition, error) {
	l := &lucene{query, meaning}
	c, err := l.or()
	if err == nil && l.peek() != "" {
		err = fmt.Errorf("unexpected %q", l.peek())
	}
	return c, err
}

func (l *lucene) or() (condition, error) {
	c, err := l.and()
	for err == nil && l.take("OR") {
		var next condition
		next, err = l.and()
		c = either{c, next}
	}
	return c, err
}

func (l *lucene) and() (condition, error) {
	c, err := l.not()
	for err == nil {
		if !l.take("AND") {
			if p := l.peek(); p == "" || p == ")" || p == "OR" {
				break
			}
		}
		var next condition
		next, err = l.not()
		c = both{c, next}
	}
	return c, err
}

func (l *lucene) not() (condition, error) {
	switch {
	case l.take("NOT"):
		c, err := l.not()
		return without{c}, err
	case l.take("("):
		c, err := l.or()
		if err == nil && !l.take(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return c, err
	}
	c, err := l.clause()
	if err != nil {
		return nil, err
	}
	return l.meaning(c)
}

// peek gives the next operator, parenthesis or character, and nothing at the end.
func (l *lucene) peek() string {
	l.rest = strings.TrimLeft(l.rest, " \t\r\n")
	for _, word := range []string{"AND", "OR", "NOT"} {
		if after, ok := strings.CutPrefix(l.rest, word); ok && (after == "" || strings.ContainsAny(after[:1], " \t\r\n(")) {
			return word
		}
	}
	return l.rest[:min(1, len(l.rest))]
}

func (l *lucene) take(what string) bool {
	if l.peek() != what {
		return false
	}
	l.rest = l.rest[len(what):]
	return true
}

func (l *lucene) clause() (clause, error) {
	var c clause
	if end := strings.IndexAny(l.rest, ` :"()[]{}`); end > 0 && l.rest[end] == ':' {
		c.field, l.rest = l.rest[:end], l.rest[end+1:]
	}
	switch l.peek() {
	case "":
		return c, errors.New("the query ends where a term should be")
	case `"`:
		text, rest, found := strings.Cut(l.rest[1:], `"`)
		if !found {
			return c, errors.New("a quotation is not closed")
		}
		c.text, l.rest = text, rest
		return c, nil
	case "[", "{":
		return c, l.bounds(&c)
	}
	end := strings.IndexAny(l.rest, " \t\r\n()\"")
	if end < 0 {
		end = len(l.rest)
	}
	c.text, l.rest = l.rest[:end], l.rest[end:]
	if c.text == "" {
		return c, fmt.Errorf("unexpected %q", l.peek())
	}
	return c, nil
}

func (l *lucene) bounds(c *clause) error {
	end := strings.IndexAny(l.rest, "]}")
	if end < 0 {
		return errors.New("a range is not closed")
	}
	from, to, found := strings.Cut(l.rest[1:end], " TO ")
	if !found {
		return errors.New("a range needs TO")
	}
	c.bounds = &bounds{strings.TrimSpace(from), strings.TrimSpace(to), l.rest[0] == '{', l.rest[end] == '}'}
	l.rest = l.rest[end+1:]
	return nil
}

// dated reads the ends as days or seconds, whichever is allowed; a star is no bound.
func (b *bounds) dated(by *dateField, forms ...string) (condition, error) {
	d := onDays(by, everything{}.span())
	if b.from != "*" {
		first, next, err := readMoment(b.from, forms)
		if err != nil {
			return nil, err
		}
		d.from = first
		if b.afterFrom {
			d.from = next
		}
	}
	if b.to != "*" {
		first, next, err := readMoment(b.to, forms)
		if err != nil {
			return nil, err
		}
		d.to = next
		if b.upTo {
			d.to = first
		}
	}
	return d, nil
}

// readMoment gives the beginning of what a text names, a day or a second, and of what comes after it.
func readMoment(text string, forms []string) (first, next int64, err error) {
	for _, form := range forms {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		step := time.Second
		if form == time.DateOnly {
			step = 24 * time.Hour
		}
		t = t.Truncate(step)
		return t.UnixMilli(), t.Add(step).UnixMilli(), nil
	}
	return 0, 0, fmt.Errorf("%q is no date", text)
}
