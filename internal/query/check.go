package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patra"
)

// CodeGrammar is the code of an inconsistency in a query block.
const CodeGrammar = "BAD_GRAMMAR"

// Check lists every inconsistency of the grammar at once. A grammar that passes can still refuse a query; it never
// renders one wrongly for want of a rule.
func (g *Grammar) Check() patra.Problems {
	c := &checker{g: g}
	for _, name := range slices.Sorted(maps.Keys(g.Fields)) {
		c.field("fields."+name, name, g.Fields[name])
	}
	for i, rule := range g.Rules {
		c.rule(fmt.Sprintf("render[%d]", i), i, rule)
	}
	c.params()
	if g.Language != nil {
		c.language(g.Language)
	}
	return c.found
}

type checker struct {
	g     *Grammar
	found patra.Problems
}

func (c *checker) bad(path, text, hint string) {
	c.found = append(c.found, patra.Problem{Code: CodeGrammar, Path: path, Text: text, Hint: hint})
}

// oneOf refuses a value that is not on the list, and one that is given twice.
func oneOf[T ~string](c *checker, path string, got, allowed []T, what string) {
	for i, v := range got {
		switch {
		case !slices.Contains(allowed, v):
			c.bad(path, fmt.Sprintf("%q is not %s here", v, what), "one of "+joined(allowed))
		case slices.Contains(got[:i], v):
			c.bad(path, fmt.Sprintf("%s is given twice", v), "")
		}
	}
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

func (c *checker) field(path, name string, f Field) {
	if !nameForm.MatchString(name) {
		c.bad(path, fmt.Sprintf("%q is not the name of a field", name), "a letter, then letters, digits, _ . -")
	}
	ops, ok := typeOps[f.Type]
	if !ok {
		c.bad(path+".type", fmt.Sprintf("%q is not a type of field", f.Type), "one of "+joined(slices.Sorted(maps.Keys(typeOps))))
		return
	}
	if len(f.Ops) == 0 {
		c.bad(path+".ops", "nothing can be asked of the field", "list what the provider can answer: "+joined(ops))
	}
	oneOf(c, path+".ops", f.Ops, ops, "something to ask of a "+string(f.Type)+" field")
	terms := slices.Contains(f.Ops, OpTerm)
	if len(f.Match) > 0 && !terms {
		c.bad(path+".match", "match is for TERM only", "add TERM to ops or leave match out")
	}
	if terms {
		oneOf(c, path+".match", f.Match, typeMatches[f.Type], "a match of a "+string(f.Type)+" field")
	}
	if f.CaseSensitive && !terms {
		c.bad(path+".caseSensitive", "caseSensitive is for TERM only", "")
	}
	if f.Negate != nil && f.Negate.Ops != nil {
		oneOf(c, path+".negate", f.Negate.Ops, f.Ops, "an op of the field")
	}
	c.ranges(path, f)
	c.answered(path, name, f)
}

// ranges checks what is about the ends of ranges.
func (c *checker) ranges(path string, f Field) {
	dated := f.Type == TypeDate || f.Type == TypeDateTime
	ranged := slices.Contains(f.Ops, OpRange)
	for _, part := range []struct {
		key string
		set bool
		use bool
		why string
	}{
		{"open", len(f.Open) > 0, ranged, "RANGE"}, {"sentinel", f.Sentinel != Sentinel{}, ranged, "RANGE"}, {"upper", f.Upper != "", ranged, "RANGE"},
		{"precision", f.Precision != "", ranged && dated, "RANGE of dates"}, {"format", f.Format != "", ranged && dated, "RANGE of dates"},
		{"integer", f.Integer, ranged && f.Type == TypeNumber, "RANGE of numbers"},
	} {
		if part.set && !part.use {
			c.bad(path+"."+part.key, part.key+" is for "+part.why+" only", "")
		}
	}
	if !ranged {
		return
	}
	oneOf(c, path+".open", f.Open, []End{EndFrom, EndTo}, "an end")
	for _, e := range []End{EndFrom, EndTo} {
		if f.sentinel(e) != "" && !slices.Contains(f.Open, e) {
			c.bad(path+".sentinel."+strings.ToLower(string(e)), "the sentinel stands for an end that may not be absent", fmt.Sprintf("add %s to open or leave it out", e))
		}
	}
	if f.Upper != "" {
		oneOf(c, path+".upper", []Upper{f.Upper}, []Upper{Inclusive, Exclusive}, "a kind of upper bound")
	}
	if dated {
		c.dates(path, f)
	}
}

func (c *checker) dates(path string, f Field) {
	if f.Type == TypeDateTime {
		const hint = "say how finely the provider filters and what it does with an upper bound"
		if f.Precision == "" {
			c.bad(path+".precision", "a DATETIME field has no usual precision", hint)
		}
		if f.Upper == "" {
			c.bad(path+".upper", "a DATETIME field has no usual kind of upper bound", hint)
		}
	}
	if f.Precision != "" && !slices.Contains(patra.Units, f.Precision) {
		c.bad(path+".precision", fmt.Sprintf("%q is not a unit", f.Precision), "one of "+joined(patra.Units))
		return
	}
	if f.Type == TypeDate && f.precision() != patra.UnitDay && f.precision() != patra.UnitMonth {
		c.bad(path+".precision", "a DATE field is not finer than a day", "make its type DATETIME")
		return
	}
	if err := f.checkFormat(); err != nil {
		c.bad(path+".format", err.Error(), "a Go layout such as 2006/01/02, EPOCH_SECONDS, EPOCH_MILLIS, or "+joined(slices.Sorted(maps.Keys(dateFormats))))
	}
}

// answered makes sure that everything the field offers has a rule.
func (c *checker) answered(path, name string, f Field) {
	for _, op := range f.Ops {
		if op != OpTerm {
			if c.g.rule(Node{Op: op, Field: name, Kind: name}, false) == nil {
				c.bad(path+".ops", fmt.Sprintf("no render rule for %s of %s", op, name), fmt.Sprintf("add {field: %s, op: %s, ...} to render", name, op))
			}
			continue
		}
		for _, m := range f.matches() {
			if c.g.rule(Term(name, "", m), false) == nil {
				c.bad(path+".match", fmt.Sprintf("no render rule for TERM %s of %s", m, name), fmt.Sprintf("add {field: %s, op: TERM, match: %s, ...} to render", name, m))
			}
		}
	}
}

func (c *checker) params() {
	names := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(c.g.Params)) {
		p, path := c.g.Params[key], "params."+key
		switch other, taken := names[p.Name]; {
		case p.Name == "":
			c.bad(path+".name", "the parameter has no name at the provider", "")
		case taken:
			c.bad(path+".name", fmt.Sprintf("%s is already where %s goes", p.Name, other), "use one standard parameter for both")
		}
		names[p.Name] = key
		if p.Join != "" && p.Repeat {
			c.bad(path+".repeat", "a parameter is either joined or repeated", "leave one out")
		}
		oneOf(c, path+".transform", p.Transform, slices.Sorted(maps.Keys(transforms)), "a transform")
	}
}

func (c *checker) language(l *Language) {
	if p, ok := c.g.Params[l.Param]; !ok {
		c.bad("language.param", fmt.Sprintf("%q is not a standard parameter", l.Param), didYouMean(l.Param, c.g.Params, "params"))
	} else if p.Join != "" || p.Repeat || p.Refuse != "" {
		c.bad("params."+l.Param, "the whole query goes into this parameter as one value", "leave join, repeat and refuse out")
	}
	if t, err := parseTemplate(l.All); err != nil || t.compound || len(t.parts) > 1 {
		c.bad("language.all", "it has to stand beside AND NOT as one operand", "put it in brackets")
	}
	if l.Group != "" && strings.Count(l.Group, "{{q}}") != 1 {
		c.bad("language.group", "the group has to hold {{q}} once", "write ({{q}})")
	}
	if l.Escape != "" {
		oneOf(c, "language.escape", []Escape{l.Escape}, []Escape{EscapeRefuse, EscapeBackslash, EscapeDouble}, "a way to escape")
	}
}
