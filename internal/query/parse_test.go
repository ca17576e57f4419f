package query_test

import (
	"strings"
	"testing"

	"patra/internal/query"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`title:"heart failure" AND mesh:(Humans OR Animals) AND NOT year:[2000 TO 2010]`: `{"op":"AND","args":[` +
			`{"op":"TERM","field":"title","text":"heart failure","match":"PHRASE"},` +
			`{"op":"OR","args":[{"op":"TOKEN","kind":"mesh","text":"Humans"},{"op":"TOKEN","kind":"mesh","text":"Animals"}]},` +
			`{"op":"NOT","args":[{"op":"RANGE","field":"year","range":"NUMBER","from":{"number":2000,"kind":"CLOSED"},"to":{"number":2010,"kind":"CLOSED"}}]}]}`,
		`heart* "say \"x\" \\"`:   `{"op":"AND","args":[{"op":"TERM","field":"text","text":"heart","match":"PREFIX"},{"op":"TERM","field":"text","text":"say \"x\" \\","match":"PHRASE"}]}`,
		`type:article`:            `{"op":"TERM","field":"type","text":"article","match":"EXACT"}`,
		`type:["a b", c]`:         `{"op":"IN","field":"type","values":["a b","c"]}`,
		`abstract:*`:              `{"op":"EXISTS","field":"abstract"}`,
		`year:[* TO *]`:           `{"op":"EXISTS","field":"year"}`,
		`year:{-5 TO *]`:          `{"op":"RANGE","field":"year","range":"NUMBER","from":{"number":-5,"kind":"OPEN"}}`,
		`*`:                       `{"op":"CONST","value":true}`,
		`title:http://a.b/c`:      `{"op":"TERM","field":"title","text":"http://a.b/c","match":"ANY"}`,
		`title:=^"X"`:             `{"op":"TERM","field":"title","text":"X","match":"EXACT","caseSensitive":true}`,
		"mesh:(a -b)":             `{"op":"AND","args":[{"op":"TOKEN","kind":"mesh","text":"a"},{"op":"NOT","args":[{"op":"TOKEN","kind":"mesh","text":"b"}]}]}`,
		"a OR b c":                `{"op":"OR","args":[{"op":"TERM","field":"text","text":"a","match":"ANY"},{"op":"AND","args":[{"op":"TERM","field":"text","text":"b","match":"ANY"},{"op":"TERM","field":"text","text":"c","match":"ANY"}]}]}`,
		"indexed:2024-01-31":      `{"op":"RANGE","field":"indexed","range":"DATE","from":{"value":"2024-01-31T00:00:00.000Z","kind":"CLOSED"},"to":{"value":"2024-01-31T00:00:00.000Z","kind":"CLOSED"}}`,
		"and or":                  `{"op":"AND","args":[{"op":"TERM","field":"text","text":"and","match":"ANY"},{"op":"TERM","field":"text","text":"or","match":"ANY"}]}`,
		"title:heart-failure's\n": `{"op":"TERM","field":"title","text":"heart-failure's","match":"ANY"}`,
	} {
		n, err := query.Parse(text, europe().Fields)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if string(n.JSON()) != want {
			t.Errorf("%s became\n%s, not\n%s", text, n.JSON(), want)
		}
	}
}

func TestParseSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "1:1 QUERY_SYNTAX",
		"titel:x AND yaer:2000": "1:1 UNKNOWN_FIELD, 1:13 UNKNOWN_FIELD",
		"a AND\n  (b OR":        "2:8 QUERY_SYNTAX",
		"ä AND title:\"open":    "1:13 QUERY_SYNTAX",
		"title:":                "1:7 QUERY_SYNTAX",
		"title: x":              "1:8 QUERY_SYNTAX",
		"a AND AND b":           "1:7 QUERY_SYNTAX",
		"a AND OR":              "1:7 QUERY_SYNTAX",
		"*heart":                "1:2 QUERY_SYNTAX",
		"title:*heart":          "1:8 QUERY_SYNTAX",
		"he*rt":                 "1:4 QUERY_SYNTAX",
		"title:=x*":             "1:9 QUERY_SYNTAX",
		"mesh:(a OR title:b)":   "1:17 QUERY_SYNTAX",
		"a)":                    "1:2 QUERY_SYNTAX",
		"title:\"\"":            "1:7 QUERY_SYNTAX",
		`title:"a\n"`:           "1:7 QUERY_SYNTAX",
		"title:[1 TO 2]":        "1:1 FIELD_TYPE",
		"mesh:a*":               "1:1 FIELD_TYPE",
		"year:[a TO 5]":         "1:7 FIELD_TYPE",
		"indexed:[2024 TO *]":   "1:10 FIELD_TYPE",
		"indexed:[2024-01-01 TO 2024-01-01T10:00:00Z]": "1:24 FIELD_TYPE",
		"indexed:[2024-01-01, 2024-01-02]":             "1:1 FIELD_TYPE",
		"year:[1 TO 2":                                 "1:13 QUERY_SYNTAX",
		"year:[1 2]":                                   "1:9 QUERY_SYNTAX",
		"a\x00":                                        "1:2 QUERY_SYNTAX",
		"a\xff":                                        "1:2 QUERY_SYNTAX",
		"10:30":                                        "1:1 QUERY_SYNTAX",
		strings.Repeat("(", 100) + "a":                 "1:42 QUERY_SYNTAX",
	} {
		_, err := query.Parse(text, europe().Fields)
		if err == nil {
			t.Errorf("%q was read", text)
			continue
		}
		if got := places(err); got != want {
			t.Errorf("%q: %s, not %s\n%v", text, got, want, err)
		}
	}
	_, err := query.Parse("cancer AND titel:x", europe().Fields)
	if text := err.Error(); !strings.Contains(text, "query:1:12: this source has no field titel (UNKNOWN_FIELD). Did you mean title?") || !strings.HasSuffix(text, "\n  cancer AND titel:x\n             ^") {
		t.Error(text)
	}
	if _, err := query.Parse("cancer", query.Fields{"title": {Type: query.TypeText}}); err == nil || !strings.Contains(err.Error(), "text") {
		t.Error(err)
	}
}

func TestFormat(t *testing.T) {
	for _, text := range []string{
		`title:"heart failure" AND mesh:(Humans OR Animals) AND NOT year:[2000 TO 2010]`,
		`NOT (a OR b AND c)`, `title:~"a b"`, `type:[a, "b c"]`, `"AND" x*`, `updated:[2024-01-01T00:00:00.000Z TO *]`, `NOT (NOT a)`, `NOT *`, `type:article`, `title:^"X y"`,
	} {
		g := europe()
		n := parse(t, g, text)
		back := parse(t, g, query.Format(n, g.Fields))
		if back.Hash() != n.Hash() {
			t.Errorf("%s reads back as %s", text, back)
		}
	}
	if got := query.Format(parse(t, europe(), `a AND (b OR NOT mesh:Humans) type:x`), europe().Fields); got != `a AND (b OR NOT mesh:Humans) AND type:x` {
		t.Error(got)
	}
	if got := query.Token("mesh", "Humans").String(); got != "mesh:#Humans" {
		t.Error(got)
	}
}
