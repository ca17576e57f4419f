package query_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/query"
)

// toy is a language that the reader understands; what it can say and what it sends as parameters is drawn.
func toy(t *rapid.T) *query.Grammar {
	open := []query.End{query.EndFrom, query.EndTo}
	stars := query.Sentinel{From: "*", To: "*"}
	g := &query.Grammar{
		Fields: query.Fields{
			"text":     {Type: query.TypeText, Ops: []query.Op{query.OpTerm}, Match: []query.Match{query.MatchAny, query.MatchPhrase, query.MatchPrefix}},
			"title":    {Type: query.TypeText, Ops: []query.Op{query.OpTerm}, Match: []query.Match{query.MatchAny, query.MatchPhrase}},
			"type":     {Type: query.TypeKeyword, Ops: []query.Op{query.OpTerm, query.OpIn}},
			"mesh":     {Type: query.TypeToken, Ops: []query.Op{query.OpToken}},
			"abstract": {Type: query.TypeText, Ops: []query.Op{query.OpExists}},
			"year":     {Type: query.TypeNumber, Ops: []query.Op{query.OpRange}, Integer: true, Open: open, Sentinel: stars},
			"indexed":  {Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Open: open, Sentinel: stars},
			"updated":  {Type: query.TypeDateTime, Ops: []query.Op{query.OpRange}, Precision: patra.UnitSecond, Upper: query.Inclusive, Open: open, Sentinel: stars},
		},
		Rules: []query.Rule{
			{Field: "text", Op: query.OpTerm, Query: `TEXT:"{{v}}"`},
			{Field: "text", Op: query.OpTerm, Match: query.MatchPrefix, Query: `TEXT:{{v}}*`},
			{Field: "title", Op: query.OpTerm, Query: `TITLE:"{{v}}"`},
			{Field: "type", Op: query.OpTerm, Query: `TYPE:"{{v}}"`},
			{Field: "type", Op: query.OpIn, Query: `IN:"{{v}}"`},
			{Field: "mesh", Op: query.OpToken, Query: `MESH:"{{v}}"`},
			{Field: "abstract", Op: query.OpExists, Query: "ABSTRACT:Y"},
			{Field: "year", Op: query.OpRange, Query: "YEAR:[{{from}} TO {{to}}]"},
			{Field: "updated", Op: query.OpRange, Query: "UPDATED:[{{from}} TO {{to}}]"},
		},
		Params:   map[string]query.Param{"query": {Name: "q"}, "min": {Name: "min"}, "max": {Name: "max"}},
		Language: &query.Language{Param: "query", And: "AND", Or: "OR", Escape: query.EscapeBackslash},
	}
	dates := query.Rule{Field: "indexed", Op: query.OpRange, Query: "INDEXED:[{{from}} TO {{to}}]"}
	if rapid.Bool().Draw(t, "dates as parameters") {
		dates = query.Rule{Field: "indexed", Op: query.OpRange, Params: map[string]query.Strings{"min": {"{{from}}"}, "max": {"{{to}}"}}}
	}
	g.Rules = append(g.Rules, dates)
	if rapid.Bool().Draw(t, "a rule for NOT") {
		g.Rules = append(g.Rules, query.Rule{Field: "abstract", Op: query.OpExists, Negated: true, Query: "ABSTRACT:N"},
			query.Rule{Field: "type", Op: query.OpIn, Negated: true, Query: `NOT IN:"{{v}}"`})
	}
	switch rapid.IntRange(0, 3).Draw(t, "not") {
	case 1:
		g.Language.Not = "NOT"
	case 2:
		g.Language.AndNot = "BUT"
	case 3:
		g.Language.AndNot, g.Language.All = "BUT", "*:*"
	}
	if rapid.Bool().Draw(t, "refuse") {
		g.Language.Escape = query.EscapeRefuse
		g.Language.Refuse = `\`
	}
	return g
}

// filters has parameters only.
func filters() *query.Grammar {
	put := func(key, text string) map[string]query.Strings { return map[string]query.Strings{key: {text}} }
	return &query.Grammar{
		Fields: query.Fields{
			"title":    {Type: query.TypeText, Ops: []query.Op{query.OpTerm}},
			"type":     {Type: query.TypeKeyword, Ops: []query.Op{query.OpIn}},
			"abstract": {Type: query.TypeText, Ops: []query.Op{query.OpExists}},
			"year":     {Type: query.TypeNumber, Ops: []query.Op{query.OpRange}, Integer: true},
			"indexed":  {Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Open: []query.End{query.EndTo}},
		},
		Rules: []query.Rule{
			{Field: "title", Op: query.OpTerm, Params: put("title", "{{v}}")},
			{Field: "type", Op: query.OpIn, Params: put("filter", "type:{{v}}")},
			{Field: "type", Op: query.OpIn, Negated: true, Params: put("filter", "not-type:{{v}}")},
			{Field: "abstract", Op: query.OpExists, Params: put("filter", "abstract:yes")},
			{Field: "abstract", Op: query.OpExists, Negated: true, Params: put("filter", "abstract:no")},
			{Field: "year", Op: query.OpRange, Params: put("filter", "year:{{from}}-{{to}}")},
			{Field: "indexed", Op: query.OpRange, Params: put("filter", "since:{{from}}")},
		},
		Params: map[string]query.Param{"title": {Name: "t"}, "filter": {Name: "filter", Join: ","}},
	}
}

var reasons = []string{query.CodeUnknownField, query.CodeOp, query.CodeMatch, query.CodeCase, query.CodeNegation, query.CodeRangeType, query.CodeOpenEnd,
	query.CodePrecision, query.CodeValue, query.CodePosition, query.CodeConflict, query.CodeLanguage}

// faithful renders a query and compares what a provider makes of it with what it means.
func faithful(t *rapid.T, g *query.Grammar, understand func(map[string][]string, query.Record) bool) {
	if err := g.Check().Err(); err != nil {
		t.Fatal(err)
	}
	n := drawNode(t, 4)
	out, err := g.Render(n)
	if err != nil {
		for _, p := range problems(err) {
			known := false
			for _, code := range reasons {
				known = known || p.Code == code
			}
			if !known || p.Text == "" || p.Path == "" || p.Hint == "" {
				t.Fatalf("%s is refused without a reason: %v", n, p)
			}
		}
		return
	}
	again, err := g.Render(n)
	if err != nil || !reflect.DeepEqual(out, again) {
		t.Fatalf("%s was rendered twice, and differently: %v and %v", n, out, again)
	}
	for range 10 {
		rec := drawRecord(t)
		if got, want := !out.Empty && understand(out.Params, rec), query.Eval(n, rec); got != want {
			t.Fatalf("%s became %s, which says %v about %v", n, line(out), got, rec)
		}
	}
}

// rounds multiplies the usual number of tries: most drawn queries are refused, and a wrong one once took thousands to find.
const rounds = 30

func TestAProviderUnderstandsWhatWasMeant(t *testing.T) {
	for range rounds {
		rapid.Check(t, func(t *rapid.T) { faithful(t, toy(t), understand) })
	}
}

func TestAProviderWithParametersUnderstandsWhatWasMeant(t *testing.T) {
	for range rounds {
		rapid.Check(t, func(t *rapid.T) { faithful(t, filters(), understandFilters) })
	}
}

// A question that is cut by whole numbers gives every record once, in the words of the provider too.
func TestPartsOfARangeLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, n := toy(t), drawNode(t, 2)
		parts := patra.IDRange{From: 1995, To: 2010}.Cut(rapid.Int64Range(1, 20).Draw(t, "parts"))
		rec := drawRecord(t)
		rec["year"] = []string{"2003"}
		found := 0
		for _, r := range parts {
			out, err := g.Render(query.BindRange(n, "year", r))
			if err != nil {
				return
			}
			if !out.Empty && understand(out.Params, rec) {
				found++
			}
		}
		if want := query.Eval(n, rec); found > 1 || (found == 1) != want {
			t.Fatalf("%s is %v about a record that %d of %d parts have", n, want, found, len(parts))
		}
	})
}

func TestNormalisingKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 4)
		once := query.Normalise(n)
		if twice := query.Normalise(once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("%s becomes %s and then %s", n, once, twice)
		}
		if n.Hash() != once.Hash() || n.Hash() != query.And(query.All(), n).Hash() || n.Hash() != query.Not(query.Not(n)).Hash() || n.Hash() != query.Or(n, n).Hash() {
			t.Fatalf("spellings of %s have different hashes", n)
		}
		for range 5 {
			if rec := drawRecord(t); query.Eval(n, rec) != query.Eval(once, rec) {
				t.Fatalf("%s and %s differ about %v", n, once, rec)
			}
		}
	})
}

func TestTextAndJSONReadBack(t *testing.T) {
	fields := europe().Fields
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 4)
		for _, f := range []query.Fields{nil, fields} {
			text := query.Format(n, f)
			back, err := query.Parse(text, f)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if back.Hash() != n.Hash() {
				t.Fatalf("%s reads back as %s", text, back)
			}
		}
		back, err := query.ParseJSON(n.JSON())
		if err != nil || string(back.JSON()) != string(n.JSON()) {
			t.Fatalf("%s reads back as %s, %v", n.JSON(), back.JSON(), err)
		}
	})
}
