package query

import (
	"fmt"
	"slices"

	"patra"
)

// Codes of a query that a provider cannot answer.
const (
	CodeOp        = "OP_UNSUPPORTED"       // the field cannot be asked this
	CodeMatch     = "MATCH_UNSUPPORTED"    // nor compared this way
	CodeCase      = "CASE_UNSUPPORTED"     // nor with, or without, regard to case
	CodeNegation  = "NEGATION_UNSUPPORTED" // there is no NOT for it
	CodeRangeType = "RANGE_TYPE"           // dates of a number, or the reverse
	CodeOpenEnd   = "OPEN_END"             // an end is absent that must be there, or there with no place to go
	CodePrecision = "RANGE_PRECISION"      // the bound lies between what the provider can tell apart
	CodeValue     = "VALUE_UNSENDABLE"     // the value cannot be written so that it stays a value
	CodePosition  = "PARAMETER_POSITION"   // a parameter inside OR or NOT
	CodeConflict  = "PARAMETER_CONFLICT"   // two clauses want one place
	CodeLanguage  = "LANGUAGE_LACKS"       // the query language has no word for it
)

// capability checks every clause by itself, before anything is simplified away: a clause that cannot be asked is an
// error even where the rest of the query makes it irrelevant.
func (g *Grammar) capability(n Node, negative bool) patra.Problems {
	if !n.atom() {
		var found patra.Problems
		for _, arg := range n.Args {
			found = append(found, g.capability(arg, negative != (n.Op == OpNot))...)
		}
		return found
	}
	refuse := func(code, hint, format string, args ...any) patra.Problems {
		return patra.Problems{g.refusal(n, code, fmt.Sprintf(format, args...), hint)}
	}
	f, ok := g.Fields[n.Name()]
	switch {
	case !ok:
		return refuse(CodeUnknownField, didYouMean(n.Name(), g.Fields, "fields"), "this source has no field %s", n.Name())
	case !slices.Contains(f.Ops, n.Op):
		return refuse(CodeOp, "it can be asked "+joined(f.Ops), "%s cannot be asked %s", n.Name(), n.Op)
	case n.Op == OpTerm && !slices.Contains(f.matches(), n.Match):
		return refuse(CodeMatch, "it can be compared by "+joined(f.matches()), "%s cannot be compared by %s", n.Name(), n.Match)
	case n.Op == OpTerm && n.CaseSensitive != f.CaseSensitive:
		hint := "leave the ^ out"
		if f.CaseSensitive {
			hint = "this provider tells case apart; write ^ before the value"
		}
		return refuse(CodeCase, hint, "the provider cannot be told how to treat case in %s", n.Name())
	case negative && !f.negatable(n.Op):
		return refuse(CodeNegation, "ask for what you want instead of what you do not", "the provider has no NOT for %s of %s", n.Op, n.Name())
	case n.Op == OpRange && (n.ranges() == RangeNumber) != (f.Type == TypeNumber):
		return refuse(CodeRangeType, typeHints[f.Type], "%s holds a %s, not a %s", n.Name(), f.Type, n.ranges())
	case n.Op == OpRange && n.From == nil && !slices.Contains(f.Open, EndFrom), n.Op == OpRange && n.To == nil && !slices.Contains(f.Open, EndTo):
		return refuse(CodeOpenEnd, "give both ends", "the provider needs both ends of a range of %s", n.Name())
	}
	return nil
}

// refusal is a problem with one clause.
func (g *Grammar) refusal(n Node, code, text, hint string) patra.Problem {
	return patra.Problem{Code: code, Path: g.text(n), Text: text, Hint: hint}
}

// text is a clause as people would write it for this source.
func (g *Grammar) text(n Node) string { return Format(n, g.Fields) }
