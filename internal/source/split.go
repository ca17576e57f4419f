package source

import (
	"errors"
	"fmt"
	"slices"

	"patra"
	"patra/internal/query"
)

// Split is the second dimension of a window: whole numbers [From, To) of a field, by which a window is cut that holds
// more than the provider answers. Every record has a number of it, else cutting would lose some.
type Split struct {
	Field string `yaml:"field" json:"field"`
	From  int64  `yaml:"from" json:"from,omitempty"`
	To    int64  `yaml:"to" json:"to"`
}

// Range is all numbers there can be.
func (s Split) Range() patra.IDRange { return patra.IDRange{From: s.From, To: s.To} }

func (c *checker) split(at string, w Window, f *File) {
	s := w.Split
	if !w.filters() || w.Strategy == patra.StrategyVolume {
		c.add(at, "CONFLICT", fmt.Sprintf("windows of strategy %s are not cut by ids", w.Strategy), "leave strategy out, or split")
	}
	if s.From < 0 || s.From >= s.To || s.To > query.MaxNumber {
		c.add(at+".to", "BAD_VALUE", fmt.Sprintf("%s is no range of ids", s.Range()), "to is the first number that no id has, from is 0 or more and lies before it")
	}
	field, ok := f.Query.Fields[s.Field]
	switch {
	case !ok:
		c.add(at+".field", "UNKNOWN_FIELD", fmt.Sprintf("field %q is not among query.fields", s.Field), "name a field with type: NUMBER")
	case field.Type != query.TypeNumber || !field.Integer:
		c.add(at+".field", "CONFLICT", fmt.Sprintf("the values of %q are no whole numbers", s.Field), "name a field with type: NUMBER and integer: true")
	case !ranged(f.Query, s.Field):
		c.noRange(at+".field", s.Field)
	default:
		c.together(at, w, f)
	}
}

// together makes sure that a window and a part of its ids can be asked for in one request.
func (c *checker) together(at string, w Window, f *File) {
	g := f.grammar(w)
	if len(g.Check()) > 0 || !w.filters() || !ranged(f.Query, w.Field) { // said elsewhere
		return
	}
	day := patra.Date(2026, 1, 1)
	both := query.BindRange(query.Bind(query.All(), w.Field, patra.Window{From: day, To: patra.UnitMonth.Next(day)}), w.Split.Field, patra.IDRange{From: 1, To: 2})
	_, err := g.Render(both)
	if found, ok := errors.AsType[patra.Problems](err); ok {
		c.add(at, "CONFLICT", fmt.Sprintf("%s and %s cannot be asked for together: %s", w.Field, w.Split.Field, found[0].Text), "send one of them in another way")
	}
}

// ranged reports whether a rule turns ranges of the field into a request.
func ranged(q query.Grammar, field string) bool {
	return slices.ContainsFunc(q.Rules, func(r query.Rule) bool { return r.Field == field && r.Op == query.OpRange })
}
