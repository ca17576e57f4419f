package sim

import (
	"slices"
	"strings"
	"unicode"
)

// tokens are the words of a text as a search engine sees them: lower case, without markup and punctuation.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(stripTags(text)), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	})
}

// stripTags removes markup but leaves a less-than sign that is one.
func stripTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if end := strings.IndexByte(rest, '>'); end > 0 && (rest[0] == '/' || unicode.IsLetter(rune(rest[0]))) {
			text = rest[end+1:]
			continue
		}
		b.WriteByte('<')
		text = rest
	}
}

// place is a part of a paper that can be searched.
type place func(*subject) string

func inTitle(s *subject) string    { return s.paper().Title }
func inAbstract(s *subject) string { return s.paper().Abstract }

// inAuthors separates people, so that no phrase runs from one to the next.
func inAuthors(s *subject) string {
	var b strings.Builder
	for _, a := range s.paper().Authors {
		join(&b, a.byline(), " ", separator, " ", a.Given, " ", a.Family, " ", separator, " ")
	}
	return b.String()
}

func inHeadings(s *subject) string { return strings.Join(s.headings(), " "+separator+" ") }

// separator is a word that is in no text and in no query.
const separator = "ǁxǁ"

// mentions holds for papers that have the words next to each other in one of the places. A star at the end stands for
// any rest of the last word.
func mentions(phrase string, places ...place) condition {
	want, prefix := tokens(phrase), strings.HasSuffix(phrase, "*")
	if len(want) == 0 {
		return nothing{}
	}
	return test(func(s *subject) bool {
		return slices.ContainsFunc(places, func(p place) bool { return hasPhrase(tokens(p(s)), want, prefix) })
	})
}

func hasPhrase(text, want []string, prefix bool) bool {
	last := len(want) - 1
	for i := 0; i+last < len(text); i++ {
		end := text[i+last] == want[last] || prefix && strings.HasPrefix(text[i+last], want[last])
		if end && slices.Equal(text[i:i+last], want[:last]) {
			return true
		}
	}
	return false
}

// vocabulary is every word that can occur in a text of the world; a provider that knows its index tells a client when
// a word is not in it.
var vocabulary = func() map[string]bool {
	set := map[string]bool{"a": true}
	add := func(texts ...string) {
		for _, t := range texts {
			for _, w := range tokens(t) {
				set[w] = true
			}
		}
	}
	for _, list := range [][]string{fields, adjectives, nouns, things, marked, settings, methods, given, family, openings, middles, endings} {
		add(list...)
	}
	add("of in and its relation to a reply n p humans animals seasons reproducibility results")
	return set
}()

func known(phrase string) bool {
	for _, w := range tokens(strings.TrimSuffix(phrase, "*")) {
		number := strings.Trim(w, "0123456789") == ""
		initials := len([]rune(w)) <= 2
		if !vocabulary[w] && !number && !initials && !strings.HasSuffix(phrase, "*") {
			return false
		}
	}
	return true
}
