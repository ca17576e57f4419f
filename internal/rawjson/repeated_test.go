package rawjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"patra/internal/rawjson"
)

func parse(t testing.TB, text string) *rawjson.Doc {
	t.Helper()
	doc, err := rawjson.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc
}

func TestAKeyThatOccursTwice(t *testing.T) {
	var many, twice strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `,"member %03d":%d`, i*7919%300, i)
		fmt.Fprintf(&twice, `,"member %03d":%d`, i*7919%299, i)
	}
	for text, want := range map[string]string{
		`{}`: "", `[]`: "", `1`: "", `{"a":1}`: "", `{"a":{"a":{"a":1}}}`: "", `[{"a":1},{"a":1}]`: "", `{"a":1,"A":2}`: "",
		`{"abcdefgh1":1,"abcdefgh2":2}`: "", `{"b":1,"a":2}`: "", `{"":1,"\u0000":2}`: "",
		`{"a":1,"a":1}`:                                  "$.a",
		`{"a":1,"b":2,"a":3}`:                            "$.a",
		`{"a":1,"\u0061":2}`:                             "$.a",
		`{"":1,"":2}`:                                    `$[""]`,
		`{"x y":{"z":[0,{"a":1, "b":2,"a":3}]}}`:         `$["x y"].z[1].a`,
		`[[],[{"q":{"a":1}, "a":1},{"r":1,"r":[]}]]`:     "$[1][1].r",
		`{"abcdefgh1":1,"abcdefgh2":2,"abcdefgh1":3}`:    "$.abcdefgh1",
		`{"a":{"k":1,"k":2},"a":0}`:                      "$.a",
		"{" + many.String()[1:] + "}":                    "",
		"{\"p\":[{" + twice.String()[1:] + "}],\"a\":1}": `$.p[0]["member 000"]`,
	} {
		doc := parse(t, text)
		root := doc.Root()
		root.Canonical(nil)
		said := ""
		if key, ok := doc.Repeated(); ok {
			said = key.Path(root)
		}
		if said != want {
			t.Errorf("%.80q: written, it has %q twice, want %q", text, said, want)
		}
		said = ""
		if key, ok := root.RepeatedKey(rawjson.Node{}); ok {
			said = key.Path(root)
		}
		if said != want {
			t.Errorf("%.80q: searched, it has %q twice, want %q", text, said, want)
		}
	}
}

// What is left out of what is written is looked at all the same, and what is written later has nothing of what was written before.
func TestAKeyThatOccursTwiceInWhatIsLeftOut(t *testing.T) {
	doc := parse(t, `{"a":{"b":1,"b":2},"c":{"d":3}}`)
	a, _ := doc.Root().Member("a")
	c, _ := doc.Root().Member("c")
	if got := doc.Root().Canonical(nil, a); string(got) != `{"c":{"d":3}}` {
		t.Errorf("%s", got)
	}
	if key, ok := doc.Repeated(); !ok || key.Path(doc.Root()) != "$.a.b" || key.Text() != "b" {
		t.Errorf("%v, %v", key, ok)
	}
	c.Canonical(nil)
	if _, ok := doc.Repeated(); ok {
		t.Error("c has no key twice")
	}
	if _, ok := doc.Root().RepeatedKey(a); ok {
		t.Error("outside of a there is no key twice")
	}
	if n := a.Count("b"); n != 2 || a.Count("c") != 0 || c.Count("d") != 1 {
		t.Errorf("%d", n)
	}
	if _, ok := doc.Root().RepeatedMember(); ok {
		t.Error("the members of the whole have names of their own")
	}
	if key, ok := a.RepeatedMember(); !ok || key.Text() != "b" {
		t.Error("those of a have not")
	}
}

func TestWhatIsNoText(t *testing.T) {
	for text, want := range map[string]bool{
		`"a"`: true, `""`: true, `"é"`: true, `"\n\\\"\/"`: true, `"\u00e9"`: true, `"\ud83d\ude00"`: true, `"\uD83D\uDE00x"`: true, `"\ufffd"`: true, "\"\ufffd\"": true, `"\\ud800"`: true, `1`: true, `["\ud800"]`: true,
		`"\ud800"`: false, `"\ude00"`: false, `"\ud83d\ud83d\ude00"`: false, `"\ud83d\n"`: false, `"\ud83dx\ude00"`: false, `"x\ud83d\u0041"`: false, "\"\xff\"": false, "\"\\n\xc3\"": false, `"\ude00\ud83d"`: false,
	} {
		doc := parse(t, text)
		if got := doc.Root().ValidText(); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if within := parse(t, `{"b":[`+text+`],"a":1}`).Root(); text[0] == '"' && within.AllValidText(rawjson.Node{}) != want {
			t.Errorf("%q inside of others: %v", text, !want)
		} else if b, _ := within.Member("b"); !within.AllValidText(b) {
			t.Errorf("%q is left out", text)
		}
	}
}

// FuzzRepaired compares with what the standard library makes of a text: it never says that it repaired something.
func FuzzRepaired(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `{"a":{"b":[{"c":1,"c":2}]}}`, `["\ud83d\ude00"]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := rawjson.Parse(text)
		if err != nil {
			return
		}
		root := doc.Root()
		root.Canonical(nil)
		key, twice := doc.Repeated()
		if _, searched := root.RepeatedKey(rawjson.Node{}); searched != twice || twice != repeats(t, json.NewDecoder(bytes.NewReader(text))) {
			t.Fatalf("%q has a key twice: %v, %v", text, twice, searched)
		}
		if twice && key.Path(root) == "$" {
			t.Fatalf("%q: the key is nowhere", text)
		}
		if valid := root.ValidText(); root.Kind() == rawjson.String && valid && strings.ContainsRune(root.Text(), utf8.RuneError) && !bytes.Contains(text, []byte("\ufffd")) && !bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`)) {
			t.Fatalf("%q is repaired and said to be valid", text)
		}
	})
}

// repeats reads one value token by token.
func repeats(t *testing.T, dec *json.Decoder) bool {
	token, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	twice, names := false, map[string]bool{}
	for token == json.Delim('{') && dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		twice = twice || names[name.(string)]
		names[name.(string)] = true
		twice = repeats(t, dec) || twice
	}
	for token == json.Delim('[') && dec.More() {
		twice = repeats(t, dec) || twice
	}
	if token == json.Delim('{') || token == json.Delim('[') {
		if _, err := dec.Token(); err != nil {
			t.Fatal(err)
		}
	}
	return twice
}
