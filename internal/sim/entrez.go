package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// entrez reads NCBI's query language. Operators are in capitals and bind from left to right, whatever they are; terms
// side by side must all hold; a tag in square brackets goes with the whole run of words before it.
type entrez struct {
	world    *World
	rest     string
	unknown  []string // phrases with a word that no text has
	untagged []string // tags that are no field
}

func (e *entrez) parse(term string) (condition, error) {
	e.rest = term
	c, err := e.group()
	if err == nil && e.peek() != "" {
		err = fmt.Errorf("unexpected %q", e.peek())
	}
	return c, err
}

func (e *entrez) group() (condition, error) {
	c, err := e.primary()
	for err == nil {
		p := e.peek()
		if p == "" || p == ")" {
			break
		}
		switch p {
		case "AND", "OR", "NOT":
			e.rest = e.rest[len(p):]
		}
		var next condition
		if next, err = e.primary(); err != nil {
			break
		}
		switch p {
		case "OR":
			c = either{c, next}
		case "NOT":
			c = both{c, without{next}}
		default:
			c = both{c, next}
		}
	}
	return c, err
}

func (e *entrez) primary() (condition, error) {
	switch e.peek() {
	case "", ")", "AND", "OR", "NOT", "[", "]", ":":
		return nil, fmt.Errorf("a term is missing before %q", e.peek())
	case "(":
		e.rest = e.rest[1:]
		c, err := e.group()
		if err == nil && e.peek() != ")" {
			err = errors.New("a parenthesis is not closed")
		}
		if err == nil {
			e.rest = e.rest[1:]
		}
		return c, err
	}
	words, tag, err := e.run()
	if err != nil || e.peek() != ":" {
		return e.meaning(words, tag), err
	}
	e.rest = e.rest[1:]
	to, second, err := e.run()
	if err != nil {
		return nil, err
	}
	if len(words)+len(to) != 2 || tag != "" && !strings.EqualFold(tag, second) {
		return nil, errors.New("a range has two ends of one field")
	}
	return e.between(words[0], to[0], second)
}

// run reads words, or a phrase in quotation marks as one, and the tag after them.
func (e *entrez) run() (words []string, tag string, err error) {
	for {
		switch p := e.peek(); {
		case p == "[":
			var found bool
			if tag, e.rest, found = strings.Cut(e.rest[1:], "]"); !found {
				return nil, "", errors.New("a tag is not closed")
			}
			return words, strings.TrimSpace(tag), nil
		case p == `"` && len(words) > 0, len(p) != 1 || strings.Contains("()]:", p):
			return words, "", nil
		case p == `"`:
			phrase, rest, found := strings.Cut(e.rest[1:], `"`)
			if !found {
				return nil, "", errors.New("a quotation is not closed")
			}
			words, e.rest = []string{phrase}, rest
			if e.peek() != "[" {
				return words, "", nil
			}
		default:
			end := strings.IndexAny(e.rest, " \t\r\n()[]\":")
			if end < 0 {
				end = len(e.rest)
			}
			words, e.rest = append(words, e.rest[:end]), e.rest[end:]
		}
	}
}

// peek gives the next operator or character, and nothing at the end.
func (e *entrez) peek() string {
	l := lucene{rest: e.rest}
	p := l.peek()
	e.rest = l.rest
	return p
}

var entrezDates = map[string]*dateField{"edat": byIndexed, "mdat": byRevised, "crdt": byEntered, "pdat": byPublished}

// entrezTags are the longer and the older names.
var entrezTags = map[string]string{
	"": "all", "all fields": "all", "title": "ti", "title/abstract": "tiab", "mesh": "mh", "mesh terms": "mh", "pmid": "uid",
	"author": "au", "dp": "pdat", "lr": "mdat", "date - entry": "edat", "date - modification": "mdat",
	"date - create": "crdt", "date - publication": "pdat", "entrez date": "edat",
}

func canonicalTag(tag string) string {
	tag = strings.ToLower(tag)
	if name, ok := entrezTags[tag]; ok {
		return name
	}
	return tag
}

// meaning is that of a run of words: one phrase if it has a tag, else so many terms.
func (e *entrez) meaning(words []string, tag string) condition {
	if tag != "" {
		words = []string{strings.Join(words, " ")}
	}
	var c condition = everything{}
	for _, w := range words {
		c = both{c, e.term(w, canonicalTag(tag))}
	}
	return c
}

func (e *entrez) term(text, tag string) condition {
	if entrezDates[tag] != nil || tag == "uid" {
		c, err := e.between(text, text, tag)
		if err != nil {
			e.unknown = append(e.unknown, text)
			return nothing{}
		}
		return c
	}
	if (tag == "sb" || tag == "filter") && strings.EqualFold(text, "all") {
		return everything{}
	}
	places, ok := map[string][]place{
		"all": {inTitle, inAbstract, inAuthors, inHeadings}, "ti": {inTitle}, "tiab": {inTitle, inAbstract},
		"au": {inAuthors}, "mh": {inHeadings},
	}[tag]
	switch {
	case !ok:
		e.untagged = append(e.untagged, tag)
		return nothing{}
	case !known(text):
		e.unknown = append(e.unknown, text)
		return nothing{}
	}
	return mentions(text, places...)
}

// between is a range of dates or of ids, both ends included.
func (e *entrez) between(from, to, tag string) (condition, error) {
	tag = canonicalTag(tag)
	if tag == "uid" {
		first, err1 := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		return numbered{e.world, first, last}, errors.Join(err1, err2)
	}
	by := entrezDates[tag]
	if by == nil {
		return nil, fmt.Errorf("field %s has no range", tag)
	}
	return entrezDays(by, from, to)
}

// entrezDays reads years, months or days; a first end begins with its period and a last one ends with it.
func entrezDays(by *dateField, from, to string) (condition, error) {
	first, _, err1 := entrezPeriod(from)
	_, last, err2 := entrezPeriod(to)
	return onDays(by, span{first, last}), errors.Join(err1, err2)
}

func entrezPeriod(text string) (first, last day, err error) {
	for _, f := range []struct {
		form                string
		years, months, days int
	}{{"2006/1/2", 0, 0, 1}, {"2006/1", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.Parse(f.form, text); err == nil {
			return dayOf(t), dayOf(t.AddDate(f.years, f.months, f.days)) - 1, nil
		}
	}
	return 0, 0, fmt.Errorf("%q is no date", text)
}

// numbered holds for a range of PMIDs.
type numbered struct {
	world       *World
	first, last int64
}

func (c numbered) holds(s *subject) bool { return c.first <= s.pmid() && s.pmid() <= c.last }
func (c numbered) exact() bool           { return false }

func (c numbered) span() span {
	if c.first > c.last || c.last < 1 {
		return nothing{}.span()
	}
	return span{c.world.pmidDay(max(c.first, 1)), c.world.pmidDay(c.last)}
}
