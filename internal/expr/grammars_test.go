package expr_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/expr"
)

// europe is a provider with a query language of the Lucene kind.
func europe() *expr.Grammar {
	return &expr.Grammar{
		Fields: expr.Fields{
			"text":     {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}, Match: []expr.Match{expr.MatchAny, expr.MatchPhrase, expr.MatchPrefix}},
			"title":    {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}, Match: []expr.Match{expr.MatchAny, expr.MatchPhrase}},
			"mesh":     {Type: expr.TypeToken, Ops: []expr.Op{expr.OpToken}},
			"type":     {Type: expr.TypeKeyword, Ops: []expr.Op{expr.OpTerm, expr.OpIn}},
			"abstract": {Type: expr.TypeText, Ops: []expr.Op{expr.OpExists}},
			"year":     {Type: expr.TypeNumber, Ops: []expr.Op{expr.OpRange}, Integer: true, Open: []expr.End{expr.EndFrom, expr.EndTo}, Sentinel: expr.Sentinel{From: "*", To: "*"}},
			"indexed":  {Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}},
			"updated":  {Type: expr.TypeDateTime, Ops: []expr.Op{expr.OpRange}, Precision: patra.UnitSecond, Upper: expr.Inclusive},
		},
		Rules: []expr.Rule{
			{Field: "text", Op: expr.OpTerm, Query: `"{{v}}"`},
			{Field: "text", Op: expr.OpTerm, Match: expr.MatchPrefix, Query: `{{v}}*`},
			{Field: "title", Op: expr.OpTerm, Query: `TITLE:"{{v}}"`},
			{Field: "mesh", Op: expr.OpToken, Query: `MESH:"{{v}}"`},
			{Field: "type", Op: expr.OpTerm, Query: `PUB_TYPE:"{{v}}"`},
			{Field: "type", Op: expr.OpIn, Query: `PUB_TYPE:"{{v}}"`},
			{Field: "abstract", Op: expr.OpExists, Query: "HAS_ABSTRACT:Y"},
			{Field: "year", Op: expr.OpRange, Query: "PUB_YEAR:[{{from}} TO {{to}}]"},
			{Field: "indexed", Op: expr.OpRange, Query: "FIRST_IDATE:[{{from}} TO {{to}}]"},
			{Field: "updated", Op: expr.OpRange, Query: "UPDATED:[{{from}} TO {{to}}]"},
		},
		Params:   map[string]expr.Param{"query": {Name: "query"}},
		Language: &expr.Language{Param: "query", And: "AND", Or: "OR", Not: "NOT", All: "*:*", Escape: expr.EscapeBackslash},
	}
}

// crossref is a provider with parameters only.
func crossref() *expr.Grammar {
	return &expr.Grammar{
		Fields: expr.Fields{
			"text":       {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}},
			"title":      {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}},
			"type":       {Type: expr.TypeKeyword, Ops: []expr.Op{expr.OpTerm, expr.OpIn}, Once: true},
			"orcid":      {Type: expr.TypeKeyword, Ops: []expr.Op{expr.OpExists}},
			"indexed_at": {Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}, Open: []expr.End{expr.EndFrom, expr.EndTo}},
			"created_at": {Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}, Open: []expr.End{expr.EndFrom, expr.EndTo}},
		},
		Rules: []expr.Rule{
			{Field: "text", Op: expr.OpTerm, Params: map[string]expr.Strings{"query": {"{{v}}"}}},
			{Field: "title", Op: expr.OpTerm, Params: map[string]expr.Strings{"query.title": {"{{v}}"}}},
			{Field: "type", Op: expr.OpTerm, Params: map[string]expr.Strings{"filter": {"type:{{v}}"}}},
			{Field: "type", Op: expr.OpIn, Params: map[string]expr.Strings{"filter": {"type:{{v}}"}}},
			{Field: "orcid", Op: expr.OpExists, Params: map[string]expr.Strings{"filter": {"has-orcid:true"}}},
			{Field: "orcid", Op: expr.OpExists, Negated: true, Params: map[string]expr.Strings{"filter": {"has-orcid:false"}}},
			{Field: "indexed_at", Op: expr.OpRange, Params: map[string]expr.Strings{"filter": {"from-index-date:{{from}}", "until-index-date:{{to}}"}}},
			{Field: "created_at", Op: expr.OpRange, Params: map[string]expr.Strings{"filter": {"from-created-date:{{from}}", "until-created-date:{{to}}"}}},
		},
		Params: map[string]expr.Param{"filter": {Name: "filter", Join: ","}, "query": {Name: "query"}, "query.title": {Name: "query.title"}},
	}
}

