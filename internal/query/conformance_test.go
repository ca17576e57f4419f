package query_test

import (
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
)

func TestConformance01NotIsKept(t *testing.T) {
	for _, tt := range []struct {
		g    *query.Grammar
		want string
	}{
		{europe(), `query="cancer" AND NOT "surgery"`},
		{pubmed(), `term="cancer"[tiab] NOT "surgery"[tiab]`},
	} {
		if got := ask(t, tt.g, parse(t, tt.g, "cancer AND NOT surgery")); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	refused(t, crossref(), parse(t, crossref(), "cancer AND NOT title:surgery"), query.CodeNegation)
}

func TestConformance02InRendersEveryValue(t *testing.T) {
	n := query.In("type", "b", "a")
	if got := ask(t, europe(), n); got != `query=PUB_TYPE:"a" OR PUB_TYPE:"b"` {
		t.Error(got)
	}
	if got := ask(t, crossref(), n); got != "filter=type:a,type:b" {
		t.Error(got)
	}
	g := crossref()
	g.Rules[3].Join = "|"
	if got := ask(t, g, n); got != "filter=type:a|b" {
		t.Error(got)
	}
	refused(t, crossref(), query.And(n, query.In("type", "b", "c")), query.CodeConflict)
}

func TestConformance03FalseAsksNothing(t *testing.T) {
	for _, n := range []query.Node{query.Const(false), query.And(query.Term("text", "x", query.MatchAny), query.Const(false)), query.Not(query.All())} {
		for _, g := range []*query.Grammar{europe(), crossref(), pubmed()} {
			if out, err := g.Render(n); err != nil || !out.Empty || len(out.Params) > 0 {
				t.Errorf("%s became %v, %v", n, out, err)
			}
		}
	}
	if got := ask(t, europe(), query.All()); got != "query=*:*" {
		t.Errorf("everything became %s", got)
	}
	if got := ask(t, crossref(), query.All()); got != "" {
		t.Errorf("everything became %s", got)
	}
}

func TestConformance04OrOverParametersIsRefused(t *testing.T) {
	for g, texts := range map[*query.Grammar][]string{
		crossref(): {"indexed_at:[2024-01-01 TO 2024-01-31] OR created_at:[2024-01-01 TO 2024-01-31]", "cancer OR indexed_at:[2024-01-01 TO 2024-01-31]", "cancer OR title:surgery"},
		pubmed():   {"cancer OR edat:[2024-01-01 TO 2024-01-31]", "edat:[2024-01-01 TO 2024-01-02] OR edat:[2024-02-01 TO 2024-02-02]", "cancer AND (surgery OR NOT (mesh:Humans OR NOT edat:[2024-01-01 TO 2024-01-31]))"},
	} {
		for _, text := range texts {
			refused(t, g, parse(t, g, text), query.CodePosition)
		}
	}
}

func TestConformance05PhrasesKeepTheirQuotes(t *testing.T) {
	n := query.Term("title", `the "final" \ word`, query.MatchPhrase)
	if got := ask(t, europe(), n); got != `query=TITLE:"the \"final\" \\ word"` {
		t.Error(got)
	}
	g := europe()
	g.Language.Escape = query.EscapeDouble
	if got := ask(t, g, n); got != `query=TITLE:"the ""final"" \ word"` {
		t.Error(got)
	}
	g.Language.Escape = query.EscapeRefuse
	refused(t, g, n, query.CodeValue)
	if got := ask(t, pubmed(), parse(t, pubmed(), `"heart failure"`)); got != `term="heart failure"[tiab]` {
		t.Error(got)
	}
	refused(t, pubmed(), parse(t, pubmed(), `"heart fail*"`), query.CodeValue)
}

func TestConformance06BracketsAreRight(t *testing.T) {
	text := "NOT((a OR b) AND (c OR d))"
	if got := ask(t, europe(), parse(t, europe(), text)); got != `query=NOT (("a" OR "b") AND ("c" OR "d"))` {
		t.Error(got)
	}
	if got := ask(t, pubmed(), parse(t, pubmed(), text)); got != `term=all[sb] NOT (("a"[tiab] OR "b"[tiab]) AND ("c"[tiab] OR "d"[tiab]))` {
		t.Error(got)
	}
	if got := ask(t, pubmed(), parse(t, pubmed(), "x OR NOT y")); got != `term=(all[sb] NOT "y"[tiab]) OR "x"[tiab]` {
		t.Error(got)
	}
}

func TestConformance07BoundsDiffer(t *testing.T) {
	for text, want := range map[string]string{
		"indexed:[2024-01-01 TO 2024-01-31]":                       "FIRST_IDATE:[2024-01-01 TO 2024-01-31]",
		"indexed:[2024-01-01 TO 2024-02-01}":                       "FIRST_IDATE:[2024-01-01 TO 2024-01-31]",
		"indexed:{2024-01-01 TO 2024-02-01]":                       "FIRST_IDATE:[2024-01-02 TO 2024-02-01]",
		"indexed:[2024-01-01T00:00:00Z TO 2024-02-01T00:00:00Z}":   "FIRST_IDATE:[2024-01-01 TO 2024-01-31]",
		"updated:[2024-01-01T00:00:00Z TO 2024-01-01T12:00:00Z}":   "UPDATED:[2024-01-01T00:00:00Z TO 2024-01-01T11:59:59Z]",
		"updated:[2024-01-01T00:00:00Z TO 2024-01-01T12:00:00Z]":   "UPDATED:[2024-01-01T00:00:00Z TO 2024-01-01T12:00:00Z]",
		"updated:{2024-01-01T00:00:00Z TO 2024-01-01T12:00:00Z]":   "UPDATED:[2024-01-01T00:00:01Z TO 2024-01-01T12:00:00Z]",
		"updated:[2024-01-01 TO 2024-01-31]":                       "UPDATED:[2024-01-01T00:00:00Z TO 2024-01-31T23:59:59Z]",
		"year:[2000 TO 2010}":                                      "PUB_YEAR:[2000 TO 2009]",
		"year:{2000 TO 2010]":                                      "PUB_YEAR:[2001 TO 2010]",
		"year:2005":                                                "PUB_YEAR:[2005 TO 2005]",
		"indexed:[2024-02-30T00:00:00Z TO 2024-02-01T00:00:00Z}":   "",
		"indexed:[2024-01-01T12:00:00Z TO 2024-02-01T00:00:00Z}":   "refused",
		"indexed:[2024-01-01T00:00:00Z TO 2024-02-01T00:00:00Z]":   "refused",
		"updated:[2024-01-01T00:00:00.5Z TO 2024-02-01T00:00:00Z}": "refused",
	} {
		n, err := query.Parse(text, europe().Fields)
		switch {
		case want == "":
			if err == nil {
				t.Errorf("%s was read as %s", text, n)
			}
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "refused":
			refused(t, europe(), n, query.CodePrecision)
		default:
			if got := ask(t, europe(), n); got != "query="+want {
				t.Errorf("%s became %s, want %s", text, got, want)
			}
		}
	}
	g := europe()
	f := g.Fields["indexed"]
	f.Upper = query.Exclusive
	g.Fields["indexed"] = f
	if got := ask(t, g, parse(t, g, "indexed:[2024-01-01 TO 2024-01-31]")); got != "query=FIRST_IDATE:[2024-01-01 TO 2024-02-01]" {
		t.Error(got)
	}
}

// The window of a slice is the one thing that may be asked for wider than it is owned, and only by an explicit step.
func TestAWindowIsWidenedBeforeItIsRendered(t *testing.T) {
	g := europe()
	w := patra.Window{From: patra.Date(2024, 1, 1) + 3*patra.Hour, To: patra.Date(2024, 1, 2) + patra.Hour}
	refused(t, g, query.Bind(query.All(), "indexed", w), query.CodePrecision)
	if got := ask(t, g, query.Bind(query.Term("text", "cancer", query.MatchAny), "indexed", g.Widen("indexed", w))); got != `query=FIRST_IDATE:[2024-01-01 TO 2024-01-02] AND "cancer"` {
		t.Error(got)
	}
}

func TestConformance08OpenEnds(t *testing.T) {
	if got := ask(t, europe(), parse(t, europe(), "year:[2000 TO *]")); got != "query=PUB_YEAR:[2000 TO *]" {
		t.Error(got)
	}
	if got := ask(t, crossref(), parse(t, crossref(), "indexed_at:[2024-01-01 TO *]")); got != "filter=from-index-date:2024-01-01" {
		t.Error(got)
	}
	if got := ask(t, pubmed(), parse(t, pubmed(), "edat:[2024-01-01 TO *]")); got != "datetype=edat & maxdate=3000/12/31 & mindate=2024/01/01 & term=all[sb]" {
		t.Error(got)
	}
	refused(t, pubmed(), parse(t, pubmed(), "mdat:[2024-01-01 TO *]"), query.CodeOpenEnd)
}

func TestConformance09PlaceholdersInValuesAreData(t *testing.T) {
	for _, v := range []string{"{{v}}", "{{from}}", "${x}", "{{q}}", "%s"} {
		want := strings.NewReplacer(`"`, `\"`).Replace(v)
		if got := ask(t, europe(), query.And(query.Term("title", v, query.MatchPhrase), query.Not(query.Or(query.Token("mesh", v), query.Token("mesh", "x"))))); !strings.Contains(got, `TITLE:"`+want+`"`) || !strings.Contains(got, `(MESH:"`) {
			t.Error(got)
		}
		if got := ask(t, crossref(), query.Term("text", v, query.MatchAny)); got != "query="+v {
			t.Error(got)
		}
	}
}

func TestConformance10TwoRangesInOneParameter(t *testing.T) {
	got := ask(t, crossref(), parse(t, crossref(), "indexed_at:[2024-01-01 TO 2024-01-31] AND created_at:[2020-01-01 TO *] AND indexed_at:[2024-01-15 TO *]"))
	for _, part := range []string{"from-index-date:2024-01-01", "until-index-date:2024-01-31", "from-created-date:2020-01-01", "from-index-date:2024-01-15"} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
	if strings.Count(got, ",") != 3 {
		t.Error(got)
	}
	refused(t, pubmed(), parse(t, pubmed(), "edat:[2024-01-01 TO 2024-01-31] AND mdat:[2024-01-01 TO 2024-01-31]"), query.CodeConflict)
}

// A range of ids is half-open. Providers include their last number, so it is sent as the one before; and where the values
// of a field are not whole, there is no number before.
func TestConformance11RangesOfWholeNumbers(t *testing.T) {
	ids := patra.IDRange{From: 1000, To: 2000}
	for text, want := range map[string]string{
		"*":                 "term=1000:1999[uid]",
		"cancer":            `term=1000:1999[uid] AND "cancer"[tiab]`,
		"-cancer":           `term=1000:1999[uid] NOT "cancer"[tiab]`,
		"x OR -y":           `term=((all[sb] NOT "y"[tiab]) OR "x"[tiab]) AND 1000:1999[uid]`,
		"uid:[1 TO 1500]":   "term=1:1500[uid] AND 1000:1999[uid]",
		"-uid:[1 TO 1500]":  "term=1000:1999[uid] NOT 1:1500[uid]",
		"uid:{1.5 TO 2.5]":  "term=2:2[uid] AND 1000:1999[uid]", // exact: between these lies nothing else
		"uid:{1.5 TO 1.75]": "nothing",
	} {
		if got := ask(t, pubmed(), query.BindRange(parse(t, pubmed(), text), "uid", ids)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	g := pubmed()
	change := func(f func(*query.Field)) {
		field := g.Fields["uid"]
		f(&field)
		g.Fields["uid"] = field
	}
	change(func(f *query.Field) { f.Upper = query.Exclusive })
	if got := ask(t, g, query.BindRange(query.All(), "uid", ids)); got != "term=1000:2000[uid]" {
		t.Error(got)
	}
	change(func(f *query.Field) { f.Upper, f.Integer = "", false })
	refused(t, g, query.BindRange(query.All(), "uid", ids), query.CodePrecision)
	refused(t, g, parse(t, g, "uid:[1 TO 2.5}"), query.CodePrecision)
	if got := ask(t, g, parse(t, g, "uid:[1.5 TO 2.5]")); got != "term=1.5:2.5[uid]" {
		t.Error(got)
	}
}

// Outside of brackets a minus is read as an operator, or not at all.
func TestANumberBelowZeroIsNotSentAsAnOperator(t *testing.T) {
	refused(t, pubmed(), parse(t, pubmed(), "uid:[-5 TO 7]"), query.CodeValue)
	if got := ask(t, europe(), parse(t, europe(), "year:[-5 TO 7]")); got != "query=PUB_YEAR:[-5 TO 7]" {
		t.Error(got)
	}
}

func TestARangeOfIDsIsNeverRounded(t *testing.T) {
	if got := ask(t, pubmed(), query.BindRange(query.All(), "uid", patra.IDRange{From: query.MaxNumber - 1, To: query.MaxNumber})); got != "term=9007199254740990:9007199254740990[uid]" {
		t.Error(got)
	}
	for _, r := range []patra.IDRange{{From: 1, To: query.MaxNumber + 1}, {From: 1<<53 + 1, To: 1<<53 + 3}} {
		if out, err := pubmed().Render(query.BindRange(query.All(), "uid", r)); err == nil {
			t.Errorf("%s became %s", r, line(out))
		}
	}
	if got := ask(t, pubmed(), query.BindRange(query.All(), "uid", patra.IDRange{From: 7, To: 7})); got != "nothing" {
		t.Error(got)
	}
}

// A file whose IN repeats a filter says that such filters are alternatives, so two clauses cannot share it: neither two
// lists of one value nor two plain values.
func TestAlternativesAreNotAConjunction(t *testing.T) {
	g := crossref()
	f := g.Fields["type"]
	f.Once = false
	g.Fields["type"] = f
	for _, text := range []string{"type:[a] AND type:[b]", "type:a AND type:b", "type:a AND type:[a, b]"} {
		refused(t, g, parse(t, g, text), query.CodeConflict)
	}
}
