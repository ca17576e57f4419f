package query_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patra"
	"patra/internal/query"
)

// Stored plans and cursors carry these hashes, so they never change.
func TestTheStoredFormIsStable(t *testing.T) {
	w := patra.Window{From: patra.Date(2026, 1, 1), To: patra.Date(2026, 1, 2)}
	for _, tt := range []struct {
		n          query.Node
		json, hash string
	}{
		{query.All(), `{"op":"CONST","value":true}`, "254c0a3d033d438277df044ffbe001aab5469e03efb5672f779158609126a708"},
		{query.Bind(query.All(), "indexed_at", w), `{"op":"RANGE","field":"indexed_at","from":{"value":"2026-01-01T00:00:00.000Z","kind":"CLOSED"},"to":{"value":"2026-01-02T00:00:00.000Z","kind":"OPEN"}}`, "6b1f5501605101e28603997e52fe0d7d9f5126bbb63ab73722e3d29c93b65c41"},
		{query.BindRange(query.All(), "uid", patra.IDRange{From: 1, To: 1000}), `{"op":"RANGE","field":"uid","range":"NUMBER","from":{"number":1,"kind":"CLOSED"},"to":{"number":1000,"kind":"OPEN"}}`, "37080a63f06018b62a0ad4bd4dbf04e424267268949c36b3cb2398de95680703"},
	} {
		if string(tt.n.JSON()) != tt.json || tt.n.Hash() != tt.hash {
			t.Errorf("%s %s", tt.n.JSON(), tt.n.Hash())
		}
	}
	x := query.Term("title", "x", query.MatchAny)
	if bound := query.Bind(x, "indexed_at", w); bound.Op != query.OpAnd || len(bound.Args) != 2 {
		t.Error(bound)
	}
}

func TestJSONIsReadStrictly(t *testing.T) {
	deep := strings.Repeat(`{"op":"NOT","args":[`, 50) + `{"op":"CONST","value":true}` + strings.Repeat(`]}`, 50)
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"op":"CONST"}`, `{"op":"XOR"}`, `{"op":"CONST","value":true} {}`,
		`{"op":"CONST","value":true,"why":1}`, `{"OP":"CONST","value":true}`, `{"op":"CONST","value":true,"value":false}`,
		`{"op":"AND","args":[]}`, `{"op":"AND","args":[null]}`, `{"op":"NOT","args":[{"op":"CONST","value":true},{"op":"CONST","value":true}]}`,
		`{"op":"TERM","field":"title","text":"x"}`, `{"op":"TERM","field":"ti tle","text":"x","match":"ANY"}`, `{"op":"TERM","field":"title","text":" ","match":"ANY"}`,
		`{"op":"TERM","field":"title","text":"a\nb","match":"ANY"}`, `{"op":"TERM","field":"title","text":"x","match":"ANY","values":["y"]}`,
		`{"op":"IN","field":"type","values":[]}`, `{"op":"RANGE","field":"year"}`, `{"op":"RANGE","field":"year","from":{"kind":"OPEN"}}`,
		`{"op":"RANGE","field":"year","range":"NUMBER","from":{"value":"2024-01-01","kind":"OPEN"}}`, `{"op":"RANGE","field":"year","from":{"number":5,"kind":"OPEN"}}`,
		`{"op":"RANGE","field":"year","range":"NUMBER","from":{"number":1e300,"kind":"OPEN"}}`, `{"op":"RANGE","field":"day","range":"DATE","from":{"value":"2024-01-01T01:00:00Z","kind":"OPEN"}}`,
		`{"op":"RANGE","field":"year","range":"NUMBER","from":{"number":5,"kind":"HALF"}}`, `{"op":"TOKEN","field":"mesh","text":"x"}`, deep,
		`{"op":"TERM","field":"title","text":"` + strings.Repeat("x", 5000) + `","match":"ANY"}`,
	} {
		if n, err := query.ParseJSON([]byte(text)); err == nil {
			t.Errorf("%.80s was read as %s", text, n)
		}
	}
}

func TestEval(t *testing.T) {
	rec := query.Record{"title": {"Heart-failure in mice"}, "text": {"COVID"}, "type": {"article"}, "mesh": {"Humans"}, "year": {"2005"}, "day": {"2024-01-31T15:00:00Z"}}
	for text, want := range map[string]bool{
		`title:"heart failure"`: true, `title:"failure heart"`: false, `title:fail*`: true, `title:fail`: false, `title:="heart-FAILURE in mice"`: true, `title:~"cats mice"`: true,
		`title:=^"heart-failure in mice"`: false, `covid`: true, `^covid`: false, `-covid`: false, `type:[book, article]`: true, `type:[Article]`: false,
		`mesh:#Humans`: true, `mesh:*`: true, `none:*`: false, `year:[2000 TO 2005}`: false, `year:[2000 TO 2005.0]`: true, `year:{* TO 2004.5}`: false,
		`day:[2024-01-01 TO 2024-01-31]`: true, `day:[2024-01-01T00:00:00Z TO 2024-01-31T00:00:00Z]`: false, `title:[1 TO 5]`: false,
		`covid OR x AND y`: true, `(covid OR x) AND y`: false, `NOT *`: false, `NOT NOT covid`: true,
	} {
		n, err := query.Parse(text, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if query.Eval(n, rec) != want {
			t.Errorf("%s is %v", text, !want)
		}
	}
}

// A query at the limit of depth still takes a window, and reads back with it.
func TestAWindowAlwaysFits(t *testing.T) {
	n := query.Term("text", "x", query.MatchAny)
	for range 40 {
		n = query.Or(n, query.Exists("abstract"))
	}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := query.Not(n).Validate(); err == nil {
		t.Error("deeper than the limit")
	}
	bound := query.Bind(n, "indexed", patra.Window{From: day0, To: day0 + patra.Day})
	for _, bound := range []query.Node{bound, query.BindRange(bound, "year", patra.IDRange{From: 1, To: 9})} {
		var back query.Node
		if err := json.Unmarshal(bound.JSON(), &back); err != nil || back.Hash() != bound.Hash() {
			t.Error(err)
		}
		if _, err := europe().Render(bound); err != nil {
			t.Error(err)
		}
	}
	if _, err := query.ParseJSON(bound.JSON()); err == nil {
		t.Error("a query deeper than the limit")
	}
}

// A cursor knows by its name that it is about everything.
func TestTheQuestionForAllIsKnown(t *testing.T) {
	for n, want := range map[string]bool{query.All().Hash(): true, query.Const(false).Hash(): false} {
		if got := patra.HarvestNamespace("demo", "works", "changed", n, nil).AsksForAll(); got != want {
			t.Errorf("%s: %v", n, got)
		}
	}
}
