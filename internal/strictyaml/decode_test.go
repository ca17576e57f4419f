package strictyaml_test

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/ast"

	"patra"
	"patra/internal/strictyaml"
)

// span reads "3 days" style text and refuses everything else in words.
type span int

func (s *span) UnmarshalText(text []byte) error {
	var n int
	if _, err := fmt.Sscanf(string(text), "%dd", &n); err != nil {
		return fmt.Errorf("%q is not a number of days such as 3d", text)
	}
	*s = span(n)
	return nil
}

// either is a text, or a mapping with a limit: the shape decides.
type either struct {
	Name  string
	Limit int
}

func (e *either) UnmarshalYAML(read func(any) error) error {
	if err := read(&e.Name); err == nil {
		return nil
	}
	var long struct {
		Limit int `yaml:"limit"`
	}
	if err := read(&long); err != nil {
		return err
	}
	e.Limit = long.Limit
	return nil
}

type lineOf int

func (l *lineOf) UnmarshalYAML(n ast.Node) error {
	*l = lineOf(n.GetToken().Position.Line)
	return nil
}

type rawText string

func (r *rawText) UnmarshalYAML(text []byte) error {
	if strings.Contains(string(text), "refuse") {
		return errors.New("this is refused")
	}
	*r = rawText(text)
	return nil
}

type shared struct {
	Owner string `yaml:"owner"`
}

type paging struct {
	Type string `yaml:"type"`
	Size int    `yaml:"size"`
}

type endpoint struct {
	URL        string            `yaml:"url"`
	Params     map[string]string `yaml:"params"`
	Pagination *paging           `yaml:"pagination"`
}

type schedule struct {
	Cron string `yaml:"cron"`
	On   bool   `yaml:"on"`
}

