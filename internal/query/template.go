package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// The placeholders of a render rule.
const (
	holeValue = "v"
	holeFrom  = "from"
	holeTo    = "to"
)

// template is a text with holes. It is cut up before any value is known, so nothing in a value can become a hole.
type template struct {
	parts    []part
	compound bool // has blanks or operators outside quotes and brackets, so it needs a group to be combined
}

// part is literal text, or a hole.
type part struct {
	text   string
	hole   bool
	quoted bool // the hole stands between quotes
	bare   bool // the hole stands outside of quotes and brackets
}

// parseTemplate cuts a text up and follows its quotes and brackets.
func parseTemplate(text string) (template, error) {
	var t template
	var quoted bool
	depth := 0
	for text != "" {
		literal, rest, found := strings.Cut(text, "{{")
		if err := t.literal(literal, &quoted, &depth); err != nil {
			return t, err
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return t, fmt.Errorf("{{ without }}")
		}
		if name != holeValue && name != holeFrom && name != holeTo {
			return t, fmt.Errorf("{{%s}} is not one of {{v}}, {{from}}, {{to}}", name)
		}
		t.parts = append(t.parts, part{text: name, hole: true, quoted: quoted, bare: !quoted && depth == 0})
		text = after
	}
	if quoted || depth != 0 {
		return t, fmt.Errorf("a quote or bracket is not closed")
	}
	return t, nil
}

// literal follows one stretch of fixed text. Brackets of different kinds may close each other, as in [a TO b}.
func (t *template) literal(text string, quoted *bool, depth *int) error {
	if text == "" {
		return nil
	}
	t.parts = append(t.parts, part{text: text})
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			*quoted = !*quoted
		case *quoted:
		case strings.ContainsRune("([{", r):
			*depth++
		case strings.ContainsRune(")]}", r):
			if *depth--; *depth < 0 {
				return fmt.Errorf("%q closes nothing", r)
			}
		case *depth == 0 && (unicode.IsSpace(r) || strings.ContainsRune("|&", r)):
			t.compound = true
		}
	}
	return nil
}

// has reports whether the template has the hole.
func (t template) has(name string) bool {
	for _, p := range t.parts {
		if p.hole && p.text == name {
			return true
		}
	}
	return false
}

// bares reports whether the hole stands where nothing around it says that a sign is data and no operator.
func (t template) bares(name string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.bare && p.text == name })
}

// fill puts values into the holes, once.
func (t template) fill(value func(name string, quoted bool) (string, error)) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		text := p.text
		if p.hole {
			var err error
			if text, err = value(p.text, p.quoted); err != nil {
				return "", err
			}
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
