package query_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"patra"
	"patra/internal/query"
)

func TestTheGrammarsAreConsistent(t *testing.T) {
	for _, g := range []*query.Grammar{europe(), crossref(), pubmed(), filters(), {}} {
		if err := g.Check().Err(); err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var back query.Grammar
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(g, &back) {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
}

func TestCheckFindsEverythingAtOnce(t *testing.T) {
	dash := "-"
	g := &query.Grammar{
		Fields: query.Fields{
			"9":    {Type: query.TypeText, Ops: []query.Op{query.OpExists}},
			"bad":  {Type: "STRING"},
			"mute": {Type: query.TypeText},
			"kw":   {Type: query.TypeKeyword, Ops: []query.Op{query.OpTerm, query.OpTerm, query.OpRange}, Match: []query.Match{query.MatchPhrase}},
			"day":  {Type: query.TypeDate, Ops: []query.Op{query.OpRange}, Precision: patra.UnitHour, Sentinel: query.Sentinel{To: "x"}, Negate: &query.Negate{Ops: []query.Op{query.OpTerm}}},
			"time": {Type: query.TypeDateTime, Ops: []query.Op{query.OpRange}, Open: []query.End{query.EndFrom, "MIDDLE"}},
			"fine": {Type: query.TypeDateTime, Ops: []query.Op{query.OpRange}, Precision: patra.UnitSecond, Upper: "MAYBE", Format: "ISO_DATE"},
			"num":  {Type: query.TypeNumber, Ops: []query.Op{query.OpRange}, Format: "2006", Negate: &query.Negate{}},
			"list": {Type: query.TypeKeyword, Ops: []query.Op{query.OpIn}, Integer: true},
		},
		Rules: []query.Rule{
			{Field: "dya", Op: query.OpRange},
			{Field: "day", Op: query.OpTerm},
			{Field: "day", Op: query.OpRange, Query: "{{from}}", Params: map[string]query.Strings{"a": {"x"}}},
			{Field: "day", Op: query.OpRange, Params: map[string]query.Strings{"one": {"{{from}}", "{{v}}"}, "non": {"{{x}}"}}},
			{Field: "time", Op: query.OpRange, Query: `[{{from}} TO {{to}}`},
			{Field: "fine", Op: query.OpRange, Query: `[{{from}} TO "]"]`},
			{Field: "num", Op: query.OpRange, Negated: true, Join: ",", Query: "[{{from}} {{to}}]"},
			{Field: "list", Op: query.OpIn, Params: map[string]query.Strings{"one": {"x"}, "q": {""}}},
		},
		Params:   map[string]query.Param{"one": {Name: "n"}, "two": {Name: "n", Join: ",", Repeat: true}, "q": {Transform: query.Strings{"ROT13"}}},
		Language: &query.Language{Param: "q", Group: "()", Escape: "MAGIC", All: "a OR b", Special: &dash},
	}
	var got []string
	for _, p := range g.Check() {
		if p.Text == "" || p.Code == "" {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Path)
	}
	for _, want := range []string{"fields.9", "fields.bad.type", "fields.mute.ops", "fields.kw.ops", "fields.kw.match", "fields.day.precision", "fields.day.sentinel.to", "fields.day.negate",
		"fields.time.open", "fields.time.precision", "fields.time.upper", "fields.fine.upper", "fields.fine.format", "fields.num.format", "fields.list.integer",
		"render[0].field", "render[1].op", "render[2]", "render[3].params.one", "render[3].params.one[1]", "render[3].params.non", "render[4].query", "render[5]", "render[6].negated", "render[6].join", "fields.num.ops",
		"render[7]", "render[7].params.one", "render[7].params.q", "params.two.name", "params.two.repeat", "params.q.name", "params.q.transform", "language.group", "language.escape", "language.all"} {
		if !slices.Contains(got, want) {
			t.Errorf("no problem at %s; only %v", want, got)
		}
	}
	if _, err := g.Render(query.All()); err == nil {
		t.Error("a broken grammar renders")
	}
}

// as gives a value the shape that a YAML node has.
func as(node any) func(any) error {
	return func(into any) error {
		v := reflect.ValueOf(into).Elem()
		if reflect.TypeOf(node) != v.Type() {
			return errors.New("another shape")
		}
		v.Set(reflect.ValueOf(node))
		return nil
	}
}

func TestShapesOfValues(t *testing.T) {
	var s query.Strings
	if err := s.UnmarshalYAML(as("x")); err != nil || !slices.Equal(s, query.Strings{"x"}) {
		t.Error(s, err)
	}
	if err := s.UnmarshalYAML(as([]string{"x", "y"})); err != nil || len(s) != 2 {
		t.Error(s, err)
	}
	if err := s.UnmarshalYAML(as(5)); err == nil {
		t.Error(s)
	}
	var n query.Negate
	if err := n.UnmarshalYAML(as(true)); err != nil || !n.All {
		t.Error(n, err)
	}
	if err := n.UnmarshalYAML(as([]query.Op{query.OpIn})); err != nil || len(n.Ops) != 1 {
		t.Error(n, err)
	}
	for _, text := range []string{`true`, `false`, `["IN"]`} {
		var n query.Negate
		err := json.Unmarshal([]byte(text), &n)
		back, _ := json.Marshal(n)
		if err != nil || string(back) != text {
			t.Errorf("%s became %s, %v", text, back, err)
		}
	}
}
