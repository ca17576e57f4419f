package query

import (
	"fmt"
	"maps"
	"slices"
)

// rule checks one render rule against the rest of the grammar.
func (c *checker) rule(path string, index int, r Rule) {
	f, ok := c.g.Fields[r.Field]
	if !ok {
		c.bad(path+".field", fmt.Sprintf("%q is not a field", r.Field), didYouMean(r.Field, c.g.Fields, "fields"))
		return
	}
	if !slices.Contains(f.Ops, r.Op) {
		c.bad(path+".op", fmt.Sprintf("the field %s does not offer %q", r.Field, r.Op), "add it to the field's ops, or one of "+joined(f.Ops))
		return
	}
	if r.Match != "" && (r.Op != OpTerm || !slices.Contains(f.matches(), r.Match)) {
		c.bad(path+".match", fmt.Sprintf("%s of %s does not offer match %q", r.Op, r.Field, r.Match), "add it to the field's match, or leave it out")
	}
	if r.Negated && !f.negatable(r.Op) {
		c.bad(path+".negated", fmt.Sprintf("the field %s does not allow NOT over %s", r.Field, r.Op), "change negate of the field")
	}
	if r.Join != "" && r.Op != OpIn {
		c.bad(path+".join", "join is for IN only", "")
	}
	for _, other := range c.g.Rules[:index] {
		if other.Field == r.Field && other.Op == r.Op && other.Match == r.Match && other.Negated == r.Negated {
			c.bad(path, "an earlier rule is for the same clauses", "leave one of them out")
			break
		}
	}
	c.result(path, r, f)
}

// result checks what the rule makes.
func (c *checker) result(path string, r Rule, f Field) {
	switch {
	case (r.Query != "") == (len(r.Params) > 0):
		c.bad(path, "a rule makes either a query fragment or params", "give exactly one of query and params")
		return
	case r.Query != "" && c.g.Language == nil:
		c.bad(path+".query", "there is no language to put the fragment into", "add a language block")
	}
	held := map[string]bool{}
	if r.Query != "" {
		c.template(path+".query", r, r.Query, held, f)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Params)) {
		c.feeds(path, key, r, held, f)
	}
	c.holes(path, r, f, held)
}

// feeds checks what the rule puts into one standard parameter.
func (c *checker) feeds(path, key string, r Rule, held map[string]bool, f Field) {
	p, at := c.g.Params[key], path+".params."+key
	if _, ok := c.g.Params[key]; !ok {
		c.bad(at, fmt.Sprintf("%q is not a standard parameter", key), didYouMean(key, c.g.Params, "params"))
	} else if c.g.Language != nil && c.g.Language.Param == key {
		c.bad(at, "the query language owns this parameter", "give a query fragment instead")
	}
	single := p.Join == "" && !p.Repeat
	if len(r.Params[key]) == 0 {
		c.bad(at, "the parameter gets no value", "")
	}
	if single && len(r.Params[key]) > 1 {
		c.bad(at, key+" takes one value", "give the parameter a join or repeat: true")
	}
	if single && r.Op == OpIn && r.Join == "" {
		c.bad(at, key+" takes one value, and IN has several", "give the parameter a join or repeat: true, or the rule a join")
	}
	for i, text := range r.Params[key] {
		if text == "" {
			c.bad(at, "the value is empty", "")
		}
		where := at
		if len(r.Params[key]) > 1 {
			where = fmt.Sprintf("%s[%d]", at, i)
		}
		c.template(where, r, text, held, f)
	}
}

// template checks one template and notes the holes it has.
func (c *checker) template(path string, r Rule, text string, held map[string]bool, f Field) {
	t, err := parseTemplate(text)
	if err != nil {
		c.bad(path, err.Error(), "")
		return
	}
	for _, hole := range []string{holeValue, holeFrom, holeTo} {
		if !t.has(hole) {
			continue
		}
		held[hole] = true
		if (hole == holeValue) != (r.Op != OpRange) || r.Op == OpExists {
			c.bad(path, fmt.Sprintf("%s has no {{%s}}", r.Op, hole), "")
		}
	}
	// An absent end leaves out a parameter that is about this end only; anything else needs something to put there.
	both := t.has(holeFrom) && t.has(holeTo)
	for _, end := range []End{EndFrom, EndTo} {
		hole := end.hole()
		if t.has(hole) && slices.Contains(f.Open, end) && f.sentinel(end) == "" && (r.Query != "" || both) {
			c.bad(path, fmt.Sprintf("%s may be absent, and nothing is said to put in its place", end), "give the field a sentinel, or two separate values")
		}
	}
}

// holes refuses a rule that would drop what was asked.
func (c *checker) holes(path string, r Rule, f Field, held map[string]bool) {
	switch r.Op {
	case OpTerm, OpToken, OpIn:
		if !held[holeValue] {
			c.bad(path, "the rule drops the value", "use {{v}}")
		}
	case OpRange:
		for _, end := range []End{EndFrom, EndTo} {
			hole := end.hole()
			if !held[hole] && !slices.Contains(f.Open, end) {
				c.bad(path, fmt.Sprintf("the rule drops the %s end", end), fmt.Sprintf("use {{%s}}, or add %s to open if the provider has no such bound", hole, end))
			}
		}
	}
}
