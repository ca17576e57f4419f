package expr_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"patra"
	"patra/internal/expr"
)

// toy is a language that the reader understands; what it can say and what it sends as parameters is drawn.
func toy(t *rapid.T) *expr.Grammar {
	open := []expr.End{expr.EndFrom, expr.EndTo}
	stars := expr.Sentinel{From: "*", To: "*"}
	g := &expr.Grammar{
		Fields: expr.Fields{
			"text":     {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}, Match: []expr.Match{expr.MatchAny, expr.MatchPhrase, expr.MatchPrefix}},
			"title":    {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}, Match: []expr.Match{expr.MatchAny, expr.MatchPhrase}},
			"type":     {Type: expr.TypeKeyword, Ops: []expr.Op{expr.OpTerm, expr.OpIn}},
			"mesh":     {Type: expr.TypeToken, Ops: []expr.Op{expr.OpToken}},
			"abstract": {Type: expr.TypeText, Ops: []expr.Op{expr.OpExists}},
			"year":     {Type: expr.TypeNumber, Ops: []expr.Op{expr.OpRange}, Integer: true, Open: open, Sentinel: stars},
			"indexed":  {Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}, Open: open, Sentinel: stars},
			"updated":  {Type: expr.TypeDateTime, Ops: []expr.Op{expr.OpRange}, Precision: patra.UnitSecond, Upper: expr.Inclusive, Open: open, Sentinel: stars},
		},
		Rules: []expr.Rule{
			{Field: "text", Op: expr.OpTerm, Query: `TEXT:"{{v}}"`},
			{Field: "text", Op: expr.OpTerm, Match: expr.MatchPrefix, Query: `TEXT:{{v}}*`},
			{Field: "title", Op: expr.OpTerm, Query: `TITLE:"{{v}}"`},
			{Field: "type", Op: expr.OpTerm, Query: `TYPE:"{{v}}"`},
			{Field: "type", Op: expr.OpIn, Query: `IN:"{{v}}"`},
			{Field: "mesh", Op: expr.OpToken, Query: `MESH:"{{v}}"`},
			{Field: "abstract", Op: expr.OpExists, Query: "ABSTRACT:Y"},
			{Field: "year", Op: expr.OpRange, Query: "YEAR:[{{from}} TO {{to}}]"},
			{Field: "updated", Op: expr.OpRange, Query: "UPDATED:[{{from}} TO {{to}}]"},
		},
		Params:   map[string]expr.Param{"query": {Name: "q"}, "min": {Name: "min"}, "max": {Name: "max"}},
		Language: &expr.Language{Param: "query", And: "AND", Or: "OR", Escape: expr.EscapeBackslash},
	}
	dates := expr.Rule{Field: "indexed", Op: expr.OpRange, Query: "INDEXED:[{{from}} TO {{to}}]"}
	if rapid.Bool().Draw(t, "dates as parameters") {
		dates = expr.Rule{Field: "indexed", Op: expr.OpRange, Params: map[string]expr.Strings{"min": {"{{from}}"}, "max": {"{{to}}"}}}
	}
	g.Rules = append(g.Rules, dates)
	if rapid.Bool().Draw(t, "a rule for NOT") {
		g.Rules = append(g.Rules, expr.Rule{Field: "abstract", Op: expr.OpExists, Negated: true, Query: "ABSTRACT:N"},
			expr.Rule{Field: "type", Op: expr.OpIn, Negated: true, Query: `NOT IN:"{{v}}"`})
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
		g.Language.Escape = expr.EscapeRefuse
		g.Language.Refuse = `\`
	}
	return g
}

// filters has parameters only.
func filters() *expr.Grammar {
	put := func(key, text string) map[string]expr.Strings { return map[string]expr.Strings{key: {text}} }
	return &expr.Grammar{
		Fields: expr.Fields{
			"title":    {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}},
			"type":     {Type: expr.TypeKeyword, Ops: []expr.Op{expr.OpIn}},
			"abstract": {Type: expr.TypeText, Ops: []expr.Op{expr.OpExists}},
			"year":     {Type: expr.TypeNumber, Ops: []expr.Op{expr.OpRange}, Integer: true},
			"indexed":  {Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}, Open: []expr.End{expr.EndTo}},
		},
		Rules: []expr.Rule{
			{Field: "title", Op: expr.OpTerm, Params: put("title", "{{v}}")},
			{Field: "type", Op: expr.OpIn, Params: put("filter", "type:{{v}}")},
			{Field: "type", Op: expr.OpIn, Negated: true, Params: put("filter", "not-type:{{v}}")},
			{Field: "abstract", Op: expr.OpExists, Params: put("filter", "abstract:yes")},
			{Field: "abstract", Op: expr.OpExists, Negated: true, Params: put("filter", "abstract:no")},
			{Field: "year", Op: expr.OpRange, Params: put("filter", "year:{{from}}-{{to}}")},
			{Field: "indexed", Op: expr.OpRange, Params: put("filter", "since:{{from}}")},
		},
		Params: map[string]expr.Param{"title": {Name: "t"}, "filter": {Name: "filter", Join: ","}},
	}
}

var reasons = []string{expr.CodeUnknownField, expr.CodeOp, expr.CodeMatch, expr.CodeCase, expr.CodeNegation, expr.CodeRangeType, expr.CodeOpenEnd,
	expr.CodePrecision, expr.CodeValue, expr.CodePosition, expr.CodeConflict, expr.CodeLanguage}

// faithful renders a query and compares what a provider makes of it with what it means.
func faithful(t *rapid.T, g *expr.Grammar, understand func(map[string][]string, expr.Record) bool) {
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
		if got, want := !out.Empty && understand(out.Params, rec), expr.Eval(n, rec); got != want {
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
			out, err := g.Render(expr.BindRange(n, "year", r))
			if err != nil {
				return
			}
			if !out.Empty && understand(out.Params, rec) {
				found++
			}
		}
		if want := expr.Eval(n, rec); found > 1 || (found == 1) != want {
			t.Fatalf("%s is %v about a record that %d of %d parts have", n, want, found, len(parts))
		}
	})
}

func TestNormalisingKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 4)
		once := expr.Normalise(n)
		if twice := expr.Normalise(once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("%s becomes %s and then %s", n, once, twice)
		}
		if n.Hash() != once.Hash() || n.Hash() != expr.And(expr.All(), n).Hash() || n.Hash() != expr.Not(expr.Not(n)).Hash() || n.Hash() != expr.Or(n, n).Hash() {
			t.Fatalf("spellings of %s have different hashes", n)
		}
		for range 5 {
			if rec := drawRecord(t); expr.Eval(n, rec) != expr.Eval(once, rec) {
				t.Fatalf("%s and %s differ about %v", n, once, rec)
			}
		}
	})
}

func TestTextAndJSONReadBack(t *testing.T) {
	fields := europe().Fields
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, 4)
		for _, f := range []expr.Fields{nil, fields} {
			text := expr.Format(n, f)
			back, err := expr.Parse(text, f)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if back.Hash() != n.Hash() {
				t.Fatalf("%s reads back as %s", text, back)
			}
		}
		back, err := expr.ParseJSON(n.JSON())
		if err != nil || string(back.JSON()) != string(n.JSON()) {
			t.Fatalf("%s reads back as %s, %v", n.JSON(), back.JSON(), err)
		}
	})
}
