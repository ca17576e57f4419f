package query

import (
	"fmt"
	"maps"
	"slices"

	"patra"
)

// Rendered is a query as the provider is asked it.
type Rendered struct {
	Params  map[string][]string `json:"params,omitempty"` // by the provider's names; several values mean that it is sent several times
	Empty   bool                `json:"empty,omitempty"`  // nothing can match: ask nothing
	Clauses []Clause            `json:"clauses,omitempty"`
}

// Clause tells what became of one clause, for people who want to know.
type Clause struct {
	Text     string              `json:"text"`
	Negated  bool                `json:"negated,omitempty"`
	Rule     string              `json:"rule,omitempty"` // path in the query block
	Fragment string              `json:"fragment,omitempty"`
	Params   map[string][]string `json:"params,omitempty"` // by the standard names
	Note     string              `json:"note,omitempty"`   // why there is neither
}

// Render turns a query into provider parameters that ask exactly that, or says clause by clause why it cannot. The
// error is patra.Problems.
//
// Ranges are rendered as they stand. A window is first widened to what the provider can be asked for, see Widen.
func (g *Grammar) Render(n Node) (Rendered, error) {
	if err := g.Check().Err(); err != nil {
		return Rendered{}, err
	}
	if err := n.validate(boundRoom); err != nil {
		return Rendered{}, err
	}
	if err := g.capability(n, false).Err(); err != nil {
		return Rendered{}, err
	}
	r := &rendering{g: g, fed: map[string][]paramValue{}}
	n = Normalise(r.fold(Normalise(n)))
	n = Normalise(r.settle(n))
	if len(r.found) > 0 {
		return Rendered{}, r.found
	}
	if n.is(false) {
		return Rendered{Empty: true, Clauses: r.clauses}, nil
	}
	var fragments []Node
	for _, clause := range conjuncts(n) {
		switch {
		case g.isFragment(clause):
			fragments = append(fragments, clause)
		case clause.atom() || clause.Op == OpNot && clause.Args[0].atom():
			r.parameters(clause)
		default:
			r.explain(clause, clause.Op, false)
			if len(r.found) == 0 { // never: some clause spoils it; but nothing may pass in silence
				r.refuse(clause, CodePosition, "the clauses cannot be combined in this way", "ask in two queries")
			}
		}
	}
	r.fragments(fragments)
	params := r.collect()
	if len(r.found) > 0 {
		return Rendered{}, r.found
	}
	return Rendered{Params: params, Clauses: r.clauses}, nil
}

// rendering is the state of one Render.
type rendering struct {
	g       *Grammar
	clauses []Clause
	fed     map[string][]paramValue // by standard parameter
	found   patra.Problems
}

func (r *rendering) refuse(n Node, code, text, hint string) {
	r.found = append(r.found, r.g.refusal(n, code, text, hint))
}

// rule is the rule for an atom or for its NOT: the one for its very match, or the one for every match.
func (g *Grammar) rule(n Node, negated bool) *Rule {
	var general *Rule
	for i := range g.Rules {
		rule := &g.Rules[i]
		if rule.Field != n.Name() || rule.Op != n.Op || rule.Negated != negated {
			continue
		}
		switch rule.Match {
		case n.Match:
			return rule
		case "":
			general = rule
		}
	}
	return general
}

// path is where the rule stands in the file.
func (g *Grammar) path(rule *Rule) string {
	for i := range g.Rules {
		if rule == &g.Rules[i] {
			return fmt.Sprintf("render[%d]", i)
		}
	}
	return "render"
}

// fold turns ranges that hold nothing into FALSE: providers answer a range that is upside down in many ways.
func (r *rendering) fold(n Node) Node {
	if n.Op == OpRange {
		s, bad := r.g.Fields[n.Field].span(n)
		if bad != nil {
			r.refuse(n, bad.Code, bad.Text, bad.Hint)
			return n
		}
		if s.empty {
			r.clauses = append(r.clauses, Clause{Text: r.g.text(n), Note: "nothing lies in this range"})
			return Const(false)
		}
		return n
	}
	n.Args = slices.Clone(n.Args)
	for i := range n.Args {
		n.Args[i] = r.fold(n.Args[i])
	}
	return n
}

// settle decides where each NOT goes. A NOT over several clauses stays where the language can say it; where it cannot,
// De Morgan's laws, which are exact, bring it down to the clauses, for which there may be rules.
func (r *rendering) settle(n Node) Node {
	if n.Op == OpNot && !n.Args[0].atom() {
		inner := n.Args[0]
		if inner.Op == OpConst || r.g.isFragment(n) {
			return n
		}
		opposite := Node{Op: OpAnd}
		if inner.Op == OpAnd {
			opposite.Op = OpOr
		}
		for _, arg := range inner.Args {
			opposite.Args = append(opposite.Args, Normalise(Not(arg)))
		}
		return r.settle(opposite)
	}
	if n.Op != OpAnd && n.Op != OpOr {
		return n
	}
	n.Args = slices.Clone(n.Args)
	for i := range n.Args {
		n.Args[i] = r.settle(n.Args[i])
	}
	return n
}

// conjuncts are the parts of which all have to hold.
func conjuncts(n Node) []Node {
	switch {
	case n.is(true):
		return nil
	case n.Op == OpAnd:
		return n.Args
	}
	return []Node{n}
}

// isFragment reports whether the whole tree can be written in the query language.
func (g *Grammar) isFragment(n Node) bool {
	switch {
	case n.atom():
		rule := g.rule(n, false)
		return rule != nil && rule.Query != ""
	case n.Op == OpNot && n.Args[0].atom():
		if rule := g.rule(n.Args[0], true); rule != nil {
			return rule.Query != ""
		}
		return g.Language.negates() && g.isFragment(n.Args[0])
	case n.Op == OpNot && !g.Language.negates():
		return false
	}
	return !slices.ContainsFunc(n.Args, func(arg Node) bool { return !g.isFragment(arg) })
}

// explain says for each clause of a tree that cannot be a fragment why it is the one that spoils it.
func (r *rendering) explain(n Node, under Op, negative bool) {
	switch {
	case n.Op == OpNot:
		r.explain(n.Args[0], under, !negative)
	case !n.atom():
		for _, arg := range n.Args {
			r.explain(arg, under, negative)
		}
	default:
		clause := n
		if negative {
			clause = Not(n)
		}
		if r.g.isFragment(clause) {
			return
		}
		rule := r.g.rule(n, negative)
		if rule == nil && negative {
			r.noNegation(n)
			return
		}
		r.refuse(n, CodePosition, fmt.Sprintf("this clause is sent as %s, which cannot stand inside %s", parameterNames(rule), under),
			"parameters all have to hold together; ask in two queries")
	}
}

// noNegation refuses a NOT that has neither rule nor word.
func (r *rendering) noNegation(n Node) {
	text := "the query language of this source has no NOT"
	if rule := r.g.rule(n, false); rule != nil && rule.Query == "" {
		text = "this clause is sent as " + parameterNames(rule) + ", and a parameter cannot be negated"
	}
	r.refuse(n, CodeNegation, text, "ask for what you want instead of what you do not")
}

func parameterNames(rule *Rule) string {
	names := slices.Sorted(maps.Keys(rule.Params))
	if len(names) == 1 {
		return "the parameter " + names[0]
	}
	return "the parameters " + joined(names)
}
