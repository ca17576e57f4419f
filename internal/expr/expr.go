// Package expr is the query side of a plan: what is asked, apart from when.
//
// A query is a small tree. The prototype of a plan never holds a window; Bind adds the window of one slice and
// gives the tree that this slice answers for. Both are hashed after normalising, so that two spellings of the same
// question share one cursor.
//
// The package is pure. It knows no provider, sends nothing and reads no clock.
package expr

import (
	"encoding/json"

	"patra"
)

// Op is the kind of a node.
type Op string

// The kinds of node.
const (
	OpConst Op = "CONST"
	OpAnd   Op = "AND"
	OpRange Op = "RANGE"
)

// Node is one node of a query.
type Node struct {
	Op    Op     `json:"op"`
	Value *bool  `json:"value,omitempty"` // CONST
	Args  []Node `json:"args,omitempty"`  // AND
	Field string `json:"field,omitempty"` // RANGE
	From  *Bound `json:"from,omitempty"`
	To    *Bound `json:"to,omitempty"`
}

// Bound is one end of a range.
type Bound struct {
	Value patra.Instant `json:"value"`
	Kind  string        `json:"kind"` // CLOSED includes the value, OPEN does not
}

// All matches everything: a harvest without a query.
func All() Node {
	yes := true
	return Node{Op: OpConst, Value: &yes}
}

// Bind restricts a query to the records whose field lies in the window, closed at from and open at to.
func Bind(proto Node, field string, w patra.Window) Node {
	within := Node{Op: OpRange, Field: field, From: &Bound{w.From, "CLOSED"}, To: &Bound{w.To, "OPEN"}}
	if proto.Op == OpConst && *proto.Value {
		return within
	}
	return Node{Op: OpAnd, Args: []Node{proto, within}}
}

// JSON is the stored form.
func (n Node) JSON() json.RawMessage {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // our own type always marshals
	}
	return b
}

// Hash identifies the query.
func (n Node) Hash() string { return patra.Hash(n) }
