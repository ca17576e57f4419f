package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
)

// paramValue is one value that one clause puts into a standard parameter.
type paramValue struct {
	value  string
	clause Node
	number int  // of the clause
	fixed  bool // the rule's own text, no data in it
	option bool // another value beside it would be an alternative
}

// transforms are what a parameter may do to its values.
var transforms = map[string]func(string) string{"LOWER": strings.ToLower, "UPPER": strings.ToUpper}

// parameters renders one clause of the conjunction as standard parameters.
func (r *rendering) parameters(clause Node) {
	n, negative := clause, false
	if clause.Op == OpNot {
		n, negative = clause.Args[0], true
	}
	rule := r.g.rule(n, negative)
	if rule == nil {
		r.noNegation(n)
		return
	}
	made := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(rule.Params)) {
		for _, text := range rule.Params[key] {
			values, bad := r.g.values(n, rule, text, r.g.Params[key])
			if bad != nil {
				r.refuse(n, bad.Code, bad.Text, bad.Hint)
				continue
			}
			for _, v := range values {
				made[key] = append(made[key], v)
				r.fed[key] = append(r.fed[key], paramValue{value: v, clause: n, number: len(r.clauses), fixed: !strings.Contains(text, "{{"), option: !negative && r.g.alternatives(n.Name(), key)})
			}
		}
	}
	if rule.Op == OpRange {
		r.dropped(n, rule)
	}
	r.clauses = append(r.clauses, Clause{Text: r.g.text(n), Negated: negative, Rule: r.g.path(rule), Params: made})
}

// alternatives reports whether values of the field in the parameter are alternatives to each other: a file says so by an
// IN rule that repeats its value there.
func (g *Grammar) alternatives(field, key string) bool {
	return slices.ContainsFunc(g.Rules, func(rule Rule) bool {
		return rule.Field == field && rule.Op == OpIn && !rule.Negated && rule.Join == "" && len(rule.Params[key]) > 0
	})
}

// dropped refuses a range with an end for which the rule has no place.
func (r *rendering) dropped(n Node, rule *Rule) {
	text := rule.Query
	for _, list := range rule.Params {
		text += strings.Join(list, "")
	}
	for _, hole := range []string{holeFrom, holeTo} {
		end := map[string]*Bound{holeFrom: n.From, holeTo: n.To}[hole]
		if end != nil && !strings.Contains(text, "{{"+hole+"}}") {
			r.refuse(n, CodeOpenEnd, "the provider has no place for the end "+strings.ToUpper(hole), "write * for it")
		}
	}
}

// values fills one template of a parameter: once, once for every value of an IN, or not at all for an absent end.
func (g *Grammar) values(n Node, rule *Rule, text string, p Param) ([]string, *patra.Problem) {
	t, err := parseTemplate(text)
	if err != nil {
		return nil, &patra.Problem{Code: CodeGrammar, Text: err.Error()}
	}
	var filled []string
	put := func(fill func(string, bool) (string, error)) error {
		v, err := t.fill(fill)
		if err == nil {
			filled = append(filled, v)
		}
		return err
	}
	switch {
	case n.Op == OpRange:
		holes, bad := g.Fields[n.Field].ends(n)
		if bad != nil {
			return nil, bad
		}
		if t.has(holeFrom) && holes[holeFrom] == "" || t.has(holeTo) && holes[holeTo] == "" {
			return nil, nil // the end is absent, and the file says that it may be
		}
		err = put(func(name string, _ bool) (string, error) { return holes[name], nil })
	case n.Op == OpExists, !t.has(holeValue):
		err = put(nil)
	default:
		for _, data := range operands(n, rule, false) {
			if err = put(func(_ string, quoted bool) (string, error) { return g.datum(data, quoted, rule, p) }); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, &patra.Problem{Code: CodeValue, Text: err.Error(), Hint: "ask without this character"}
	}
	for i := range filled {
		for _, name := range p.Transform {
			filled[i] = transforms[name](filled[i])
		}
	}
	return filled, nil
}

// datum makes one value, or the values of an IN that go together, safe inside a parameter.
func (g *Grammar) datum(data []string, quoted bool, rule *Rule, p Param) (string, error) {
	safe := make([]string, len(data))
	for i, v := range data {
		for _, mark := range []string{p.Join, rule.Join} {
			if mark != "" && (strings.Contains(v, mark) || strings.TrimSpace(mark) != "" && strings.Contains(v, strings.TrimSpace(mark))) {
				return "", fmt.Errorf("the value holds %q, which separates values in this parameter", mark)
			}
		}
		if at := strings.IndexAny(v, p.Refuse); at >= 0 {
			return "", fmt.Errorf("the parameter cannot hold %q as data", []rune(v[at:])[0])
		}
		if quoted {
			var err error
			if v, err = g.Language.quoted(v); err != nil {
				return "", err
			}
		}
		safe[i] = v
	}
	return strings.Join(safe, rule.Join), nil
}

// operands are the values that a rule is repeated for; each may be several that go together.
func operands(n Node, rule *Rule, fragment bool) [][]string {
	list := []string{n.Text}
	switch {
	case n.Op == OpIn && rule.Join != "":
		return [][]string{n.Values}
	case n.Op == OpIn:
		list = n.Values
	case fragment && n.Match == MatchAny:
		list = strings.Fields(n.Text) // any of the words: in a language that is an OR
	}
	out := make([][]string, len(list))
	for i := range list {
		out[i] = list[i : i+1]
	}
	return out
}

// ends are the texts of both ends; an absent one is its sentinel, or empty.
func (f Field) ends(n Node) (map[string]string, *patra.Problem) {
	s, bad := f.span(n)
	if bad != nil {
		return nil, bad
	}
	holes := map[string]string{holeFrom: f.Sentinel.From, holeTo: f.Sentinel.To}
	if s.from != nil {
		holes[holeFrom] = *s.from
	}
	if s.to != nil {
		holes[holeTo] = *s.to
	}
	return holes, nil
}

// collect maps the standard parameters to the provider's. What cannot share a place is refused.
func (r *rendering) collect() map[string][]string {
	params := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(r.fed)) {
		p, list := r.g.Params[key], r.unique(r.fed[key])
		r.conflicts(key, list)
		values := make([]string, len(list))
		for i, f := range list {
			values[i] = f.value
		}
		if p.Join != "" {
			values = []string{strings.Join(values, p.Join)}
		}
		params[p.Name] = values
	}
	return params
}

// unique drops fixed text that several clauses agree on, such as the kind of date.
func (r *rendering) unique(list []paramValue) []paramValue {
	var out []paramValue
	for _, f := range list {
		if f.fixed && slices.ContainsFunc(out, func(o paramValue) bool { return o.fixed && o.value == f.value }) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// conflicts refuses clauses that would change each other's meaning in one parameter: a second value where one fits, and
// a second clause on a field whose repeated values mean "any of these".
func (r *rendering) conflicts(key string, list []paramValue) {
	p := r.g.Params[key]
	if p.Join == "" && !p.Repeat && len(list) > 1 {
		r.refuse(list[1].clause, CodeConflict, fmt.Sprintf("the parameter %s holds one value, and %s already fills it", key, r.g.text(list[0].clause)), "ask in two queries")
		return
	}
	for i, f := range list {
		for _, other := range list[:i] {
			same := f.number != other.number && f.clause.Name() == other.clause.Name()
			if same && (f.option || other.option || r.g.Fields[f.clause.Name()].Once) {
				r.refuse(f.clause, CodeConflict, fmt.Sprintf("together with %s it would be read as either of the two", r.g.text(other.clause)), "ask in two queries")
				return
			}
		}
	}
}
