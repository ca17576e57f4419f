package query_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
)

// europe is a provider with a query language of the Lucene kind.
func europe() *query.Grammar {
	return &query.Grammar{
		Fields: query.Fields{
			"text":     {Type: query.TypeText, Ops: []query.Op{query.OpTerm}, Match: []query.Match{query.MatchAny, query.MatchPhrase, query.MatchPrefix}},
			"title":    {Type: query.TypeText, Ops: []query.Op{query.OpTerm}, Match: []query.Match{query.MatchAny, query.MatchPhrase}},
			"mesh":     {Type: query.TypeToken, Ops: []query.Op{query.OpToken}},
			"type":     {Type: query.TypeKeyword, Ops: []query.Op{query.OpTerm, query.OpIn}},
			"abstract": {Type: query.TypeText, Ops: []query.Op{query.OpExists}},
			"year":     {Type: query.TypeNumber, Ops: []query.Op{query.OpRange}, Integer: true, Open: []query.End{query.EndFrom, query.EndTo}, Sentinel: query.Sentinel{From: "*", To: "*"}},
			"indexed":  {Type: query.TypeDate, Ops: []query.Op{query.OpRange}},
			"updated":  {Type: query.TypeDateTime, Ops: []query.Op{query.OpRange}, Precision: patra.UnitSecond, Upper: query.Inclusive},
		},
		Rules: []query.Rule{
			{Field: "text", Op: query.OpTerm, Query: `"{{v}}"`},
			{Field: "text", Op: query.OpTerm, Match: query.MatchPrefix, Query: `{{v}}*`},
			{Field: "title", Op: query.OpTerm, Query: `TITLE:"{{v}}"`},
			{Field: "mesh", Op: query.OpToken, Query: `MESH:"{{v}}"`},
			{Field: "type", Op: query.OpTerm, Query: `PUB_TYPE:"{{v}}"`},
			{Field: "type", Op: query.OpIn, Query: `PUB_TYPE:"{{v}}"`},
			{Field: "abstract", Op: query.OpExists, Query: "HAS_ABSTRACT:Y"},
			{Field: "year", Op: query.OpRange, Query: "PUB_YEAR:[{{from}} TO {{to}}]"},
			{Field: "indexed", Op: query.OpRange, Query: "FIRST_IDATE:[{{from}} TO {{to}}]"},
			{Field: "updated", Op: query.OpRange, Query: "UPDATED:[{{from}} TO {{to}}]"},
		},
		Params:   map[string]query.Param{"query": {Name: "query"}},
		Language: &query.Language{Param: "query", And: "AND", Or: "OR", Not: "NOT", All: "*:*", Escape: query.EscapeBackslash},
	}
}

// crossref is a provider with parameters only.
func crossref() *query.Grammar {
	return &query.Grammar{
		Fields: query.Fields{
			"text":       {Type: query.TypeText, Ops: []query.Op{query.OpTerm}},
			"title":      {Type: query.TypeText, Ops: []query.Op{query.OpTerm}},
			"type":       {Type: query.TypeKeyword, Ops: []query.Op{query.OpTerm, query.OpIn}, Once: true},
			"orcid":      {Type: query.TypeKeyword, Ops: []query.Op{query.OpExists}},
			"indexed_at": {Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Open: []query.End{query.EndFrom, query.EndTo}},
			"created_at": {Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Open: []query.End{query.EndFrom, query.EndTo}},
		},
		Rules: []query.Rule{
			{Field: "text", Op: query.OpTerm, Params: map[string]query.Strings{"query": {"{{v}}"}}},
			{Field: "title", Op: query.OpTerm, Params: map[string]query.Strings{"query.title": {"{{v}}"}}},
			{Field: "type", Op: query.OpTerm, Params: map[string]query.Strings{"filter": {"type:{{v}}"}}},
			{Field: "type", Op: query.OpIn, Params: map[string]query.Strings{"filter": {"type:{{v}}"}}},
			{Field: "orcid", Op: query.OpExists, Params: map[string]query.Strings{"filter": {"has-orcid:true"}}},
			{Field: "orcid", Op: query.OpExists, Negated: true, Params: map[string]query.Strings{"filter": {"has-orcid:false"}}},
			{Field: "indexed_at", Op: query.OpRange, Params: map[string]query.Strings{"filter": {"from-index-date:{{from}}", "until-index-date:{{to}}"}}},
			{Field: "created_at", Op: query.OpRange, Params: map[string]query.Strings{"filter": {"from-created-date:{{from}}", "until-created-date:{{to}}"}}},
		},
		Params: map[string]query.Param{"filter": {Name: "filter", Join: ","}, "query": {Name: "query"}, "query.title": {Name: "query.title"}},
	}
}

// pubmed is a provider with a query language whose dates are parameters, which needs both ends, and which has no NOT
// that stands alone.
func pubmed() *query.Grammar {
	date := query.Field{Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Format: "SLASH_DATE", Open: []query.End{query.EndFrom, query.EndTo},
		Sentinel: query.Sentinel{From: "1700/01/01", To: "3000/12/31"}}
	needy := date
	needy.Open, needy.Sentinel = nil, query.Sentinel{}
	return &query.Grammar{
		Fields: query.Fields{
			"text": {Type: query.TypeText, Ops: []query.Op{query.OpTerm}, Match: []query.Match{query.MatchAny, query.MatchPhrase, query.MatchPrefix}},
			"mesh": {Type: query.TypeToken, Ops: []query.Op{query.OpToken}},
			"edat": date,
			"mdat": needy,
			"uid":  {Type: query.TypeNumber, Ops: []query.Op{query.OpRange}, Integer: true},
		},
		Rules: []query.Rule{
			{Field: "text", Op: query.OpTerm, Query: `"{{v}}"[tiab]`},
			{Field: "text", Op: query.OpTerm, Match: query.MatchPrefix, Query: `{{v}}*[tiab]`},
			{Field: "mesh", Op: query.OpToken, Query: `"{{v}}"[mh]`},
			{Field: "edat", Op: query.OpRange, Params: map[string]query.Strings{"datetype": {"edat"}, "mindate": {"{{from}}"}, "maxdate": {"{{to}}"}}},
			{Field: "mdat", Op: query.OpRange, Params: map[string]query.Strings{"datetype": {"mdat"}, "mindate": {"{{from}}"}, "maxdate": {"{{to}}"}}},
			{Field: "uid", Op: query.OpRange, Query: "{{from}}:{{to}}[uid]"},
		},
		Params:   map[string]query.Param{"term": {Name: "term"}, "datetype": {Name: "datetype"}, "mindate": {Name: "mindate"}, "maxdate": {Name: "maxdate"}},
		Language: &query.Language{Param: "term", And: "AND", Or: "OR", AndNot: "NOT", All: "all[sb]", Refuse: "*[]"},
	}
}

// parse reads a query that is right.
func parse(t testing.TB, g *query.Grammar, text string) query.Node {
	t.Helper()
	n, err := query.Parse(text, g.Fields)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ask renders a query and writes its parameters as one line.
func ask(t testing.TB, g *query.Grammar, n query.Node) string {
	t.Helper()
	out, err := g.Render(n)
	if err != nil {
		t.Fatal(err)
	}
	return line(out)
}

func line(out query.Rendered) string {
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
func refused(t testing.TB, g *query.Grammar, n query.Node, code string) {
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