// pubmed is a provider with a query language whose dates are parameters, which needs both ends, and which has no NOT
// that stands alone.
func pubmed() *expr.Grammar {
	date := expr.Field{Type: expr.TypeDate, Ops: []expr.Op{expr.OpRange}, Format: "SLASH_DATE", Open: []expr.End{expr.EndFrom, expr.EndTo},
		Sentinel: expr.Sentinel{From: "1700/01/01", To: "3000/12/31"}}
	needy := date
	needy.Open, needy.Sentinel = nil, expr.Sentinel{}
	return &expr.Grammar{
		Fields: expr.Fields{
			"text": {Type: expr.TypeText, Ops: []expr.Op{expr.OpTerm}, Match: []expr.Match{expr.MatchAny, expr.MatchPhrase, expr.MatchPrefix}},
			"mesh": {Type: expr.TypeToken, Ops: []expr.Op{expr.OpToken}},
			"edat": date,
			"mdat": needy,
			"uid":  {Type: expr.TypeNumber, Ops: []expr.Op{expr.OpRange}, Integer: true},
		},
		Rules: []expr.Rule{
			{Field: "text", Op: expr.OpTerm, Query: `"{{v}}"[tiab]`},
			{Field: "text", Op: expr.OpTerm, Match: expr.MatchPrefix, Query: `{{v}}*[tiab]`},
			{Field: "mesh", Op: expr.OpToken, Query: `"{{v}}"[mh]`},
			{Field: "edat", Op: expr.OpRange, Params: map[string]expr.Strings{"datetype": {"edat"}, "mindate": {"{{from}}"}, "maxdate": {"{{to}}"}}},
			{Field: "mdat", Op: expr.OpRange, Params: map[string]expr.Strings{"datetype": {"mdat"}, "mindate": {"{{from}}"}, "maxdate": {"{{to}}"}}},
			{Field: "uid", Op: expr.OpRange, Query: "{{from}}:{{to}}[uid]"},
		},
		Params:   map[string]expr.Param{"term": {Name: "term"}, "datetype": {Name: "datetype"}, "mindate": {Name: "mindate"}, "maxdate": {Name: "maxdate"}},
		Language: &expr.Language{Param: "term", And: "AND", Or: "OR", AndNot: "NOT", All: "all[sb]", Refuse: "*[]"},
	}
}

// parse reads a query that is right.
func parse(t testing.TB, g *expr.Grammar, text string) expr.Node {
	t.Helper()
	n, err := expr.Parse(text, g.Fields)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ask renders a query and writes its parameters as one line.
func ask(t testing.TB, g *expr.Grammar, n expr.Node) string {
	t.Helper()
	out, err := g.Render(n)
	if err != nil {
		t.Fatal(err)
	}
	return line(out)
}

func line(out expr.Rendered) string {
	if out.Empty {
		return "nothing"
	}
	var parts []string
	for _, name := range sortedKeys(out.Params) {
		for _, v := range out.Params[name] {
			parts = append(parts, name+"="+v)
		}
	}
	return strings.Join(parts, " & ")
}

// refused renders a query that must be refused with the code.
func refused(t testing.TB, g *expr.Grammar, n expr.Node, code string) {
	t.Helper()
	out, err := g.Render(n)
	if err == nil {
		t.Fatalf("%s was rendered as %s", n, line(out))
	}
	for _, p := range problems(err) {
		if p.Code == code && p.Text != "" && p.Hint != "" && p.Path != "" {
			return
		}
	}
	t.Fatalf("%s was refused for another reason: %v", n, err)
}
