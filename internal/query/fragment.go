package query

import (
	"fmt"
	"slices"
	"strings"

	"patra"
)

// fragment is a part of a query in the provider's language.
type fragment struct {
	text     string
	compound bool // needs a group inside anything larger
	negative bool // text is what must not hold; whoever takes the piece says the NOT
}

// fragments renders the conjunction of clauses that the query language takes. With none, everything is asked for.
func (r *rendering) fragments(clauses []Node) {
	l := r.g.Language
	if l == nil {
		return
	}
	text := l.All
	if len(clauses) > 0 {
		before := len(r.found)
		whole := r.alone(r.piece(Normalise(And(clauses...))))
		if len(r.found) > before {
			return
		}
		text = whole.text
	}
	if text != "" {
		r.fed[l.Param] = append(r.fed[l.Param], paramValue{value: text, fixed: true})
	}
}

func (r *rendering) piece(n Node) fragment {
	switch n.Op {
	case OpAnd:
		return r.and(r.pieces(n.Args))
	case OpOr:
		return r.or(r.pieces(n.Args))
	case OpNot:
		inner := n.Args[0]
		if !inner.atom() {
			p := r.alone(r.piece(inner))
			p.negative = true
			return p
		}
		if rule := r.g.rule(inner, true); rule != nil {
			return r.atom(inner, rule, true)
		}
		p := r.atom(inner, r.g.rule(inner, false), true)
		p.negative = true
		return p
	}
	return r.atom(n, r.g.rule(n, false), false)
}

func (r *rendering) pieces(args []Node) []fragment {
	out := make([]fragment, len(args))
	for i, arg := range args {
		out[i] = r.piece(arg)
	}
	return out
}

// atom fills the rule's template, for every value that it is repeated for. negative is for the record of the clause.
func (r *rendering) atom(n Node, rule *Rule, negative bool) fragment {
	t, err := parseTemplate(rule.Query)
	if err != nil {
		r.refuse(n, CodeGrammar, err.Error(), "")
		return fragment{}
	}
	var parts []fragment
	put := func(fill func(string, bool) (string, error)) {
		text, err := t.fill(fill)
		if err != nil {
			r.refuse(n, CodeValue, err.Error(), "ask without this word or character")
			return
		}
		parts = append(parts, fragment{text: text, compound: t.compound})
	}
	switch n.Op {
	case OpRange:
		holes, bad := r.g.Fields[n.Field].ends(n)
		if bad != nil {
			r.refuse(n, bad.Code, bad.Text, bad.Hint)
			return fragment{}
		}
		r.dropped(n, rule)
		put(func(name string, _ bool) (string, error) {
			if strings.HasPrefix(holes[name], "-") && t.bares(name) {
				return "", fmt.Errorf("the provider's language has no place for %s, a number below zero", holes[name])
			}
			return holes[name], nil
		})
	case OpExists:
		put(nil)
	default:
		for _, data := range operands(n, rule, true) {
			put(func(_ string, quoted bool) (string, error) { return r.g.word(data, quoted, rule) })
		}
	}
	if len(parts) == 0 {
		return fragment{}
	}
	// The NOT of "any of these" is "none of these": with a rule for the NOT, all parts have to hold.
	made := r.or
	if rule.Negated {
		made = r.and
	}
	p := made(parts)
	r.clauses = append(r.clauses, Clause{Text: r.g.text(n), Negated: negative, Rule: r.g.path(rule), Fragment: p.text})
	return p
}

// word makes data safe inside a fragment.
func (g *Grammar) word(data []string, quoted bool, rule *Rule) (string, error) {
	safe := make([]string, len(data))
	for i, v := range data {
		make := g.Language.bare
		if quoted {
			make = g.Language.quoted
		}
		var err error
		if safe[i], err = make(v); err != nil {
			return "", err
		}
	}
	return strings.Join(safe, rule.Join), nil
}

// and puts positive operands first, because a NOT in the middle is read differently by different languages.
func (r *rendering) and(pieces []fragment) fragment {
	l := r.g.Language
	if len(pieces) == 1 {
		return pieces[0]
	}
	slices.SortStableFunc(pieces, func(a, b fragment) int {
		if a.negative == b.negative {
			return 0
		}
		if b.negative {
			return -1
		}
		return 1
	})
	first := r.alone(pieces[0])
	text := r.grouped(first)
	if pieces[0].negative {
		text = first.text // NOT a AND NOT b, or all AND NOT a AND NOT b
	}
	for _, p := range pieces[1:] {
		word := l.And
		if p.negative {
			word = l.andNot()
		}
		r.need(word, "AND")
		text += " " + word + " " + r.grouped(p)
	}
	return fragment{text: text, compound: true}
}

func (r *rendering) or(pieces []fragment) fragment {
	if len(pieces) == 1 {
		return pieces[0]
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = r.grouped(r.alone(p))
	}
	r.need(r.g.Language.Or, "OR")
	return fragment{text: strings.Join(texts, " "+r.g.Language.Or+" "), compound: true}
}

// alone makes a piece that can stand without a positive neighbour.
func (r *rendering) alone(p fragment) fragment {
	l := r.g.Language
	switch {
	case !p.negative:
		return p
	case l.Not != "":
		return fragment{text: l.Not + " " + r.grouped(p), compound: true}
	case l.All != "" && l.andNot() != "":
		return fragment{text: l.All + " " + l.andNot() + " " + r.grouped(p), compound: true}
	}
	r.need("", "NOT on its own; put something positive beside it")
	return p
}

func (r *rendering) grouped(p fragment) string {
	if p.compound {
		return r.g.Language.group(p.text)
	}
	return p.text
}

// need refuses a query for which the language has no word.
func (r *rendering) need(word, what string) {
	if word == "" && !slices.ContainsFunc(r.found, func(p patra.Problem) bool { return p.Code == CodeLanguage && p.Text == lacks+what }) {
		r.found = append(r.found, patra.Problem{Code: CodeLanguage, Path: "language", Text: lacks + what, Hint: "ask in two queries"})
	}
}

const lacks = "the query language of this source has no "