type root struct {
	shared    `yaml:",inline"`
	Name      string              `yaml:"name"`
	Endpoints map[string]endpoint `yaml:"endpoints"`
	Schedules []schedule          `yaml:"schedules"`
	Span      span                `yaml:"span"`
	Wait      time.Duration       `yaml:"wait"`
	Either    either              `yaml:"either"`
	Line      lineOf              `yaml:"line"`
	Raw       rawText             `yaml:"raw"`
	Small     int8                `yaml:"small"`
	Count     uint16              `yaml:"count"`
	Ratio     float64             `yaml:"ratio"`
	Ready     *bool               `yaml:"ready"`
	Any       any                 `yaml:"any"`
	Secret    string              `yaml:"-"`
	NoTag     string
}

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name string
		yaml string
		want []string
	}{
		{"nothing", "", nil},
		{"only a comment", "# nothing\n", nil},
		{"only a header", "---\n", nil},
		{"header and end", "# hi\n---\nname: x\n...\n", nil},
		{"typing slip", "nmae: x\n", []string{
			`s.yaml:1:1: unknown key "nmae" (UNKNOWN_KEY at nmae). Did you mean "name"?`}},
		{"slip deep inside", "endpoints:\n  works:\n    pagination:\n      type: page\n      sise: 3\n", []string{
			`s.yaml:5:7: unknown key "sise" (UNKNOWN_KEY at endpoints.works.pagination.sise). Did you mean "size"?`}},
		{"nothing near, few keys", "schedules:\n- {cron: x,\n   colour: red}\n", []string{
			`s.yaml:3:4: unknown key "colour" (UNKNOWN_KEY at schedules[0].colour). The keys here are cron, on`}},
		{"nothing near, many keys", "zzzzzz: 1\n", []string{
			`s.yaml:1:1: unknown key "zzzzzz" (UNKNOWN_KEY at zzzzzz)`}},
		{"fields without a tag are no keys", "notag: 1\nsecret: 2\n-: 3\n", []string{
			`s.yaml:1:1: unknown key "notag" (UNKNOWN_KEY at notag)`,
			`s.yaml:2:1: unknown key "secret" (UNKNOWN_KEY at secret)`,
			`s.yaml:3:1: unknown key "-" (UNKNOWN_KEY at -)`}},
		{"quoted key with a dot", "endpoints:\n  \"a.b\": {uri: x}\n", []string{
			`s.yaml:2:11: unknown key "uri" (UNKNOWN_KEY at endpoints["a.b"].uri). Did you mean "url"?`}},
		{"duplicate", "name: a\nspan: 1d\nname: b\n", []string{
			`s.yaml:3:1: the key "name" is given twice, first on line 1 (DUPLICATE_KEY at name). Keep one of the two`}},
		{"duplicate in a free mapping", "endpoints:\n  a: {url: x}\n  a: {url: y}\n", []string{
			`s.yaml:3:3: the key "a" is given twice, first on line 2 (DUPLICATE_KEY at endpoints.a). Keep one of the two`}},
		{"single value for a mapping is not shown", "endpoints: mysql://u:secret@h\n", []string{
			`s.yaml:1:12: expected a mapping, found a single value (WRONG_TYPE at endpoints)`}},
		{"list for the whole", "- a\n- b\n", []string{
			`s.yaml:1:1: expected a mapping, found a list (WRONG_TYPE)`}},
		{"mapping for a list", "schedules:\n  cron: x\n", []string{
			`s.yaml:1:1: expected a list, found a mapping (WRONG_TYPE at schedules)`}},
		{"mapping for a text", "name:\n  first: x\n", []string{
			`s.yaml:1:1: expected text, found a mapping (WRONG_TYPE at name)`}},
		{"list for a number", "small: [1]\n", []string{
			`s.yaml:1:1: expected a whole number, found a list (WRONG_TYPE at small)`}},
		{"mapping for a text type", "span: {days: 3}\n", []string{
			`s.yaml:1:1: expected a single value, found a mapping (WRONG_TYPE at span)`}},
		{"text for a number", "small:\n  four\n", []string{
			`s.yaml:2:3: expected a whole number, found the text "four" (WRONG_TYPE at small)`}},
		{"quoted number", "small: '4'\n", []string{
			`s.yaml:1:8: expected a whole number, found the text "4" (WRONG_TYPE at small). Remove the quotes`}},
		{"fraction for a whole number", "small: 4.5\n", []string{
			`s.yaml:1:8: expected a whole number, found 4.5 (WRONG_TYPE at small)`}},
		{"leading zero", "count: 010\n", []string{
			`s.yaml:1:8: expected a whole number, found the text "010" (WRONG_TYPE at count). Leave out the leading zero`}},
		{"too large and below zero", "small: 300\ncount: -1\n", []string{
			`s.yaml:1:8: expected a whole number from -128 to 127, found 300 (WRONG_TYPE at small)`,
			`s.yaml:2:8: expected a whole number from 0 to 65535, found -1 (WRONG_TYPE at count)`}},
		{"text for a number with a fraction", "ratio: lots\n", []string{
			`s.yaml:1:8: expected a number, found the text "lots" (WRONG_TYPE at ratio)`}},
		{"yes is not true", "schedules: [{on: yes}]\n", []string{
			`s.yaml:1:18: expected true or false, found the text "yes" (WRONG_TYPE at schedules[0].on). Write true`}},
		{"number for a bool", "ready: 1\n", []string{
			`s.yaml:1:8: expected true or false, found 1 (WRONG_TYPE at ready)`}},
		{"bare duration", "wait: 30\n", []string{
			`s.yaml:1:7: expected a duration, found 30 (WRONG_TYPE at wait). Write a number with its unit, as in 90s or 10m`}},
		{"refused by its type", "span: soon\n", []string{
			`s.yaml:1:7: "soon" is not a number of days such as 3d (BAD_VALUE at span)`}},
		{"refused by a type that reads YAML", "raw: please refuse\n", []string{
			`s.yaml:1:6: this is refused (BAD_VALUE at raw)`}},
		{"inside a type of two shapes", "either:\n  limit: x\n  limt: 3\n", []string{
			`s.yaml:2:10: expected a whole number, found the text "x" (WRONG_TYPE at either.limit)`,
			`s.yaml:3:3: unknown key "limt" (UNKNOWN_KEY at either.limt). Did you mean "limit"?`}},
		{"empty item", "schedules:\n- cron: x\n-\n", []string{
			`s.yaml:3:3: expected a value, found nothing (WRONG_TYPE at schedules[1]). Remove the empty item`}},
		{"anchor, alias and merge key", "any: &a {b: 1}\nname: *a\n<<: *a\n", []string{
			`s.yaml:1:6: the anchor "&a" is not used here (ALIAS at any). Remove it, and write the value out where it is needed`,
			`s.yaml:2:7: the alias "*a" is not used here (ALIAS at name). Write the value out`,
			`s.yaml:3:1: the merge key "<<" is not used here (ALIAS). Write the keys out`}},
		{"tag", "name: !!str 5\nspan: !include other.yaml\n", []string{
			`s.yaml:1:7: the tag "!!str" is not used here (TAG at name). Remove it, and put text in quotes`,
			`s.yaml:2:7: the tag "!include" is not used here (TAG at span). Remove it, and put text in quotes`,
			`s.yaml:2:15: "other.yaml" is not a number of days such as 3d (BAD_VALUE at span)`}},
		{"key with a question mark", "? name\n: x\n", []string{
			"s.yaml:1:1: a key must be a single word or text (SYNTAX). Write it as `key: value`"}},
		{"two documents", "name: a\n---\nname: b\n", []string{
			`s.yaml:2:1: a second document starts here, and one file holds one document (MULTIPLE_DOCUMENTS). Remove the "---"`}},
		{"directive", "%YAML 1.2\n---\nname: a\n", []string{
			`s.yaml:1:1: directives such as %YAML are not used here (SYNTAX). Remove this line`}},
		{"not closed", "name: a\nany: [1, 2\n", []string{
			`s.yaml:2:6: sequence end token ']' not found (SYNTAX)`}},
		{"tab", "name: a\nany:\n\tb: 1\n", []string{
			"s.yaml:3:1: found character '\t' that cannot start any token (SYNTAX)"}},
		{"not UTF-8", "name: a\nany: \xff\n", []string{
			`s.yaml:2:6: the file is not UTF-8 text (SYNTAX)`}},
		{"control character", "name: a\x00\n", []string{
			`s.yaml:1:8: the control character U+0000 is not allowed (SYNTAX)`}},
		{"too deep", "any: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), []string{
			`s.yaml:1:55: the file is nested more than 50 levels deep (TOO_LARGE)`}},
		{"too deep in dashes", strings.Repeat("- ", 30000), []string{
			`s.yaml:1:101: the file is nested more than 50 levels deep (TOO_LARGE)`}},
		{"too many parts", strings.Repeat("a:\n", 200000), []string{
			`s.yaml:25001:1: the file has more than 50000 parts (TOO_LARGE)`}},
		{"key too long", strings.Repeat("k", 300) + ": 1\n", []string{
			`s.yaml:1:1: a key has more than 256 bytes (TOO_LARGE)`}},
		{"file too long", strings.Repeat("#", 1<<20+1), []string{
			`s.yaml: the file has 1048577 bytes, and at most 1048576 are read (TOO_LARGE)`}},
		{"all at once, by line", "\n# a comment\nzzzz: 1\nschedules:\n  - cron: [1]\n    on: maybe\nspan: x\nsmall: 1\nsmall: 2\nname: *n\n", []string{
			`s.yaml:3:1: unknown key "zzzz" (UNKNOWN_KEY at zzzz)`,
			`s.yaml:5:5: expected text, found a list (WRONG_TYPE at schedules[0].cron)`,
			`s.yaml:6:9: expected true or false, found the text "maybe" (WRONG_TYPE at schedules[0].on)`,
			`s.yaml:7:7: "x" is not a number of days such as 3d (BAD_VALUE at span)`,
			`s.yaml:9:1: the key "small" is given twice, first on line 8 (DUPLICATE_KEY at small). Keep one of the two`,
			`s.yaml:10:7: the alias "*n" is not used here (ALIAS at name). Write the value out`}},
		{"lines after texts that span lines", "name: \"a\n  b\"\nraw: plain\n  text\n\nany: |\n  one\n\n  two\nowner: >-\n  x\n\n  y\nzzzz: 1\n", []string{
			`s.yaml:14:1: unknown key "zzzz" (UNKNOWN_KEY at zzzz)`}},
		{"the same with carriage returns", "\ufeffname: \"a\r\n  b\"\r\nany: |\r\n  one\r\n\r\nzzzz: 1\r\n", []string{
			`s.yaml:6:1: unknown key "zzzz" (UNKNOWN_KEY at zzzz)`}},
		{"flow over lines", "{name: a,\n  'any': [1,\n {x: 2}],\n\n\"zzzz\": 1}\n", []string{
			`s.yaml:5:1: unknown key "zzzz" (UNKNOWN_KEY at zzzz)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(strictyaml.Decode("s.yaml", []byte(tt.yaml), new(root)))
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestValues(t *testing.T) {
	yes := true
	tests := []struct {
		name string
		yaml string
		set  func(*root)
	}{
		{"text as it is written", "name: 1.10\n", func(r *root) { r.Name = "1.10" }},
		{"text that looks like something else", "endpoints: {a: {params: {x: 007, y: yes, z: null, w: ''}}}\n", func(r *root) {
			r.Endpoints = map[string]endpoint{"a": {Params: map[string]string{"x": "007", "y": "yes", "z": "", "w": ""}}}
		}},
		{"inline fields", "owner: me\n", func(r *root) { r.Owner = "me" }},
		{"numbers", "small: -12\ncount: 0x10\nratio: 1e3\n", func(r *root) { r.Small, r.Count, r.Ratio = -12, 16, 1000 }},
		{"grouped digits", "count: 1_000\n", func(r *root) { r.Count = 1000 }},
		{"whole number for a fraction", "ratio: 3\n", func(r *root) { r.Ratio = 3 }},
		{"pointer", "ready: true\n", func(r *root) { r.Ready = &yes }},
		{"duration", "wait: 90s\n", func(r *root) { r.Wait = 90 * time.Second }},
		{"own types", "span: 3d\nline: x\nraw: abc\n", func(r *root) { r.Span, r.Line, r.Raw = 3, 2, "abc" }},
		{"two shapes, short", "either: x\n", func(r *root) { r.Either.Name = "x" }},
		{"two shapes, long", "either: {limit: 3}\n", func(r *root) { r.Either.Limit = 3 }},
		{"anything", "any: {a: [1, 2.5, x, '1', true, null, 18446744073709551615, 010], b: {}}\n", func(r *root) {
			r.Any = map[string]any{
				"a": []any{int64(1), 2.5, "x", "1", true, nil, uint64(18446744073709551615), "010"},
				"b": map[string]any{},
			}
		}},
		{"texts over lines", "name: >-\n  a\n  b\nraw: \"x\\ty\"\nany: |\n  c\n  d\n", func(r *root) {
			r.Name, r.Raw, r.Any = "a b", `"x\ty"`, "c\nd\n"
		}},
		{"folding with carriage returns", "name: \"a\r\n  b\"\r\n", func(r *root) { r.Name = "a b" }},
		{"key without a value in a map", "endpoints:\n  works:\n", func(r *root) {
			r.Endpoints = map[string]endpoint{"works": {}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, want root
			tt.set(&want)
			if err := strictyaml.Decode("s.yaml", []byte(tt.yaml), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestDefaultsStay(t *testing.T) {
	defaults := func() root {
		return root{
			Name: "d", Span: 1, Schedules: []schedule{{Cron: "x"}},
			Endpoints: map[string]endpoint{"a": {URL: "u", Pagination: &paging{Type: "page", Size: 10}}},
		}
	}
	shared := defaults()
	got := shared
	data := "name:\nspan: ~\nschedules: null\nendpoints:\n  a:\n    pagination: {size: 20}\n  b: {url: v}\n"
	if err := strictyaml.Decode("s.yaml", []byte(data), &got); err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Endpoints = map[string]endpoint{
		"a": {URL: "u", Pagination: &paging{Type: "page", Size: 20}},
		"b": {URL: "v"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(shared, defaults()) {
		t.Errorf("the shared defaults were written through: %+v", shared)
	}
}

func TestTargetMustBeAPointer(t *testing.T) {
	for _, into := range []any{nil, root{}, (*root)(nil), 5} {
		err := strictyaml.Decode("s.yaml", []byte("name: x"), into)
		if _, ok := errors.AsType[patra.Problems](err); err == nil || ok {
			t.Errorf("%T: got %v, want an error that does not blame the file", into, err)
		}
	}
}

func TestFieldsThatNoFileCanFill(t *testing.T) {
	var into struct {
		C chan int     `yaml:"c"`
		U *url.URL     `yaml:"u"`
		I fmt.Stringer `yaml:"i"`
		M map[int]int  `yaml:"m"`
	}
	got := lines(strictyaml.Decode("s.yaml", []byte("c: 1\ni: 2\nm: {1: 2}\n"), &into))
	want := []string{
		`s.yaml:1:4: a value of type chan int cannot be read from a file (BAD_VALUE at c)`,
		`s.yaml:2:4: a value of type fmt.Stringer cannot be read from a file (BAD_VALUE at i)`,
		`s.yaml:3:1: a value of type map[int]int cannot be read from a file (BAD_VALUE at m)`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
