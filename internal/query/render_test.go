package query_test

import (
	"reflect"
	"slices"
	"testing"

	"patra"
	"patra/internal/query"
)

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		g          *query.Grammar
		text, want string
	}{
		{europe(), `title:"heart failure" AND mesh:(Humans OR Animals) AND NOT year:[2000 TO 2010]`, `query=(MESH:"Animals" OR MESH:"Humans") AND TITLE:"heart failure" AND NOT PUB_YEAR:[2000 TO 2010]`},
		{europe(), `title:~"heart failure" x`, `query="x" AND (TITLE:"heart" OR TITLE:"failure")`},
		{europe(), `heart* abstract:*`, `query=HAS_ABSTRACT:Y AND heart*`},
		{europe(), `"c++"*`, `query=c\+\+*`},
		{europe(), `year:[2010 TO 2000]`, `nothing`},
		{europe(), `x OR year:[2010 TO 2000]`, `query="x"`},
		{europe(), `indexed:[9999-12-01 TO 9999-12-31]`, `query=FIRST_IDATE:[9999-12-01 TO 9999-12-31]`},
		{crossref(), `cancer title:surgery type:article indexed_at:[2024-01-01 TO 2024-01-31] orcid:*`, `filter=has-orcid:true,from-index-date:2024-01-01,until-index-date:2024-01-31,type:article & query=cancer & query.title=surgery`},
		{crossref(), `NOT (indexed_at:[2024-01-02 TO 2024-01-01] OR orcid:*)`, `filter=has-orcid:false`},
		{pubmed(), `"heart failure" mesh:Humans edat:[2024-01-01 TO 2024-02-01}`, `datetype=edat & maxdate=2024/01/31 & mindate=2024/01/01 & term="heart failure"[tiab] AND "Humans"[mh]`},
		{pubmed(), `-a -b`, `term=all[sb] NOT "a"[tiab] NOT "b"[tiab]`},
	} {
		if got := ask(t, tt.g, parse(t, tt.g, tt.text)); got != tt.want {
			t.Errorf("%s became\n%s, not\n%s", tt.text, got, tt.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	sensitive := query.Term("title", "x", query.MatchAny)
	sensitive.CaseSensitive = true
	lonely := pubmed()
	lonely.Language.All = ""
	wordless := europe()
	wordless.Language.Or = ""
	never := europe()
	f := never.Fields["mesh"]
	f.Negate = &query.Negate{}
	never.Fields["mesh"] = f
	since := crossref()
	since.Rules[6].Params = map[string]query.Strings{"filter": {"from-index-date:{{from}}"}}
	for _, tt := range []struct {
		g    *query.Grammar
		n    query.Node
		code string
	}{
		{europe(), query.Term("titel", "x", query.MatchAny), query.CodeUnknownField},
		{europe(), query.Exists("title"), query.CodeOp},
		{europe(), query.And(query.Const(false), query.Exists("title")), query.CodeOp},
		{europe(), query.Term("title", "x", query.MatchPrefix), query.CodeMatch},
		{europe(), sensitive, query.CodeCase},
		{europe(), query.Range("year", query.RangeDate, query.At(day0, query.Closed), nil), query.CodeRangeType},
		{europe(), query.Range("updated", "", query.At(day0, query.Closed), nil), query.CodeOpenEnd},
		{europe(), query.Term("text", "a b", query.MatchPrefix), query.CodeValue},
		{europe(), query.Term("text", "not", query.MatchPrefix), query.CodeValue},
		{pubmed(), query.Term("text", "a+b", query.MatchPrefix), query.CodeValue},
		{crossref(), query.In("type", "a,b"), query.CodeValue},
		{crossref(), parse(t, crossref(), "type:a type:b"), query.CodeConflict},
		{crossref(), parse(t, crossref(), "a b"), query.CodeConflict},
		{lonely, parse(t, lonely, "-a"), query.CodeLanguage},
		{lonely, parse(t, lonely, "x OR -a"), query.CodeLanguage},
		{wordless, parse(t, wordless, "a OR b"), query.CodeLanguage},
		{never, parse(t, never, "x AND NOT (y OR mesh:Humans)"), query.CodeNegation},
		{since, parse(t, since, "indexed_at:[2024-01-01 TO 2024-01-31]"), query.CodeOpenEnd},
		{crossref(), parse(t, crossref(), "NOT cancer"), query.CodeNegation},
		{crossref(), query.Bind(query.All(), "indexed_at", patra.Window{From: day0, To: day0 + patra.Hour}), query.CodePrecision},
	} {
		refused(t, tt.g, tt.n, tt.code)
	}
}

// Every bad clause is named, not only the first.
func TestAllRefusalsAtOnce(t *testing.T) {
	_, err := crossref().Render(query.And(query.Exists("title"), query.Not(query.Exists("text")), query.Token("mesh", "x")))
	var paths []string
	for _, p := range problems(err) {
		paths = append(paths, p.Path)
	}
	if !slices.Equal(paths, []string{"title:*", "text:*", "mesh:#x"}) {
		t.Error(paths)
	}
}

func TestClausesTellWhatBecameOfThem(t *testing.T) {
	out, err := pubmed().Render(parse(t, pubmed(), "cancer -mesh:Animals edat:[2024-01-01 TO 2024-01-31]"))
	if err != nil {
		t.Fatal(err)
	}
	want := []query.Clause{
		{Text: "edat:[2024-01-01 TO 2024-01-31]", Rule: "render[3]", Params: map[string][]string{"datetype": {"edat"}, "mindate": {"2024/01/01"}, "maxdate": {"2024/01/31"}}},
		{Text: "mesh:Animals", Negated: true, Rule: "render[2]", Fragment: `"Animals"[mh]`},
		{Text: "cancer", Rule: "render[0]", Fragment: `"cancer"[tiab]`},
	}
	if !reflect.DeepEqual(out.Clauses, want) {
		t.Errorf("%+v", out.Clauses)
	}
}

func TestTransformAndRepeat(t *testing.T) {
	g := crossref()
	g.Params["filter"] = query.Param{Name: "fq", Repeat: true, Transform: query.Strings{"LOWER"}}
	if got := ask(t, g, parse(t, g, "type:[Article, Book] orcid:*")); got != "fq=has-orcid:true & fq=type:article & fq=type:book" {
		t.Error(got)
	}
}
