package strictyaml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"patra"
	"patra/internal/strictyaml"
)

const sample = `# a source
name: openalex
endpoints:
  works:
    url: "https://example.org"
    params: {per-page: 200,
      "a.b": [x,
        y]}
    pagination:
schedules:
  - cron: "0 3 * * *"
    on: true
  -
    cron:
      folded
      text
`

func TestAt(t *testing.T) {
	doc, err := strictyaml.Parse("s.yaml", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path      string
		line, col int
		has       bool
	}{
		{"", 2, 1, true},
		{"name", 2, 7, true},
		{"endpoints", 3, 1, true},
		{"endpoints.works", 4, 3, true},
		{"endpoints.works.url", 5, 10, true},
		{"endpoints.works.params.per-page", 6, 24, true},
		{`endpoints.works.params["a.b"]`, 7, 7, true},
		{`endpoints.works.params["a.b"][1]`, 8, 9, true},
		{`endpoints.works.params["a.b"][2]`, 7, 7, false},
		{"endpoints.works.pagination", 9, 5, false},
		{"endpoints.works.pagination.type", 9, 5, false},
		{"endpoints.authors.url", 3, 1, false},
		{"schedules[0].cron", 11, 11, true},
		{"schedules[0].on", 12, 9, true},
		{"schedules[1]", 14, 5, true},
		{"schedules[1].cron", 15, 7, true},
		{"schedules[9].cron", 10, 1, false},
		{"name.first", 2, 7, false},
		{"name[0]", 2, 7, false},
		{"missing", 2, 1, false},
		{"[x", 2, 1, false},
		{`["`, 2, 1, false},
		{"..", 2, 1, false},
	}
	for _, tt := range tests {
		line, col := doc.At(tt.path)
		if line != tt.line || col != tt.col || doc.Has(tt.path) != tt.has {
			t.Errorf("%q: got %d:%d %v, want %d:%d %v", tt.path, line, col, doc.Has(tt.path), tt.line, tt.col, tt.has)
		}
	}
	got := doc.Problem("schedules[0].cron", "BAD_CRON", "this never fires", "use five fields").String()
	want := "s.yaml:11:11: this never fires (BAD_CRON at schedules[0].cron). Use five fields"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAtOfAnEmptyDocument(t *testing.T) {
	for _, data := range []string{"", "# nothing\n", "---\n", "~\n"} {
		doc, err := strictyaml.Parse("s.yaml", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if line, col := doc.At("a.b"); line != 1 || col != 1 || doc.Has("") {
			t.Errorf("%q: got %d:%d, has %v", data, line, col, doc.Has(""))
		}
	}
}

func TestJoinIsWhatAtReads(t *testing.T) {
	for _, key := range []string{"a", "a.b", "a[0]", `a"b`, `a\b`, "", "a b", "[", "é", "0", "\t"} {
		data := "top:\n  before: 1\n  " + strictyaml.Join("", key)
		if key != "a" && key != "é" && key != "0" && key != "a b" {
			data = "top:\n  before: 1\n  " + strings.Trim(strictyaml.Join("", key), "[]")
		}
		doc, err := strictyaml.Parse("s.yaml", []byte(data+": {x: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		path := strictyaml.Join(strictyaml.Join("top", key), "x")
		if line, _ := doc.At(path); line != 3 || !doc.Has(path) {
			t.Errorf("%q: %s is said to be on line %d", key, path, line)
		}
	}
}

func TestRewrite(t *testing.T) {
	data := "name: $a\nspan: $b\nsmall: $c\ncount: $d\nwait: $gone\nschedules:\n- cron: '$a'\n$a: 1\n"
	doc, err := strictyaml.Parse("s.yaml", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"$a": "x: [", "$b": "hunter2", "$c": "7", "$d": "hunter2"}
	var seen []string
	doc.Rewrite(func(path, text string) (string, bool) {
		seen = append(seen, path)
		if v, ok := values[text]; ok {
			return v, true
		}
		return text, text != "$gone"
	})
	if want := []string{"name", "span", "small", "count", "wait", "schedules[0].cron", "$a"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	got := root{Wait: 5}
	problems := lines(doc.Decode(&got))
	want := []string{
		`s.yaml:2:7: "***" is not a number of days such as 3d (BAD_VALUE at span)`,
		`s.yaml:4:8: expected a whole number, found a value that is not shown (WRONG_TYPE at count)`,
		`s.yaml:8:1: unknown key "$a" (UNKNOWN_KEY at $a)`,
	}
	if !reflect.DeepEqual(problems, want) {
		t.Errorf("got  %q\nwant %q", problems, want)
	}
	if got.Name != "x: [" || got.Small != 7 || got.Wait != 5 || got.Schedules[0].Cron != "x: [" {
		t.Errorf("got %+v", got)
	}
}

func TestPathsAndSet(t *testing.T) {
	got := strictyaml.Paths(new(root))
	want := []string{
		"owner", "name", "span", "wait", "either", "line", "raw", "small", "count", "ratio", "ready",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if strictyaml.Paths(nil) != nil || strictyaml.Paths(3) != nil {
		t.Error("what is not a struct has no paths")
	}

	var r struct {
		Root root `yaml:"root"`
		Next *struct {
			Size int `yaml:"size"`
		} `yaml:"next"`
	}
	if err := errors.Join(strictyaml.Set(&r, "root.name", "007"), strictyaml.Set(&r, "next.size", "3")); err != nil {
		t.Fatal(err)
	}
	if r.Root.Name != "007" || r.Next.Size != 3 {
		t.Errorf("got %+v", r)
	}
	err := strictyaml.Set(&r, "root.small", "many")
	problems, _ := errors.AsType[patra.Problems](err)
	if len(problems) != 1 || problems[0].Path != "root.small" || problems[0].Line != 0 || problems[0].File != "" {
		t.Errorf("got %v", err)
	}
}
