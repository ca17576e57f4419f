package query

import (
	"encoding/json"

	"patra"
)

// Op is the kind of a node.
type Op string

// The kinds of node. AND, OR, NOT and CONST combine; the others are atoms.
const (
	OpConst  Op = "CONST"
	OpAnd    Op = "AND"
	OpOr     Op = "OR"
	OpNot    Op = "NOT"
	OpTerm   Op = "TERM"   // text in a field
	OpIn     Op = "IN"     // one of several values
	OpRange  Op = "RANGE"  // between two bounds
	OpExists Op = "EXISTS" // has a value at all
	OpToken  Op = "TOKEN"  // an entry of a controlled vocabulary
)

// Match says how a TERM is compared.
type Match string

// The ways to compare a TERM.
const (
	MatchAny    Match = "ANY"    // at least one of the words separated by blanks
	MatchPhrase Match = "PHRASE" // the words next to each other, in this order
	MatchExact  Match = "EXACT"  // the whole value
	MatchPrefix Match = "PREFIX" // the words in this order, the last of which may go on
)

// Node is one node of a query. Which fields count depends on Op; Validate says so.
type Node struct {
	Op            Op        `json:"op"`
	Value         *bool     `json:"value,omitempty"` // CONST
	Args          []Node    `json:"args,omitempty"`  // AND, OR, NOT (exactly one)
	Field         string    `json:"field,omitempty"` // TERM, IN, RANGE, EXISTS
	Kind          string    `json:"kind,omitempty"`  // TOKEN: the vocabulary, which is also the field's name
	Text          string    `json:"text,omitempty"`  // TERM, TOKEN
	Match         Match     `json:"match,omitempty"` // TERM
	CaseSensitive bool      `json:"caseSensitive,omitempty"`
	Values        []string  `json:"values,omitempty"` // IN
	Range         RangeType `json:"range,omitempty"`  // RANGE
	From          *Bound    `json:"from,omitempty"`
	To            *Bound    `json:"to,omitempty"`
}

// All matches everything: a harvest without a query.
func All() Node { return Const(true) }

// Const matches everything or nothing.
func Const(v bool) Node { return Node{Op: OpConst, Value: &v} }

// And matches what all of args match.
func And(args ...Node) Node { return Node{Op: OpAnd, Args: args} }

// Or matches what at least one of args matches.
func Or(args ...Node) Node { return Node{Op: OpOr, Args: args} }

// Not matches what arg does not.
func Not(arg Node) Node { return Node{Op: OpNot, Args: []Node{arg}} }

// Term matches text in a field, whatever its case.
func Term(field, text string, m Match) Node {
	return Node{Op: OpTerm, Field: field, Text: text, Match: m}
}

// In matches one of several whole values.
func In(field string, values ...string) Node { return Node{Op: OpIn, Field: field, Values: values} }

// Exists matches what has a value in the field.
func Exists(field string) Node { return Node{Op: OpExists, Field: field} }

// Token matches an entry of a vocabulary.
func Token(kind, value string) Node { return Node{Op: OpToken, Kind: kind, Text: value} }

// Range matches what lies between two bounds, either of which may be absent.
func Range(field string, t RangeType, from, to *Bound) Node {
	return Node{Op: OpRange, Field: field, Range: t, From: from, To: to}
}

// Bind restricts a query to the records whose field lies in the window, closed at from and open at to.
func Bind(proto Node, field string, w patra.Window) Node {
	return restricted(proto, Range(field, "", &Bound{Value: w.From, Kind: Closed}, &Bound{Value: w.To, Kind: Open}))
}

// BindRange restricts a query to the records whose field is a whole number of the range, closed at from and open at to.
// A number that a double cannot hold digit for digit is refused when the query is rendered.
func BindRange(proto Node, field string, r patra.IDRange) Node {
	return restricted(proto, Range(field, RangeNumber, AtNumber(float64(r.From), Closed), AtNumber(float64(r.To), Open)))
}

// ExcludeRange is a query for all ids but those of a range.
func ExcludeRange(proto Node, field string, r patra.IDRange) Node {
	return And(proto, Not(Range(field, RangeNumber, AtNumber(float64(r.From), Closed), AtNumber(float64(r.To), Open))))
}

func restricted(proto, within Node) Node {
	if Normalise(proto).is(true) {
		return within
	}
	return And(proto, within)
}

// JSON is the stored form.
func (n Node) JSON() json.RawMessage {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // our own type always marshals
	}
	return b
}

// Hash identifies the question, not its spelling: it is taken after normalising.
func (n Node) Hash() string { return patra.Hash(Normalise(n)) }

// String is the text form; see Format.
func (n Node) String() string { return Format(n, nil) }

// Name is the field that an atom looks at.
func (n Node) Name() string {
	if n.Op == OpToken {
		return n.Kind
	}
	return n.Field
}

// is reports whether n is the constant v.
func (n Node) is(v bool) bool { return n.Op == OpConst && n.Value != nil && *n.Value == v }

// IsAll reports whether a question asks for everything.
func (n Node) IsAll() bool { return Normalise(n).is(true) }

// atom reports whether n looks at a field.
func (n Node) atom() bool {
	switch n.Op {
	case OpTerm, OpIn, OpRange, OpExists, OpToken:
		return true
	}
	return false
}
