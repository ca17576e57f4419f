package query

import (
	"regexp"
	"strings"
)

// Format writes the text form. Parse with the same fields reads it back as the same question. The fields decide which
// marks can be left out; nil leaves out what text fields need not.
func Format(n Node, fields Fields) string {
	var b strings.Builder
	writer{&b, fields}.node(n, 0)
	return b.String()
}

type writer struct {
	*strings.Builder
	fields Fields
}

// How tightly the place of a node binds: what is looser inside needs brackets.
const (
	looseOr = iota
	looseAnd
	tight
)

func (w writer) node(n Node, place int) {
	switch n.Op {
	case OpConst:
		if n.is(false) {
			w.WriteString("NOT ")
		}
		w.WriteByte('*')
	case OpNot:
		w.WriteString("NOT ")
		for _, arg := range n.Args {
			if arg.Op == OpNot || arg.is(false) { // NOT NOT a would read as a, which is the same question spelt otherwise
				w.group(arg)
			} else {
				w.node(arg, tight)
			}
		}
	case OpAnd, OpOr:
		w.list(n, place)
	default:
		w.clause(n)
	}
}

func (w writer) group(n Node) {
	w.WriteByte('(')
	w.node(n, looseOr)
	w.WriteByte(')')
}

func (w writer) list(n Node, place int) {
	inner, word := looseAnd, " OR "
	if n.Op == OpAnd {
		inner, word = tight, " AND "
	}
	if place >= inner {
		w.group(n)
		return
	}
	for i, arg := range n.Args {
		if i > 0 {
			w.WriteString(word)
		}
		w.node(arg, inner)
	}
}

func (w writer) clause(n Node) {
	f := w.fields[n.Name()]
	if n.Op != OpTerm || n.Field != DefaultField {
		w.WriteString(n.Name() + ":")
	}
	switch n.Op {
	case OpTerm:
		w.term(n, f)
	case OpToken:
		if f.Type != TypeToken {
			w.WriteByte('#')
		}
		w.WriteString(written(n.Text, false))
	case OpExists:
		w.WriteByte('*')
	case OpIn:
		for i, v := range n.Values {
			w.WriteString([]string{"[", ", "}[min(i, 1)] + written(v, false))
		}
		w.WriteByte(']')
	case OpRange:
		w.end(n, n.From, "[{", "")
		w.WriteString(" TO ")
		w.end(n, n.To, "", "]}")
	}
}

func (w writer) term(n Node, f Field) {
	text := written(n.Text, n.Match == MatchPhrase)
	quoted := strings.HasPrefix(text, `"`)
	mark := map[Match]string{MatchExact: "=", MatchAny: "~"}[n.Match]
	if n.Match == plainMatch(f.Type, quoted) {
		mark = ""
	}
	if n.CaseSensitive && !f.CaseSensitive {
		mark += "^"
	}
	w.WriteString(mark + text)
	if n.Match == MatchPrefix {
		w.WriteByte('*')
	}
}

func (w writer) end(n Node, b *Bound, opening, closing string) {
	if b == nil {
		w.WriteString(pick(opening, Closed) + "*" + pick(closing, Closed))
		return
	}
	var text string
	switch n.ranges() {
	case RangeNumber:
		text = numberText(*b.Number)
	case RangeDate:
		text = b.Value.Time().Format("2006-01-02")
	default:
		text = b.Value.String()
	}
	w.WriteString(pick(opening, b.Kind) + text + pick(closing, b.Kind))
}

// pick is the bracket of a kind from a pair, closed first; no pair, no bracket.
func pick(pair string, k BoundKind) string {
	switch {
	case pair == "":
		return ""
	case k == Closed:
		return pair[:1]
	}
	return pair[1:]
}

var plainWord = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_./'-]*$`)

// written is a value as a word where that is safe and wanted, or else in quotes.
func written(v string, quote bool) string {
	if !quote && plainWord.MatchString(v) && !keywords[v] {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}
