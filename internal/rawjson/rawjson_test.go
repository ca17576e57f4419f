package rawjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patra/internal/rawjson"
)

// decode and encode are the standard library, which is right.
func decode(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	return v, nil
}

func encode(t interface{ Fatal(...any) }, v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// judge compares everything that is said of a text with what the standard library says.
func judge(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text []byte) {
	want, err := decode(text)
	doc, got := rawjson.Parse(text)
	if valid := json.Valid(text); (got == nil) != valid || valid != (err == nil) {
		t.Fatalf("%q: the standard library says %v and %v, we say %v", text, valid, err, got)
	}
	if err != nil {
		return
	}
	if v := doc.Root().Value(); !reflect.DeepEqual(v, want) {
		t.Fatalf("%q is %#v, we say %#v", text, want, v)
	}
	written := encode(t, want)
	if c := doc.Root().Canonical(nil); string(c) != written {
		t.Fatalf("%q is written\n%s, we write\n%s", text, written, c)
	}
	if c, err := rawjson.Append(nil, want); err != nil || string(c) != written {
		t.Fatalf("%q is written\n%s, we write\n%s, %v", text, written, c, err)
	}
	if object, ok := want.(map[string]any); ok {
		quick, _ := rawjson.Parse(text)
		quick.Remember(quick.Root())
		if c := quick.Root().Canonical(nil); string(c) != written {
			t.Fatalf("%q is written\n%s, we write what is remembered\n%s", text, written, c)
		}
		if _, ok := quick.Root().Member("no such name"); ok {
			t.Fatalf("%q has what it has not", text)
		}
		for name, value := range object {
			n, ok := doc.Root().Member(name)
			if !ok || !reflect.DeepEqual(n.Value(), value) {
				t.Fatalf("%q: member %q", text, name)
			}
			if n, ok := quick.Root().Member(name); !ok || !reflect.DeepEqual(n.Value(), value) {
				t.Fatalf("%q: member %q is not remembered", text, name)
			}
			rest := map[string]any{}
			for k, v := range object {
				if k != name {
					rest[k] = v
				}
			}
			if c := doc.Root().Canonical(nil, n); string(c) != encode(t, rest) {
				t.Fatalf("%q without %q is %s, we write %s", text, name, encode(t, rest), c)
			}
		}
	}
	judgeInside(t, doc, text)
	if list, ok := want.([]any); ok {
		for i, value := range list {
			front, ok := doc.Root().Element(i)
			back, same := doc.Root().Element(i - len(list))
			if !ok || !same || front != back || !reflect.DeepEqual(front.Value(), value) {
				t.Fatalf("%q: element %d", text, i)
			}
		}
		if _, ok := doc.Root().Element(len(list)); ok {
			t.Fatalf("%q has one element too many", text)
		}
		if _, ok := doc.Root().Element(-len(list) - 1); ok {
			t.Fatalf("%q has one element too many before the first", text)
		}
	}
}

// judgeInside leaves out what is a member of a member.
func judgeInside(t interface{ Fatalf(string, ...any) }, doc *rawjson.Doc, text []byte) {
	var outer map[string]map[string]any
	if json.Unmarshal(text, &outer) != nil {
		return
	}
	for name, object := range outer {
		for inner := range object {
			parent, _ := doc.Root().Member(name)
			if parent.Kind() != rawjson.Object {
				continue
			}
			n, _ := parent.Member(inner)
			left, err := rawjson.Parse(doc.Root().Canonical(nil, n))
			if err != nil {
				t.Fatalf("%q without %q in %q: %v", text, inner, name, err)
			}
			if parent, _ := left.Root().Member(name); parent.Kind() != rawjson.Object {
				t.Fatalf("%q without %q in %q has no %q", text, inner, name, name)
			} else if _, still := parent.Member(inner); still {
				t.Fatalf("%q without %q in %q still has it", text, inner, name)
			}
		}
	}
}

var samples = []string{
	`null`, `true`, `false`, ` 0 `, `-0`, `-`, `01`, `1.`, `1.5e+7`, `1e`, `.5`, `+1`, `1 2`, `"a`, `"a"`, `"a\`, `"\u12"`, `"\u00e9\ud83d\ude00\ud83d"`, "\"\xff\"", "\"\x01\"", "\"\x7f\"",
	`"\/\b\f\n\r\t\"\\"`, "\"\u2028 \u2029\"", `"\u2028"`, `[]`, `[1,]`, `[,1]`, `[1 2]`, `[[],{}]`, `{}`, `{"a":1}`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{"b":1,"a":{"z":[1,2,{"y":null}]}}`,
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2,"b":0}`, `{"é":1,"e":2,"\u00e8":3}`, `{"":1}`, "{\"\xff\":1,\"\ufffd\":2}", `tru`, `nul`, `falsey`, ``, ` `, `[`, `{`, `{"a":`, `{"a":1`, `<html>`, `NaN`, "\ufeff1",
	`{"x":"<&>"}`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\uD83D\uDE00\uFFFD\ufffe"`, `"http:\/\/x\u0000\u001f"`, "\"a\\n\xe2\x80\xa8\xff\xe2\"", `"\ud83d\n"`, `"\ud83dx"`, `123456789012345678901234567890`, `1e400`, strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
}

func TestEveryTextMeansWhatTheStandardLibrarySays(t *testing.T) {
	for _, s := range samples {
		judge(t, []byte(s))
	}
}

// Texts are walked eight bytes at a time: whatever is special is so wherever it stands among them.
func TestSpecialBytesAreSeenEverywhere(t *testing.T) {
	for _, special := range []string{`"`, `\n`, `\/`, `\u00e9`, `\u2028`, `\x`, "\x00", "\x1f", "\x7f", "\x80", "\xff", "é", "\u2028", "\u2029", "‐", "東雲", "!", "[", "]", " "} {
		for before := range 18 {
			for after := range 18 {
				text := strings.Repeat("a", before) + special + strings.Repeat("~", after)
				judge(t, []byte(`"`+text+`"`))
				judge(t, []byte(`{"`+text+`":"`+text+`","b":0}`))
			}
		}
	}
}

// A space anywhere, or two names that change places, and the text is not as it is written.
func TestTheSameIsWrittenInOneWay(t *testing.T) {
	const text = `{"a":[1,"x",{"b":true,"ba":null}],"abcdefghi":{},"abcdefghij":{"c":{"d":[]}},"abcdefgi":-0.5e3,"b":"é"}`
	for at := range text {
		for _, more := range []string{" ", "\n", "\t "} {
			judge(t, []byte(text[:at]+more+text[at:]))
		}
	}
	judge(t, []byte(`{"abcdefghij":1,"abcdefghi":2,"abcdefgh":3,"abcdefgh\u0000":4,"abcdefg":5}`))
	judge(t, []byte(`{"a":{"b":1,"b":2},"abcdefgh1":{"x":[{"z":1,"y":2}]}}`))
	var many strings.Builder
	for i := range 300 { // more than are sorted one by one, and some of them twice
		fmt.Fprintf(&many, `,"member %d":%d`, i*7919%211, i)
	}
	judge(t, []byte("{"+many.String()[1:]+"}"))
}

func FuzzMeaning(f *testing.F) {
	for _, s := range samples {
		if len(s) < 1000 {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { judge(t, text) })
}

// drawn is any value, deep and wide.
func drawn(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64().Draw(t, "number")
	case 3, 4:
		return rapid.String().Draw(t, "text")
	case 5:
		list := make([]any, rapid.IntRange(0, 5).Draw(t, "length"))
		for i := range list {
			list[i] = drawn(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		object[rapid.StringN(0, 6, -1).Draw(t, "name")] = drawn(t, depth-1)
	}
	return object
}

func TestDrawnValuesMeanWhatTheyMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.MarshalIndent(drawn(t, 3), "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		judge(t, text)
	})
}

// A document is used again for the next text, and nothing of the former one is left.
func TestADocumentIsUsedAgain(t *testing.T) {
	var d rawjson.Doc
	for _, s := range samples {
		if err := d.Reset([]byte(s)); (err == nil) != json.Valid([]byte(s)) {
			t.Errorf("%q: %v", s, err)
		} else if want, err := decode([]byte(s)); err == nil && !reflect.DeepEqual(d.Root().Value(), want) {
			t.Errorf("%q is %v", s, d.Root().Value())
		}
	}
}
