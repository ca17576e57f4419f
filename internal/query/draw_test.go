package query_test

import (
	"fmt"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/query"
)

// Values that a careless renderer trips over.
var nasty = []string{"a", "b", "a b", "b a", "AND", "not", `a "b"`, `\`, `a\`, "{{v}}", "${x}", "a,b", "x|y", "type:b", "(a)", "a*", "-a", "ä", "a OR b"}

var day0 = patra.Date(2024, 1, 1)

func drawBounds(t *rapid.T, at func(i int, k query.BoundKind) *query.Bound) (from, to *query.Bound) {
	kinds := []query.BoundKind{query.Open, query.Closed}
	which := rapid.IntRange(1, 3).Draw(t, "ends")
	if which&1 != 0 {
		from = at(rapid.IntRange(0, 5).Draw(t, "from"), rapid.SampledFrom(kinds).Draw(t, "kind"))
	}
	if which&2 != 0 {
		to = at(rapid.IntRange(0, 5).Draw(t, "to"), rapid.SampledFrom(kinds).Draw(t, "kind"))
	}
	return from, to
}

// drawAtom makes a clause over the fields of the toy grammars; not all of them are supported by each.
func drawAtom(t *rapid.T) query.Node {
	value := rapid.SampledFrom(nasty)
	switch rapid.IntRange(0, 8).Draw(t, "atom") {
	case 0, 1:
		m := rapid.SampledFrom([]query.Match{query.MatchAny, query.MatchPhrase, query.MatchPrefix}).Draw(t, "match")
		return query.Term(rapid.SampledFrom([]string{"text", "title"}).Draw(t, "field"), value.Draw(t, "text"), m)
	case 2:
		return query.Term("type", value.Draw(t, "text"), query.MatchExact)
	case 3:
		return query.Token("mesh", value.Draw(t, "text"))
	case 4:
		return query.In("type", rapid.SliceOfN(value, 1, 3).Draw(t, "values")...)
	case 5:
		return query.Exists("abstract")
	case 6:
		from, to := drawBounds(t, func(i int, k query.BoundKind) *query.Bound { return query.AtNumber(float64(2000+i), k) })
		return query.Range("year", query.RangeNumber, from, to)
	case 7:
		from, to := drawBounds(t, func(i int, k query.BoundKind) *query.Bound { return query.At(day0+patra.Instant(i)*patra.Day, k) })
		return query.Range("indexed", rapid.SampledFrom([]query.RangeType{query.RangeDate, ""}).Draw(t, "range"), from, to)
	}
	from, to := drawBounds(t, func(i int, k query.BoundKind) *query.Bound { return query.At(day0+patra.Instant(i)*patra.Second/2, k) })
	return query.Range("updated", "", from, to)
}

// drawNode makes a tree, constants included.
func drawNode(t *rapid.T, depth int) query.Node {
	switch kind := rapid.IntRange(0, 9).Draw(t, "node"); {
	case kind < 4 || depth == 0:
		return drawAtom(t)
	case kind == 4:
		return query.Const(rapid.Bool().Draw(t, "const"))
	case kind < 7:
		return query.Not(drawNode(t, depth-1))
	default:
		args := make([]query.Node, rapid.IntRange(1, 3).Draw(t, "args"))
		for i := range args {
			args[i] = drawNode(t, depth-1)
		}
		if kind == 7 {
			return query.Or(args...)
		}
		return query.And(args...)
	}
}

func drawRecord(t *rapid.T) query.Record {
	text := rapid.SliceOfN(rapid.SampledFrom(append([]string{"abc", "c"}, nasty...)), 0, 2)
	r := query.Record{"text": text.Draw(t, "text"), "title": text.Draw(t, "title"), "type": text.Draw(t, "type"), "mesh": text.Draw(t, "mesh")}
	if rapid.Bool().Draw(t, "abstract") {
		r["abstract"] = []string{"some"}
	}
	for range rapid.IntRange(0, 2).Draw(t, "times") {
		i := rapid.IntRange(0, 5).Draw(t, "time")
		r["year"] = append(r["year"], fmt.Sprint(2000+i))
		r["indexed"] = append(r["indexed"], (day0 + patra.Instant(i)*patra.Day).Time().Format("2006-01-02"))
		r["updated"] = append(r["updated"], (day0 + patra.Instant(i)*patra.Second).String())
	}
	return r
}
