package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patra"
)

// CodeBadQuery is the code of a tree that no text could have made.
const CodeBadQuery = "BAD_QUERY"

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// Validate lists everything about the tree that is wrong whoever is asked. What one provider can answer is another
// question; see Grammar.Render.
func (n Node) Validate() error { return n.validate(0) }

// boundRoom is what Bind and BindRange add together, in nodes; in levels it is less. A query at the limit must not become
// invalid by its window.
const boundRoom = 4

func (n Node) validate(room int) error {
	v := validator{room: room}
	v.node(n, "$", 0)
	if v.count > maxNodes+room {
		v.bad("$", "the query has more than %d nodes", maxNodes)
	}
	return v.found.Err()
}

type validator struct {
	found patra.Problems
	count int
	room  int
}

func (v *validator) bad(path, format string, args ...any) {
	if len(v.found) < 100 { // nobody reads more, and a hostile tree has many
		v.found = append(v.found, patra.Problem{Code: CodeBadQuery, Path: path, Text: fmt.Sprintf(format, args...)})
	}
}

func (v *validator) node(n Node, path string, depth int) {
	if v.count++; v.count > maxNodes+v.room {
		return
	}
	if depth > maxDepth+v.room {
		v.bad(path, "the query is nested deeper than %d levels", maxDepth)
		return
	}
	v.extras(n, path)
	switch n.Op {
	case OpConst:
		if n.Value == nil {
			v.bad(path, "CONST has no value")
		}
	case OpAnd, OpOr, OpNot:
		if len(n.Args) == 0 || n.Op == OpNot && len(n.Args) != 1 {
			v.bad(path, "%s has %d arguments", n.Op, len(n.Args))
		}
		for i, arg := range n.Args {
			v.node(arg, fmt.Sprintf("%s.args[%d]", path, i), depth+1)
		}
	case OpTerm, OpToken:
		v.text(n.Text, path)
		if n.Op == OpTerm && !slices.Contains(matches, n.Match) {
			v.bad(path, "match %q is not one of %v", n.Match, matches)
		}
	case OpIn:
		if len(n.Values) == 0 || len(n.Values) > maxValues {
			v.bad(path, "IN has %d values, not 1 to %d", len(n.Values), maxValues)
		}
		for _, text := range n.Values[:min(len(n.Values), maxValues)] {
			v.text(text, path)
		}
	case OpRange:
		v.ends(n, path)
	case OpExists:
	default:
		v.bad(path, "op %q is not known", n.Op)
	}
	if n.atom() && !nameForm.MatchString(n.Name()) {
		v.bad(path, "%q is not the name of a field", n.Name())
	}
}

var matches = []Match{MatchAny, MatchPhrase, MatchExact, MatchPrefix}

// extras refuses what the op does not use: a value that nobody reads is a question that nobody asks.
func (v *validator) extras(n Node, path string) {
	for _, part := range []struct {
		name string
		set  bool
		ops  []Op
	}{
		{"value", n.Value != nil, []Op{OpConst}},
		{"args", len(n.Args) > 0, []Op{OpAnd, OpOr, OpNot}},
		{"field", n.Field != "", []Op{OpTerm, OpIn, OpRange, OpExists}},
		{"kind", n.Kind != "", []Op{OpToken}},
		{"text", n.Text != "", []Op{OpTerm, OpToken}},
		{"match", n.Match != "", []Op{OpTerm}},
		{"caseSensitive", n.CaseSensitive, []Op{OpTerm}},
		{"values", len(n.Values) > 0, []Op{OpIn}},
		{"range", n.Range != "", []Op{OpRange}},
		{"from", n.From != nil, []Op{OpRange}},
		{"to", n.To != nil, []Op{OpRange}},
	} {
		if part.set && !slices.Contains(part.ops, n.Op) {
			v.bad(path, "%s has no use for %s", n.Op, part.name)
		}
	}
}

// text refuses what cannot be sent as a value anywhere: nothing, too much, or bytes that end lines and headers.
func (v *validator) text(text, path string) {
	switch {
	case strings.TrimSpace(text) == "":
		v.bad(path, "the value is empty")
	case len(text) > maxText:
		v.bad(path, "the value has %d bytes, more than %d", len(text), maxText)
	case !utf8.ValidString(text):
		v.bad(path, "the value is not UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		v.bad(path, "the value holds a control character")
	}
}

func (v *validator) ends(n Node, path string) {
	if !slices.Contains([]RangeType{RangeDate, RangeDateTime, RangeNumber}, n.ranges()) {
		v.bad(path, "range %q is not DATE, DATETIME or NUMBER", n.Range)
	}
	if n.From == nil && n.To == nil {
		v.bad(path, "the range has no end; ask EXISTS instead")
	}
	for _, b := range []*Bound{n.From, n.To} {
		if b == nil {
			continue
		}
		if b.Kind != Open && b.Kind != Closed {
			v.bad(path, "kind %q is not OPEN or CLOSED", b.Kind)
		}
		switch {
		case (n.ranges() == RangeNumber) != (b.Number != nil):
			v.bad(path, "a bound of a %s range is of another kind", n.ranges())
		case b.Number != nil:
			if _, err := parseNumber(numberText(*b.Number)); err != nil {
				v.bad(path, "%v", err)
			}
		case !plausible(b.Value):
			v.bad(path, "a bound lies outside the years 1 to 9999")
		case n.ranges() == RangeDate && b.Value%patra.Day != 0:
			v.bad(path, "a bound of a DATE range is not a day")
		}
	}
}

// plausible reports whether the moment has a four-digit year, as every date format assumes.
func plausible(i patra.Instant) bool {
	return i >= patra.Date(1, 1, 1) && i < patra.Date(10000, 1, 1)
}
